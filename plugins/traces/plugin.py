"""Traces in: what other programs traced becomes runs that are debugged, tuned and judged here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from engine.messages import N_
from engine.plugins import Inside, Plugin
from plugins.traces.errors import TOO_LARGE

if TYPE_CHECKING:
    from fastapi import FastAPI

    from components.common.i18n import Words
    from engine.engine import Engine
    from engine.model.values import RunRecord
    from pages.parts.system.programs import Way
    from plugins.traces.taking import Traces


def _open(engine: Engine, inside: Inside) -> Traces:
    from plugins.traces.taking import Traces

    return Traces(engine, inside)


def _routes(api: FastAPI, get_engine: Callable[[], Engine]) -> None:
    from plugins.traces.routes import add_traces

    add_traces(api, get_engine)


def _commands(commands: Any) -> None:
    from plugins.traces.import_traces import add_import_traces

    add_import_traces(commands)


def _card(_: Engine, words: Words) -> Way:
    from plugins.traces.card import traces_in

    return traces_in(words)


def _import_button(engine: Engine, words: Words) -> None:
    from plugins.traces.dialog import import_button

    import_button(engine, words)


def _judge_rest(engine: Engine, words: Words, records: Sequence[RunRecord], *, key: str, set_name: str) -> None:
    from plugins.traces.judge_rest import judge_rest

    judge_rest(engine, words, records, key=key, set_name=set_name)


PLUGIN = Plugin(
    name="traces",
    title=N_("Traces of other programs"),
    open=_open,
    routes=_routes,
    uploads=("/api/traces",),
    commands=_commands,
    bad_use=(TOO_LARGE.code,),
    panels={"programs": _card, "runs": _import_button, "imported_runs": _judge_rest},
)
