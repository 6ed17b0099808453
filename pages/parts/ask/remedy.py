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
from engine.replay.decision_boundaries import DecisionBoundary
from engine.replay.diagnosis import diagnose
from engine.replay.remedy import remedy
from pages.parts.ask.pinned_runs import effect_on_pinned
from pages.parts.common.remembered import remembered
from pages.parts.common.rights import may
from pages.parts.common.views import aim_at


def remedy_panel(engine: Engine, record: RunRecord, words: Words) -> None:
    """Draw what went wrong in a finished run and what would mend it; nothing where it ended well."""
    met, answerable = known_right(engine, record)
    found = diagnose(record, met, answerable)
    if found is None:
        return

    def mend() -> DecisionBoundary | None:
        # Nothing to mend where there is nothing to know.
        if found.failure == "no_such_knowledge":
            return None
        return remedy(record, record.config, met, answerable=answerable)

    asked = (record.id, record.last_seq, tuple(sorted((met or {}).items())), answerable)
    change = remembered("remedy", asked, mend)
    effect = None
    if change is not None:
        changes: dict[str, Any] = {change.name: change.value_to}
        effect = effect_on_pinned(engine, record.config, replace(record.config, **changes), name="remedy")
    right = [name for name, places in (met or {}).items() if places]
    pressed = remedy_box(found, change, effect, words, key="remedy", right=right, may_add=may("editor"))
    if pressed == "try" and change is not None:
        want_settings({change.name: change.value_to})
        st.rerun()
    if pressed == "add":
        aim_at("knowledge", "add")
        st.switch_page("knowledge.py")
