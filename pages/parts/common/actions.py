"""Buttons and their results: what the last press led to, and the next step of a place with nothing in it yet."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import nothing
from engine.errors import WorkbenchError
from engine.model.values import Fault

_NOTE_S = 8.0
"""How long the note of a deletion stands."""


def fault_key(area: str) -> str:
    """Return the session key of the fault to show."""
    return f"{area}_fault"


def run_action(area: str, work: Callable[[], object], *, into: str = "") -> bool:
    """Do what a press asked for; :func:`say_fault` says what speaks against it. False where it failed.

    What it returns is kept in the session as ``into``, where that is given.
    """
    try:
        made = work()
    except WorkbenchError as error:
        st.session_state[fault_key(area)] = Fault.of(error)
        return False
    if into:
        st.session_state[into] = made
    return True


def say_fault(area: str, words: Words) -> Fault | None:
    """Say once, and return, what kept the last press of this area from doing what it was for."""
    fault: Fault | None = st.session_state.pop(fault_key(area), None)
    if fault is not None:
        fault_box(fault, words, key=f"{area}_fault_box")
    return fault


def retry_box(error: WorkbenchError, words: Words, *, key: str) -> None:
    """Say why something cannot be shown, with a button that draws the page again."""
    if fault_box(Fault.of(error), words, key=key, actions=(("again", words("Try again")),)):
        st.rerun()


def note_deleted(area: str, count: int) -> None:
    """Let the next runs of the page say how many are deleted."""
    st.session_state[f"{area}_deleted"] = (count, time.monotonic() + _NOTE_S)


def say_last_press(area: str, deleted_words: tuple[str, str], words: Words) -> None:
    """Say how many are deleted, or what went wrong."""
    deleted, until = st.session_state.get(f"{area}_deleted", (0, 0.0))
    # For some seconds: the page may be drawn again for another reason at once, and the note would be gone unread.
    if deleted and time.monotonic() < until:
        st.success(words.count(*deleted_words, deleted), icon=":material/delete:")
    say_fault(area, words)


def answer_buttons(
    yes: str, no: str, act: Callable[[], None], *, key: str, keep: Callable[[], None] = nothing, **more: Any
) -> None:
    """The two buttons that end a dialog; what ``yes`` does is done before the page is drawn again, which closes it."""
    with st.container(horizontal=True):
        if st.button(yes, type="primary", key=f"{key}_yes", on_click=act, **more):
            st.rerun()
        if st.button(no, key=f"{key}_no", on_click=keep):
            st.rerun()


def next_step(
    text: str, label: str, icon: str, *, key: str, offered: bool = True, does: Callable[[], None] | None = None
) -> bool:
    """Draw both; returns whether the button was pressed, which ``does`` its work before the page is drawn again.

    ``offered`` is False for people who may not do it.
    """
    st.info(text)
    return offered and st.button(label, icon=f":material/{icon}:", key=key, on_click=does)


def clear(*names: str) -> Callable[[], None]:
    """Return the callback of a button that clears the texts and switches of these keys."""

    def cleared() -> None:
        for name in names:
            kept = st.session_state.get(name)
            st.session_state[name] = False if isinstance(kept, bool) else ""

    return cleared
