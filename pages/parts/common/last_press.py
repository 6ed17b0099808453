"""What the last press on a list led to, said above it: how many were deleted, or what went wrong."""

from __future__ import annotations

import time

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words

_NOTE_S = 8.0
"""How long the note of a deletion stands."""


def note_deleted(area: str, count: int) -> None:
    st.session_state[f"{area}_deleted"] = (count, time.monotonic() + _NOTE_S)


def fault_key(area: str) -> str:
    """Where the session keeps the fault to be said."""
    return f"{area}_fault"


def say_last_press(area: str, deleted_words: tuple[str, str], words: Words) -> None:
    deleted, until = st.session_state.get(f"{area}_deleted", (0, 0.0))
    # For some seconds: the page may be drawn again for another reason at once, and the note would be gone unread.
    if deleted and time.monotonic() < until:
        st.success(words.count(*deleted_words, deleted), icon=":material/delete:")
    fault = st.session_state.pop(fault_key(area), None)
    if fault is not None:
        fault_box(fault, words, key=f"{area}_fault_box")
