"""Slow calls of the engine in the background of a page: started once for each subject, awaited without blocking."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from engine.errors import WorkbenchError
from engine.model.values import Fault
from engine.people.current_user import with_current_user

T = TypeVar("T")

_WATCH_S = 0.3
_AT_ONCE = 4
_pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="errand")


@dataclass(frozen=True, slots=True)
class BackgroundCall(Generic[T]):
    """One call under way or over, and what it is about."""

    about: Hashable
    future: Future[T]
    begun: float = field(default_factory=time.monotonic)


def begin(name: str, about: Hashable, work: Callable[[], T]) -> None:
    """Begin a call unless the last one of this name is about the same; what an earlier one brings is not looked at."""
    call = running(name)
    if call is None or call.about != about:
        st.session_state[name] = BackgroundCall(about, _pool.submit(with_current_user(work)))


def forget(*names: str) -> None:
    """Drop what calls brought, or what they would bring."""
    for name in names:
        st.session_state.pop(name, None)


def running(name: str) -> BackgroundCall[Any] | None:
    """The last call of this name, under way or over."""
    return cast("BackgroundCall[Any] | None", st.session_state.get(name))


def result_of(name: str, about: Hashable, waiting: str, words: Words) -> Any | None:
    """Return a call's result; until then, or after a failure, draw that and return None."""
    call = running(name)
    if call is None or call.about != about:
        return None
    if not call.future.done():
        _wait(name, call, waiting, words)
        return None
    try:
        return call.future.result()
    except WorkbenchError as error:
        if fault_box(Fault.of(error), words, key=f"{name}_fault", actions=(("again", words("Try again")),)):
            forget(name)
            st.rerun()
        return None


def _wait(name: str, call: BackgroundCall[Any], waiting: str, words: Words) -> None:
    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if call.future.done():
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f":material/hourglass_top: {waiting} {time.monotonic() - call.begun:.0f} s")
            if st.button(words("Stop waiting"), key=f"{name}_stop"):
                forget(name)
                st.rerun()

    watch()
