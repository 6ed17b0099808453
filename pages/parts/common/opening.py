"""What stands on every page until the knowledge base is open, or where it cannot be opened."""

from __future__ import annotations

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from engine.engine import Engine

_LOOK_AGAIN_S = 0.5


def opening(engine: Engine, words: Words) -> None:
    """Say that it is being opened and redraw the page once it is; a fault stays, with the button that tries again."""
    failed = engine.opening_fault is not None

    @st.fragment(run_every=None if failed else _LOOK_AGAIN_S)
    def watch() -> None:
        fault = engine.opening_fault
        if engine.ready or (fault is not None) != failed:
            st.rerun()
        if fault is None:
            st.caption(f":material/hourglass_top: {words('Opening the knowledge base …')}")
        elif fault_box(fault, words, key="opening_fault", actions=(("again", words("Try again")),)) == "again":
            engine.open_again()
            st.rerun()

    watch()
