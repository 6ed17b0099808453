"""Diagnosis of a finished run and its remedy: by labels if there are any, and a confirmed change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from components.ask.admitted import admits_text
from components.ask.diagnosis import next_text, title, why_text
from components.ask.notes import boundary_text
from components.ask.what_if_text import rich
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, draw, node
from components.common.panel import want_settings
from engine.engine import Engine
from engine.evaluation.known_right import known_right
from engine.messages import NC_
from engine.model.values import PassageId, RunRecord
from engine.replay.admitted import needs_care
from engine.replay.decision_boundaries import DecisionBoundary, remedy
from engine.replay.diagnosis import Diagnosis, diagnose
from engine.replay.pinned import PinnedEffect
from pages.parts.ask.pinned_runs import ALL_UNKNOWN, effect_on_pinned
from pages.parts.common.actions import run_action
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.common.views import aim_at

_MOST_READERS = 2
_GRADER = "grader:"


def remedy_panel(engine: Engine, record: RunRecord, words: Words) -> None:
    """Draw what went wrong in a finished run and what would mend it; nothing where it ended well."""
    met, answerable = known_right(engine, record)
    found = diagnose(record, met, answerable)
    if found is None:
        return

    def mend() -> DecisionBoundary | None:
        return remedy(record, record.config, met, answerable=answerable)

    asked = (record.id, record.last_seq, tuple(sorted((met or {}).items())), answerable)
    change = cached_in_session("remedy", asked, mend)
    effect = None
    if change is not None:
        changes: dict[str, Any] = {change.name: change.value_to}
        effect = effect_on_pinned(engine, record.config, replace(record.config, **changes), name="remedy")
    right = [name for name, places in (met or {}).items() if places]
    offered = _offered(engine, record, found, words)
    pressed = remedy_box(found, change, effect, words, key="remedy", right=right, offered=offered)
    if pressed == "try" and change is not None:
        want_settings({change.name: change.value_to})
        st.rerun()
    if pressed is not None:
        _act(engine, record, pressed)


def _offered(engine: Engine, record: RunRecord, found: Diagnosis, words: Words) -> list[tuple[str, str]]:
    """List remedies other than a change of one setting, as labels and actions."""
    if not may("editor") or record.origin is not None:
        return []
    offered = []
    if found.figures.get("unjudged") or (
        found.labelled and found.failure == "dropped_by_similarity" and not found.grader
    ):
        judge = words.count("Judge the candidate", "Judge all {n} candidates", len(record.passages))
        offered.append((judge, "judge"))
    if found.failure == "nothing_retrieved" and not record.passages:
        offered.append((words("Add files"), "add"))
    if found.grader or found.by_words:
        own = record.config.models.grader.model
        readers = [name for name in engine.chat_models() if name != own][:_MOST_READERS]
        offered += [(words("Grade with {model}", model=name), f"{_GRADER}{name}") for name in readers]
        if found.by_words and not readers:
            offered.append((words("Set up a chat model"), "models"))
    return offered


def _act(engine: Engine, record: RunRecord, pressed: str) -> None:
    """Do what a button of the box says: move the sidebar, begin a branch, or lead to another page."""
    if pressed.startswith(_GRADER):
        want_settings({"grader": pressed.removeprefix(_GRADER)})
        st.rerun()
    if pressed == "judge":
        probing = replace(record.config, grade_probe=True)
        if run_action("ask", lambda: engine.fork(record, probing), into="run"):
            want_settings({"grade_probe": True})
        st.rerun()
    if pressed == "models":
        aim_at("system", "models")
        st.switch_page("system.py")
    if pressed == "add":
        aim_at("knowledge", "add")
        st.switch_page("knowledge.py")


def remedy_box(
    found: Diagnosis,
    change: DecisionBoundary | None,
    effect: PinnedEffect | None,
    words: Words,
    *,
    key: str,
    right: Collection[PassageId] = (),
    offered: Sequence[tuple[str, str]] = (),
) -> str | None:
    """Draw label, evidence and change, with what the change does to pinned runs.

    Amber where the change lets in what the run held back and no one marked ``right``, or leads to an answer that is not
    supported.

    Returns ``try`` when the change is to be tried, or the action of one of the buttons that are ``offered`` with their
    labels, of which the first leads.
    """
    by = chip("grey", words("by labels" if found.labelled else "by what the run shows"))
    head = node("div", "head", node("strong", "heading", title(found, words)), by)
    said = (head, node("p", "small", why_text(found, words)), *_mending(found, change, effect, words))
    buttons = [(words(NC_("remedy", "Try it")), "try")] if change is not None else []
    actions = [
        button(label, action, "button" if place else "button primary")
        for place, (label, action) in enumerate((*buttons, *offered))
    ]
    harm = change is not None and (change.answer_note == "unsupported" or needs_care(change.admits, right))
    amber = harm or found.failure == "refused_let_in"
    below = [node("div", "actions", *actions)] if actions else []
    drawn = box("warn remedy" if amber else "plain remedy", "!" if amber or change is None else "✓", *said, *below)
    return draw((drawn,), words, key=key)


def effect_text(effect: PinnedEffect | None, words: Words) -> str:
    """``It breaks none of 20 runs on the watch list.``: of those known without calls."""
    if effect is None or effect.total == 0:
        return words("Put runs on the watch list, and this says what the change would do to them.")
    told = effect.total - len(effect.unknown)
    if told == 0:
        return words.count(*ALL_UNKNOWN, effect.total)
    better, worse = effect.count("better"), effect.count("worse")
    if worse or better:
        said = words(
            "Of {n} runs on the watch list it mends {better} and breaks {worse}.", n=told, better=better, worse=worse
        )
    else:
        said = words.count(
            "It does not break the run on the watch list.", "It breaks none of {n} runs on the watch list.", told
        )
    if not effect.unknown:
        return said
    unknown = words.count("1 cannot be told without calls.", "{n} cannot be told without calls.", len(effect.unknown))
    return words.joined((said, unknown))


def _mending(
    found: Diagnosis, change: DecisionBoundary | None, effect: PinnedEffect | None, words: Words
) -> list[Node]:
    if change is None:
        return [node("p", "muted small", next_text(found, words))]
    said = words(
        "The smallest change that the record confirms to help: **{change}**.",
        change=boundary_text(replace(change, admits=()), words),
    )
    admits = [node("p", "note", text)] if (text := admits_text(change.admits, words)) else []
    return [node("p", "change", *rich(said)), *admits, node("p", "muted small", effect_text(effect, words))]
