"""A team: what several people and several replicas need that one person at one machine does not."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.errors import InvalidSettings
from engine.messages import N_
from engine.plugins import Inside, Plugin
from plugins.team.settings import TeamSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from engine.engine import Engine
    from engine.settings import Settings
    from plugins.team.metrics import Metrics


def _check(settings: Settings) -> None:
    if settings.of(TeamSettings).metrics and find_spec("prometheus_client") is None:
        why = N_("the package prometheus-client is not installed; it comes with the extra `team`")
        raise InvalidSettings.unusable(name="WORKBENCH_METRICS", why=why)


def _open(engine: Engine, inside: Inside) -> Metrics | None:
    if not engine.settings.of(TeamSettings).metrics:
        return None
    from plugins.team.metrics import Metrics

    return Metrics.of(engine, inside)


def _routes(api: FastAPI, get_engine: Callable[[], Engine]) -> None:
    from plugins.team.routes import add_metrics

    add_metrics(api, get_engine)


# No ``modules``: each of its parts needs other packages, and is checked where the settings ask for it.
PLUGIN = Plugin(
    name="team",
    title=N_("Team"),
    settings=TeamSettings,
    check=_check,
    open=_open,
    routes=_routes,
    roles={"GET /metrics": "viewer"},
)
