"""Next to the map: the settings as a sentence, what is missing with its price, the smallest changes, stable ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor

import streamlit as st

from components.ask.admitted import admits_text, rests_on_text
from components.ask.what_if_text import boundary_text, price_text, range_text, rich, sentence_text
from components.common.i18n import Words
from components.common.markup import Node, button, draw, node
from components.common.panel import want_settings
from components.common.phrases import begun, place_text
from components.common.run_settings import differing, unread_by
from components.labels import name_of
from engine.engine import Engine
from engine.evaluation.known_right import known_right
from engine.model.config import PARAMETERS
from engine.model.values import COMPLETE, Passage, PassageId, RunRecord
from engine.replay import WhatIf
from engine.replay.decision_boundaries import DecisionBoundary
from engine.replay.settings import Column
from engine.samples.demos import is_demo
from pages.parts.ask.pinned_runs import effect_nodes, effect_on_pinned, pin, pin_button, pinned_ids
from pages.parts.ask.what_if import StableRange, begin, stable_ranges, sweep_of
from pages.parts.common.actions import run_action

_SHOWN = 3


def panel(engine: Engine, record: RunRecord, found: WhatIf, words: Words) -> None:
    """Draw the details of a run that has ended, and do what was pressed."""
    further = _further(engine, record, found, words) if record.rounds and found.gap != "retrieval" else ()
    _act_on(engine, record, found, view(found, record, words, further, key="what_if_details"))


def _further(engine: Engine, record: RunRecord, found: WhatIf, words: Words) -> list[Node]:
    """What stands next to the map: the smallest changes, stable ranges, and what becomes of the watch list."""
    nodes: list[Node] = []
    sweep = sweep_of(engine, record, found.config) if found.path_known else None
    if sweep is not None:
        answerable = known_right(engine, record)[1]
        nodes += smallest_change_nodes(sweep.smallest_changes(answerable=answerable), words, answerable=answerable)
        ranges = stable_ranges(engine, record, found.config)
        nodes += stable_nodes({name: ranges[name] for name in ranges if name not in unread_by(found.config)}, words)
    nodes += effect_nodes(effect_on_pinned(engine, record.config, found.config, name="card"), words)
    if not is_demo(record.id):
        nodes.append(node("div", "actions", pin_button(record.id in pinned_ids(engine), words)))
    return nodes


def _act_on(engine: Engine, record: RunRecord, found: WhatIf, pressed: str | None) -> None:
    match pressed:
        case "fork":
            begin(lambda: engine.fork(record, found.config))
        case "pin" | "unpin":
            run_action("ask", lambda: pin(engine, record.id, pinned=pressed == "pin"))
            st.rerun()
        case str() if pressed.startswith("run:"):
            st.session_state["run"] = pressed.removeprefix("run:")
            st.rerun()
        case str() if (wanted := setting_of(pressed)) is not None:
            name, value = wanted
            want_settings({name: float(value) if name in PARAMETERS else value})
            st.rerun()
        case str() if pressed.startswith("open:"):
            st.session_state["cited_elsewhere"] = PassageId(pressed.removeprefix("open:"))
            st.rerun()


def view(found: WhatIf, record: RunRecord, words: Words, further: Sequence[Node], *, key: str) -> str | None:
    """Draw the sentence, what is missing and ``further``; returns the action that was pressed.

    ``fork``: continue from the record where it stops being known; ``open:ID``: show a passage; ``set:NAME:VALUE``.
    """
    return draw((node("section", "details", *detail_nodes(found, record, words), *further),), words, key=key)


def detail_nodes(found: WhatIf, record: RunRecord, words: Words) -> list[Node]:
    """Build the sentence on the settings, what it rests on, and what is missing with its price."""
    whole = record.outcome in COMPLETE and record.origin is None
    if not differing(found.config, record.config) and (whole or found.path_known):
        # What a finished run did under its own settings is its recording, no matter what a replay could tell.
        refused = [item for item in found.admits if item.unaccepted]
        return [node("p", "note", rests_on_text(refused, words))] if refused else []
    parts = [node("p", "say", *rich(sentence_text(found, record, words)))]
    if admits := admits_text(found.admits, words):
        parts.append(node("p", "note", admits))
    if found.gap == "verdicts" and found.config.models.grader == record.config.models.grader:
        parts += _ungraded(found, words)
    if found.state == "known" or found.gap == "retrieval":
        return parts
    first, worst = price_text(found.calls_needed.next, words), price_text(found.calls_needed.worst, words)
    cost = words(
        "Costs {next}." if first == worst else "Next step: {next}. At worst: {worst}.", next=first, worst=worst
    )
    parts.append(node("p", "muted small num", cost))
    # What an imported run still needs is with the other program: it can be judged further, not run on.
    if record.origin is None:
        parts.append(node("div", "actions", button(words("Continue from there"), "fork", "button primary")))
    return parts


def ungraded_passages(found: WhatIf) -> tuple[Passage, ...]:
    """The kept passages of the last known round that no one judged."""
    if not found.steps:
        return ()
    last = found.steps[-1]
    wanted: frozenset[PassageId] = frozenset(last.ungraded)
    return tuple(item.passage for item in last.round.candidates if item.passage.id in wanted)


def _ungraded(found: WhatIf, words: Words) -> list[Node]:
    passages = ungraded_passages(found)
    if not passages:
        return []
    chips = [
        button(place_text(item.source, item.section, words), f"open:{item.id}", "chip link")
        for item in passages[:_SHOWN]
    ]
    if len(passages) > _SHOWN:
        chips.append(node("span", "muted small", words("and {n} more", n=len(passages) - _SHOWN)))
    return [node("div", "chips", node("span", "muted small", begun(words("not graded"))), *chips)]


def stable_nodes(ranges: Mapping[Column, StableRange], words: Words) -> list[Node]:
    """List the values of each setting that lead to the same end."""
    rows = [
        node("li", "", f"{words(name_of(name))} ", node("span", "num", range_text(name, _inside(name, item), words)))
        for name, item in ranges.items()
        if item.low < item.high
    ]
    return [node("p", "muted small", words("Same outcome")), node("ul", "ranges", *rows)] if rows else []


def _inside(name: Column, found: StableRange) -> tuple[float, float]:
    """The range in steps of its slider: ends between two of them move inwards."""
    step = PARAMETERS[name].step
    return round(ceil(found.low / step - 1e-6) * step, 4), round(floor(found.high / step + 1e-6) * step, 4)


def smallest_change_nodes(
    boundaries: Sequence[DecisionBoundary], words: Words, *, answerable: bool | None = None
) -> list[Node]:
    """Draw a line of buttons (``set:NAME:VALUE``), nearest first, or a sentence where no change is worth proposing."""
    if not boundaries:
        said = words(
            "The question set says that this cannot be answered, so no change is proposed."
            if answerable is False
            else "No single setting is known to change the outcome."
        )
        return [node("p", "muted small flips", said)]
    chips = [
        button(
            boundary_text(item, words),
            f"set:{item.name}:{item.value_to}",
            f"chip {'warn' if item.admits or item.answer_note == 'unsupported' else 'link'}",
        )
        for item in boundaries[:_SHOWN]
    ]
    return [node("div", "chips flips", node("span", "muted small", words("Smallest change:")), *chips)]


def setting_of(action: str) -> tuple[str, str] | None:
    """Name and value of a pressed ``set:NAME:VALUE``."""
    kind, _, rest = action.partition(":")
    name, _, value = rest.partition(":")
    return (name, value) if kind == "set" and name and value else None
