"""Parts of a page that are drawn again by themselves while work goes on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import streamlit as st

from engine.model.values import Fault

_Value = TypeVar("_Value")


def settled(call: Future[_Value] | None) -> tuple[_Value | None, Fault | None]:
    """What a call in the background brought, and what it failed with; neither while it runs or where it was stopped."""
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
