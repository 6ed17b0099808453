"""What-if beside the answer of a run: it follows the sidebar's sliders and starts what the reader asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace

import streamlit as st

from components.ask.pinned import pin_button, pinned_nodes
from components.ask.slider_marks import MARKED, StableRange
from components.ask.smallest_changes import setting_of, smallest_change_nodes
from components.ask.what_if import what_if_card, what_if_waiting
from components.ask.what_if_text import BROKEN
from components.common.i18n import Words
from components.common.markup import Node
from components.common.panel import want_settings
from engine.engine import Engine
from engine.evaluation.known_right import known_right
from engine.model.config import PARAMETERS, SETTINGS, RoleModels, RunConfig, declared, for_workflow, settings_of
from engine.model.values import PassageId, RunId, RunRecord
from engine.replay import WhatIf
from engine.replay.decision_boundaries import Sweep
from engine.replay.grid import at_once
from engine.replay.table import RunTable, run_table
from engine.samples.demos import is_demo
from pages.parts.ask.pinned_runs import effect_on_pinned, pin, pinned_ids
from pages.parts.ask.what_if_map import map_panel
from pages.parts.common.presses import attempt
from pages.parts.common.remembered import remembered


def what_if_panel(engine: Engine, record: RunRecord, found: WhatIf | None, words: Words) -> PassageId | None:
    """Draw what-if for a run, None while it is running; returns a passage that the reader wants to see."""
    if found is None:
        what_if_waiting(words, key="what_if")
        return None
    pressed = what_if_card(
        found,
        record,
        words,
        key="what_if",
        corner=() if is_demo(record.id) else (pin_button(record.id in pinned_ids(engine), words),),
        below=_below(engine, record, found, words),
    )
    return act_on(engine, record, found, pressed)


def map_of(record: RunRecord, found: WhatIf, words: Words) -> None:
    """Draw the decision map of a run that came to its end; nothing where no record says what would be found."""
    if record.outcome not in BROKEN and record.rounds and found.gap != "retrieval":
        map_panel(replayed(record), table_of(record), found.config, words)


def act_on(engine: Engine, record: RunRecord, found: WhatIf, pressed: str | None) -> PassageId | None:
    """Do what was pressed in the card; returns a passage that the reader wants to see."""
    match pressed:
        case "back":
            want_settings(record.config)
            st.rerun()
        case "run":
            _begin(lambda: _again(engine, record, found.config))
        case "fork":
            _begin(lambda: engine.fork(record, found.config))
        case "pin" | "unpin":
            attempt("ask", lambda: pin(engine, record.id, pinned=pressed == "pin"))
            st.rerun()
        case str() if pressed.startswith("run:"):
            st.session_state["run"] = pressed.removeprefix("run:")
            st.rerun()
        case str() if (wanted := setting_of(pressed)) is not None:
            name, value = wanted
            want_settings({name: float(value) if name in PARAMETERS else value})
            st.rerun()
        case str() if pressed.startswith("open:"):
            return PassageId(pressed.removeprefix("open:"))
    return None


def _again(engine: Engine, record: RunRecord, config: RunConfig) -> RunId:
    """The question under these settings; a branch keeps what was changed by hand where it branched off."""
    if record.fork is not None:
        return engine.fork(record, config)
    return engine.start(record.question, config, attachments=record.attachments, trial=True)


def tried(chosen: RunConfig, run: RunConfig) -> RunConfig:
    """The panel's settings; what the panel has no control for stays as the run had it.

    Where the panel stands at another workflow, its numbers are those that they would be at the run's.
    """
    options = chosen.options if chosen.workflow == run.workflow else run.options
    moved = for_workflow(chosen, run.workflow)
    shown = {*settings_of(run.workflow)} & {*settings_of(chosen.workflow)}
    hidden = {name: getattr(run, name) for name in SETTINGS if name not in shown}
    roles = declared(run.workflow).roles
    models = {}
    for item in fields(RoleModels):
        own, wanted = getattr(run.models, item.name), getattr(chosen.models, item.name)
        models[item.name] = replace(wanted, seed=own.seed) if item.name in roles else own
        if item.name in roles and wanted.built_in and own.built_in and wanted.fit == own.fit:
            models[item.name] = own
    return replace(moved, milvus_address=run.milvus_address, options=options, models=RoleModels(**models), **hidden)


def replayed(record: RunRecord) -> RunRecord:
    """The record without a branch that changed settings alone: such a run could as well have begun by itself."""
    fork = record.fork
    settings_alone = fork is not None and fork.round == 0 and not fork.query and not fork.verdicts
    return replace(record, fork=None) if settings_alone else record


def table_of(record: RunRecord) -> RunTable:
    """The evidence of a finished run as numbers, made once for all its sliders."""
    return remembered("table", (record.id, record.last_seq), lambda: run_table(replayed(record)))


def _sweep(record: RunRecord, config: RunConfig) -> Sweep | None:
    """Where single settings lead, once for all that a page says of it; None where it cannot be said at once."""
    table = table_of(record)
    if not at_once(table, config):
        return None
    return remembered("sweep", (record.id, record.last_seq, config), lambda: Sweep(table, config))


def marks_of(record: RunRecord, chosen: RunConfig) -> Mapping[str, StableRange]:
    """By slider the values that decide the run alike, under the panel's other settings."""
    sweep = _sweep(record, tried(chosen, record.config))
    # Replayed one setting at a time, it would make every slider wait.
    ranges = {} if sweep is None else sweep.stable_ranges(MARKED)
    return {name: StableRange(low, high) for name, (low, high) in ranges.items()}


def _below(engine: Engine, record: RunRecord, found: WhatIf, words: Words) -> list[Node]:
    """The smallest changes, and the pinned runs that would end differently."""
    nodes: list[Node] = []
    sweep = _sweep(record, found.config) if found.path_known else None
    if sweep is not None:
        answerable = known_right(engine, record)[1]
        changes = sweep.smallest_changes(answerable=answerable)
        nodes += smallest_change_nodes(changes, words, answerable=answerable)
    effect = effect_on_pinned(engine, record.config, found.config, name="card")
    return nodes + (pinned_nodes(effect, words) if effect is not None else [])


def _begin(begin: Callable[[], RunId]) -> None:
    """Start a run and open it; what kept it from starting is said beside the question."""
    attempt("ask", begin, into="run")
    st.rerun()
