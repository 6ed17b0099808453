"""Cache of a page's last result, kept while its inputs are equal: every slider runs the page again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

_T = TypeVar("_T")


def cached_in_session(name: str, asked: object, make: Callable[[], _T]) -> _T:
    """Return ``make``'s cached result for equal inputs."""
    known: tuple[object, _T] | None = st.session_state.get(f"known_{name}")
    if known is None or known[0] != asked:
        known = (asked, make())
        st.session_state[f"known_{name}"] = known
    return known[1]


def is_cached(name: str, asked: object) -> bool:
    """Return whether the answer is at hand."""
    known: tuple[object, object] | None = st.session_state.get(f"known_{name}")
    return known is not None and known[0] == asked
