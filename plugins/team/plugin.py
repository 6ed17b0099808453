"""A team: what several people and several replicas need that one person at one machine does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.errors import InvalidSettings
from engine.messages import N_
from engine.model.later import later
from engine.people import current_user, signing_in
from engine.plugins import Inside, Part, Plugin

# Imported with the declaration: its codes lead to its messages.
from plugins.team import errors  # noqa: F401
from plugins.team.settings import TeamSettings

if TYPE_CHECKING:
    from components.common.i18n import Words
    from engine.database import Database
    from engine.engine import Engine
    from engine.settings import Settings


def _check(settings: Settings) -> None:
    if settings.of(TeamSettings).metrics and find_spec("prometheus_client") is None:
        why = N_("the package prometheus-client is not installed; it comes with the extra `team`")
        raise InvalidSettings.unusable(name="WORKBENCH_METRICS", why=why)


def _database(settings: Settings) -> Database:
    from plugins.team.postgres import PostgresDatabase

    return PostgresDatabase(settings.database_url.get_secret_value())


def _open(engine: Engine, inside: Inside) -> Sequence[Part]:
    from plugins.team.team import Team

    parts: list[Part] = [Team(engine, inside)]
    if engine.databases.runs.shared:
        from plugins.team.batches import TakenBatches
        from plugins.team.replicas import Replicas

        parts.append(Replicas(engine))
        if not engine.worker:
            parts.append(TakenBatches(engine))
    if engine.settings.of(TeamSettings).metrics:
        from plugins.team.metrics import Metrics

        parts.append(Metrics(engine, inside))
    return parts


def _people(engine: Engine, words: Words) -> tuple[str, str, Callable[[], None]] | None:
    if not signing_in() or not current_user().may("admin"):
        return None
    return "people", words(N_("People")), partial(later("plugins.team.people_panel:people_part"), engine, words)


# No ``modules``: each of its parts needs other packages, and is checked where the settings ask for it.
PLUGIN = Plugin(
    name="team",
    title=N_("Team"),
    settings=TeamSettings,
    check=_check,
    database=_database,
    open=_open,
    routes=later("plugins.team.routes:add_team"),
    sign_in=later("plugins.team.sign_in:set_up_sign_in"),
    commands=later("plugins.team.move_data:add_move_data"),
    panels={
        "sign_in": later("plugins.team.sign_in:sign_in_page"),
        "person": later("plugins.team.sign_in:signed_in_line"),
        "system": _people,
    },
)
