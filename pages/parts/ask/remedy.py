"""What a finished run suffered from, and what would mend it: labels where there are any, a confirmed change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from components.ask.remedy import remedy_box
from components.common.i18n import Words
from components.common.panel import want_settings
from engine.engine import Engine
from engine.evaluation.known_right import known_right
from engine.model.values import RunRecord
from engine.replay.decision_boundaries import DecisionBoundary, remedy
from engine.replay.diagnosis import Diagnosis, diagnose
from pages.parts.ask.pinned_runs import effect_on_pinned
from pages.parts.common.presses import attempt
from pages.parts.common.remembered import remembered
from pages.parts.common.rights import may
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
    change = remembered("remedy", asked, mend)
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
    """What can be done about it besides a change of one setting, as labels and actions."""
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
        if attempt("ask", lambda: engine.fork(record, probing), into="run"):
            want_settings({"grade_probe": True})
        st.rerun()
    if pressed == "models":
        aim_at("system", "models")
        st.switch_page("system.py")
    if pressed == "add":
        aim_at("knowledge", "add")
        st.switch_page("knowledge.py")
