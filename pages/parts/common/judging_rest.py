"""Actions for the ungraded passages of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from components.common.i18n import Words
from components.common.panel import want_settings
from engine.engine import Engine
from engine.model.values import RunRecord
from engine.plugins import panels
from pages.parts.common.actions import run_action


def judge_all(engine: Engine, record: RunRecord) -> None:
    """Begin a branch of a run in which every candidate is graded, and open it."""
    probing = replace(record.config, grade_probe=True)
    if run_action("ask", lambda: engine.fork(record, probing), into="run"):
        want_settings({"grade_probe": True})
    st.rerun()


def judging_rest(engine: Engine, records: Sequence[RunRecord], words: Words, *, key: str, set_name: str = "") -> None:
    """Draw the offer of the plug-in that imports runs; without it, say which one is missing."""
    offers = panels("imported_runs")
    for offer in offers:
        offer(engine, words, records, key=key, set_name=set_name)
    if not offers:
        st.caption(
            words(
                "The plug-in traces, which imported this, is missing: passages without a verdict cannot be judged here."
            )
        )
