"""What if, at the foot of the sidebar: how the run would have ended under the settings above, and at what price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.ask.admitted import admits_count
from components.ask.what_if_text import BROKEN, value_text
from components.common.i18n import Words
from components.common.markup import button, draw, node
from components.common.outcomes import end_mark, end_text
from components.common.panel import want_settings
from components.common.run_settings import differing, option_names, setting_of_config
from engine.engine import Engine
from engine.flow import workflow
from engine.model.config import SETTINGS, RoleModels, RunConfig, for_workflow, number_of, settings_of
from engine.model.cost import Cost
from engine.model.values import RunId, RunRecord
from engine.replay import WhatIf
from engine.replay.decision_boundaries import Sweep
from engine.replay.grid import at_once
from engine.replay.settings import Column
from engine.replay.table import RunTable, run_table
from pages.parts.common.actions import run_action
from pages.parts.common.fits import fits_for
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session

MARKED: tuple[Column, ...] = (
    *("top_k", "similarity_threshold", "min_confidence", "grade_pass_threshold"),
    *("min_relevant", "max_rewrites"),
)
"""The settings whose value a replay can tell something of, in the order of the panel; probing deeper is never known."""


@dataclass(frozen=True, slots=True)
class StableRange:
    """Values of one setting, both ends included, that give the same what-if as the one it is set to."""

    low: float
    high: float


def panel(engine: Engine, record: RunRecord, chosen: RunConfig, words: Words) -> WhatIf | None:
    """Draw the foot of an open run and do what was pressed; returns what the settings would have done.

    None while the run is in progress. A run that broke off has no foot.
    """
    if record.active:
        return None
    found = engine.what_if(record, tried(chosen, record.config))
    if record.outcome in BROKEN:
        return found
    moved = chosen.workflow == record.workflow and bool(differing(chosen, record.config))
    offered = may("editor") and record.origin is None
    with st.container(key="what_if_foot"):
        pressed = view(found, words, moved=moved, offered=offered, key="what_if")
    match pressed:
        case "apply":
            begin(lambda: again(engine, record, found.config))
        case "back":
            want_settings(record.config)
            st.rerun()
        case "details":
            st.session_state["tab"] = "map"
    return found


def view(found: WhatIf, words: Words, *, moved: bool, offered: bool, key: str) -> str | None:
    """Draw the end, the price and the buttons; returns ``apply``, ``back`` or ``details`` where it was pressed."""
    head = [node("strong", "", words("What if")), node("span", "grow")]
    if not moved:
        said = [node("p", "muted small", words("Move a setting: its effect shows here."))]
        actions = []
    else:
        head.append(node("span", "muted small num", price_text(found, words)))
        said = [
            node(
                "p",
                "say",
                node("span", f"sign {tone_of(found)}", sign_of(found), aria_hidden="true"),
                end_of(found, words),
            )
        ]
        said += [node("p", "muted small", text) for text in _notes(found, words)]
        actions = [button(words("Apply"), "apply", "button primary")] if offered else []
        actions.append(button(words("Reset"), "back", "button quiet"))
    actions.append(button(words("Details"), "details", "button quiet"))
    kids = (node("div", "head", *head), *said, node("div", "actions", *actions))
    return draw((node("section", "whatif", *kids, role="status"),), words, key=key)


def end_of(found: WhatIf, words: Words) -> str:
    """The end in a few words: ``Same outcome``, ``Refused after 1 rewrite``, ``Unknown: needs 1–8 more steps``."""
    if not found.path_known:
        least, most = (item.calls + item.built_in_calls for item in (found.calls_needed.next, found.calls_needed.worst))
        if not most:
            return words("Unknown: needs a new run")
        return words.count("Unknown: needs 1 more step", "Unknown: needs {n} more steps", most, n=_span(least, most))
    if found.same_path and not found.answer_note:
        return words("Same outcome" if found.state == "known" else "Same path, new answer")
    if found.outcome is None:
        return words("An answer, not yet known from what")
    return end_text(found.outcome, found.rewrites, words, found.answer_note)


def _notes(found: WhatIf, words: Words) -> list[str]:
    """What the end rests on, where it must not be taken for granted."""
    unwritten = words("Answer not generated yet") if found.state == "generation" else ""
    return [text for text in (admits_count(found.admits, words), unwritten) if text]


def tone_of(found: WhatIf) -> str:
    """The look of the end: amber where it is open, not supported, or rests on what the run held back."""
    if not found.path_known or found.admits or found.outcome is None:
        return "warn"
    return end_mark(found.outcome, found.answer_note).tone


def sign_of(found: WhatIf) -> str:
    """The sign that goes with it."""
    if not found.path_known:
        return "?"
    return "!" if found.admits or found.outcome is None else end_mark(found.outcome, found.answer_note).glyph


def price_text(found: WhatIf, words: Words) -> str:
    """``0 model calls``, or how many it takes to know: ``1–8 model calls``."""
    needed = (found.calls_needed.next, found.calls_needed.worst) if found.state != "known" else (Cost(), Cost())
    least, most = (item.calls for item in needed)
    return words.count("1 model call", "{n} model calls", most, n=_span(least, most))


def _span(least: int, most: int) -> str:
    return str(most) if least in (0, most) else f"{least}–{most}"


def begin(start: Callable[[], RunId]) -> None:
    """Start a run and open it; a failure to start is shown next to the question."""
    run_action("ask", start, into="run")
    st.rerun()


def again(engine: Engine, record: RunRecord, config: RunConfig) -> RunId:
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
    roles = workflow(run.workflow).roles
    models = {}
    for item in fields(RoleModels):
        own, wanted = getattr(run.models, item.name), getattr(chosen.models, item.name)
        models[item.name] = replace(wanted, seed=own.seed) if item.name in roles else own
        if item.name in roles and wanted.built_in and own.built_in and wanted.fit == own.fit:
            models[item.name] = own
    return replace(moved, milvus_address=run.milvus_address, options=options, models=RoleModels(**models), **hidden)


def replayed(record: RunRecord) -> RunRecord:
    """The record without a branch that changed settings alone: such a run could as well have started by itself."""
    fork = record.fork
    settings_alone = fork is not None and fork.round == 0 and not fork.query and not fork.verdicts
    return replace(record, fork=None) if settings_alone else record


def table_of(engine: Engine, record: RunRecord, config: RunConfig) -> RunTable:
    """The evidence of a finished run as numbers, made once for all its sliders."""
    fits = fits_for(engine, record.collection, record.config, config)
    asked = (record.id, record.last_seq, tuple(fits))
    return cached_in_session("table", asked, lambda: run_table(replayed(record), fits=fits))


def sweep_of(engine: Engine, record: RunRecord, config: RunConfig) -> Sweep | None:
    """Return the ranges of single settings, computed once for all that a page says; None if not at once."""
    table = table_of(engine, record, config)
    if not at_once(table, config):
        return None
    return cached_in_session("sweep", (record.id, record.last_seq, config), lambda: Sweep(table, config))


def stable_ranges(engine: Engine, record: RunRecord, config: RunConfig) -> Mapping[Column, StableRange]:
    """By setting the values under which the run ends equally, with the others as they are."""
    sweep = sweep_of(engine, record, config)
    # Replayed one setting at a time, it would make every slider wait.
    ranges = {} if sweep is None else sweep.stable_ranges(MARKED)
    return {name: StableRange(low, high) for name, (low, high) in ranges.items()}


def slider_marks(
    engine: Engine, below: Mapping[str, DeltaGenerator], chosen: RunConfig, record: RunRecord, words: Words
) -> None:
    """Mark the run's value and the range of equal ends on each slider, and write the value below those moved.

    The marks are rules of a style sheet that hold numbers only: they cost neither an element nor a rerun.
    """
    run, ranges = record.config, stable_ranges(engine, record, tried(chosen, record.config))
    stable: dict[str, StableRange] = {str(name): item for name, item in ranges.items()}
    rules = []
    for name in (*MARKED, *option_names(run.workflow)):
        if name not in below:
            continue
        had = setting_of_config(run, name)
        rules.append(mark_rules(name, had, stable.get(name)))
        if setting_of_config(chosen, name) != had:
            place = below[name].container(key=f"tick_{name}")
            place.caption(words("Run: {value}", value=value_text(name, had, words)))
    st.html(f"<style>{''.join(rules)}</style>")


def mark_rules(name: str, run_value: Any, stable: StableRange | None) -> str:
    """The rules of one slider; its inner track is as wide as its range."""
    track = f".st-key-{name} .stSlider [role=group] > div"
    rules = (
        f"{track}{{position:relative}}"
        f"{track}::after{{content:'';position:absolute;left:calc({_share(name, run_value)} - 1px);top:12px;width:2px;"
        "height:16px;border-radius:1px;background:currentColor;pointer-events:none}"
    )
    if stable is None or stable.low >= stable.high:
        return rules
    left, right = _share(name, stable.low), _share(name, stable.high)
    return rules + (
        f"{track}::before{{content:'';position:absolute;left:{left};width:calc({right} - {left});top:26px;height:3px;"
        "border-radius:2px;background:currentColor;opacity:.28;pointer-events:none}"
    )


def _share(name: str, value: float) -> str:
    limits = number_of(name)
    assert limits is not None
    share = (value - limits.low) / (limits.high - limits.low)
    return f"{min(1.0, max(0.0, share)):.2%}"
