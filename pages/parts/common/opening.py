"""What stands on every page until questions can be answered, or where the knowledge base cannot be opened."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from engine.engine import Engine, Loaded
from engine.messages import N_

_LOOK_AGAIN_S = 0.5
_LOADING: Mapping[Loaded, str] = {
    "knowledge_base": N_("Opening the knowledge base …"),
    "workflow": N_("Loading the workflow …"),
}


def opening(engine: Engine, words: Words) -> None:
    """Say what is being loaded and redraw the page once it is; a fault stays, with the button that tries again."""
    failed = engine.opening_fault is not None

    @st.fragment(run_every=None if failed else _LOOK_AGAIN_S)
    def watch() -> None:
        fault = engine.opening_fault
        if engine.ready or (fault is not None) != failed:
            st.rerun()
        if fault is None:
            first: Loaded = next(iter(engine.loading), "workflow")
            st.caption(f":material/hourglass_top: {words(_LOADING[first])}")
        elif fault_box(fault, words, key="opening_fault", actions=(("again", words("Try again")),)) == "again":
            engine.open_again()
            st.rerun()

    watch()
