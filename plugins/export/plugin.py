"""Settings as code: a LangGraph project that runs without the workbench and takes the same decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.messages import N_
from engine.plugins import Plugin

if TYPE_CHECKING:
    from fastapi import FastAPI

    from components.common.i18n import Words
    from engine.engine import Engine


def _routes(api: FastAPI, get_engine: Callable[[], Engine]) -> None:
    from plugins.export.routes import add_code

    add_code(api, get_engine)


def _commands(commands: Any) -> None:
    from plugins.export.command import add_export_code

    add_export_code(commands)


def _take_along(engine: Engine, words: Words) -> Any:
    from plugins.export.panel import take_along

    return take_along(engine, words)


PLUGIN = Plugin(
    name="export",
    title=N_("Export as code"),
    routes=_routes,
    commands=_commands,
    panels={"take_along": _take_along},
)
