"""Questions to this machine that may take seconds, asked off the script's thread and shown when they are in."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from engine.errors import WorkbenchError
from engine.model.values import Fault
from engine.people.current_user import with_current_user
from pages.parts.common.following import redraw_when

T = TypeVar("T")

_SOON_S = 0.3
"""So long a page waits for an answer before it says that it is waiting: most come at once, and nothing flickers."""
_LOOK_S = 0.3
_pool = ThreadPoolExecutor(4, thread_name_prefix="system-page")


@dataclass(slots=True)
class Looked(Generic[T]):
    """An answer that is in, or underway, or both: an older one stands until the new one is there."""

    value: T | None = None
    fault: Fault | None = None
    """What the newest question ended with instead of an answer."""
    pending: Future[T] | None = None
    at: float = 0.0
    """``time.monotonic`` of the newest answer."""
    moment: str = ""
    """The same in UTC, as a page writes it: ``09:41:07``."""

    def ask(self, call: Callable[[], T]) -> None:
        """Begin a new look unless one is underway, and take its answer where it comes soon."""
        if self.pending is None:
            self.pending = _pool.submit(with_current_user(call))
            self.take(_SOON_S)

    def take(self, patience_s: float = 0.0) -> bool:
        """Take the answer in; whether nothing is underway any more."""
        if self.pending is None:
            return True
        try:
            self.value = self.pending.result(patience_s)
            self.fault = None
        except TimeoutError:
            return False
        except WorkbenchError as error:
            self.fault = Fault.of(error)
        self.pending, self.at = None, time.monotonic()
        self.moment = datetime.now(UTC).strftime("%H:%M:%S")
        return True


def looked(name: str, call: Callable[[], T], *, fresh: bool = False, most_s: float | None = None) -> Looked[T]:
    """Return the session's cached value; loaded again if ``fresh`` or older than ``most_s``."""
    state: Looked[T] = st.session_state.setdefault(f"looked_{name}", Looked())
    state.take()
    known = state.at > 0.0
    old = most_s is not None and time.monotonic() - state.at > most_s
    if fresh or not known or old:
        state.ask(call)
    return state


def draw_fault(state: Looked[Any], words: Words, *, key: str) -> None:
    """Draw what the newest question ended with, and that the first answer is on its way."""
    if state.fault is not None:
        fault_box(state.fault, words, key=key)
    if state.value is None and state.pending is not None:
        st.caption(f":material/hourglass_top: {words('Checking …')}")


def until(*states: Looked[Any]) -> None:
    """Redraw the page once the answers that are underway are in."""
    if any(state.pending is not None for state in states):
        redraw_when(lambda: all(state.take() for state in states), _LOOK_S)


def in_background(call: Callable[[], T]) -> Future[T]:
    """The call, made off the script's thread."""
    return _pool.submit(with_current_user(call))
