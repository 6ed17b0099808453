"""Parts of a page that are drawn again by themselves while work is under way, such as the opening of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TypeVar

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from engine.engine import Engine
from engine.messages import N_
from engine.model.values import Fault
from engine.running.knowledge_operations import Loaded

_Value = TypeVar("_Value")
_LOOK_AGAIN_S = 0.5
_LOADING: Mapping[Loaded, str] = {
    "knowledge_base": N_("Opening the knowledge base …"),
    "workflow": N_("Loading the workflow …"),
}


def settled(call: Future[_Value] | None) -> tuple[_Value | None, Fault | None]:
    """Return the result and the fault of a background call; neither while it runs or if it was stopped."""
    if call is None or not call.done() or call.cancelled():
        return None, None
    error = call.exception()
    return (None, Fault.of(error)) if isinstance(error, Exception) else (call.result(), None)


def redraw_when(ended: Callable[[], bool], every_s: float) -> None:
    """Draw the whole page again once something has ended."""

    @st.fragment(run_every=every_s)
    def watch() -> None:
        if ended():
            st.rerun()

    watch()


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
