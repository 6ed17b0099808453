"""Actions for an imported run's ungraded passages."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.i18n import Words
from engine.engine import Engine
from engine.model.values import RunRecord
from engine.plugins import panels


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
