"""The panel Verdicts next to the answer: each passage graded, by rounds, and what was dropped before."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.ask.verdict_rows import shown_rounds
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import nothing, opened_passage, pressed_once
from engine.engine import Engine
from engine.model.config import settings_of
from engine.model.values import PassageId, RunRecord
from pages.parts.ask.marking import is_asked, mark_dialog
from pages.parts.common.judging_rest import judge_all, judging_rest
from pages.parts.common.rights import may

Action = tuple[str, str, str, str]
"""A name, ``judge`` or ``mark``, its label, what it does, and its look."""

_WATCH_S = 2.0

_component = component(
    "verdicts",
    html='<div class="wb verdicts"></div>',
    css=script("tokens.css", "verdicts.css"),
    js=script("dom.js", "verdicts.js"),
)


def view(record: RunRecord, words: Words, *, key: str, actions: Sequence[Action] = ()) -> str | None:
    """Draw the rounds, the last one open; returns ``open:<passage id>`` or the name of an action.

    While the run is in progress the browser fills it from the run's stream (``live_view.moment``).
    """
    waiting = words("Verdicts appear here as they come.")
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            "run": record.id,
            "rounds": None if record.active else shown_rounds(record, words),
            "threshold": record.config.min_confidence,
            "actions": [list(item) for item in actions],
            "words": {
                "title": words("Verdicts"),
                "rounds": words("Rounds"),
                "waiting": waiting,
                "empty": waiting if record.active else words("Nothing was graded."),
                "dropped": words("dropped"),
            },
        },
        on_action_change=nothing,
    )
    return pressed_once(result.action, key)


def panel(engine: Engine, record: RunRecord, words: Words) -> PassageId | None:
    """Draw the panel and do what was pressed; returns a passage to open."""
    pressed = view(record, words, key="verdicts", actions=_offered(engine, record, words))
    if record.origin is not None and not record.active:
        judging_rest(engine, [record], words, key="imported")
    if pressed == "judge":
        judge_all(engine, record)
    if pressed == "mark":
        mark_dialog(engine, record, words)
    _reasons(engine, record, words)
    return opened_passage(pressed)


def reasons_text(record: RunRecord, coming: bool, words: Words) -> str:
    """Say which verdicts of one word have no reason, and why; empty where all have one."""
    if record.active:
        return ""
    missing, failed = len(record.unexplained), sum(not item.reason for item in record.reasons)
    parts = []
    if missing and coming:
        parts.append(words("Reasons of verdicts still to come: {n}.", n=missing))
    elif missing:
        parts.append(words("Verdicts without a reason, as none was asked for: {n}.", n=missing))
    if failed:
        parts.append(words("Verdicts without a reason, as none could be had when asked for: {n}.", n=failed))
    return " ".join(parts)


def _reasons(engine: Engine, record: RunRecord, words: Words) -> None:
    """Show the state of the reasons; while they come, draw the page again for each."""
    coming = bool(record.unexplained) and engine.reasons_coming(record)
    text = reasons_text(record, coming, words)

    @st.fragment(run_every=_WATCH_S if coming else None)
    def watch() -> None:
        if coming:
            came = len(engine.record(record.id).reasons) != len(record.reasons)
            if came or not engine.reasons_coming(record):
                st.rerun()
        st.caption(text)

    if text:
        watch()


def _offered(engine: Engine, record: RunRecord, words: Words) -> list[Action]:
    if record.active or not may("editor"):
        return []
    offered = []
    if record.origin is None and "grade_probe" in settings_of(record.workflow) and not record.config.grade_probe:
        offered.append(("judge", words("judge them"), words("Grades every candidate, in a branch of this run."), "act"))
    if record.rounds:
        asked = is_asked(engine, record)
        why = words("Which passage should have answered?" if asked else "Find the passage that answers the question.")
        offered.append(("mark", words("Mark the right passage"), why, "button" if asked else "act"))
    return offered
