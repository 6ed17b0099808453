"""Parts of a page that are drawn again by themselves while work goes on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

import streamlit as st

from engine.model.values import Fault


class Work(Protocol):
    """Work in the background that ends some time."""

    @property
    def over(self) -> bool: ...


_Value = TypeVar("_Value")
_Work = TypeVar("_Work", bound=Work)


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


def follow_work(
    now: Callable[[], _Work | None], stop_pressed: Callable[[_Work], bool], stop: Callable[[], object], every_s: float
) -> None:
    """Draw how far work is until it is over, or what the last one came to; ``stop_pressed`` draws it."""
    first = now()
    running = first is not None and not first.over

    @st.fragment(run_every=every_s if running else None)
    def watch() -> None:
        work = now()
        if work is None or (running and work.over):
            st.rerun()
        elif stop_pressed(work):
            stop()
            st.rerun()

    watch()
