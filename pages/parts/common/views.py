"""The views of a page: one at a time, chosen at its top, each with an address and each coming back as it was left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import streamlit as st

from components.common.controls import choice
from components.common.panel import want_settings
from components.common.url_state import moved_here, view_changed

View = TypeVar("View", bound=str)
DRAFTS_WANTED = "tune_draft_wanted"
"""The collection that Tune is to draft questions from."""
FIRST_DRAFTS = 20


def chosen_view(page: str, label: str, shown: Mapping[View, str], *, parameter: str = "view") -> View:
    """Draw the choice of a page's views, which the address holds; the first one is the page's own address."""
    key, usual = _key(page), next(iter(shown))
    wanted = st.session_state.pop(f"{key}_next", None)
    if wanted is not None:
        st.session_state[key] = wanted
    in_address = st.query_params.get(parameter, usual)
    view = choice(parameter, label, shown, key=key)
    _note(key, view, in_address, parameter)
    return view


def aim_at(page: str, view: str) -> None:
    """Let the next run of a page show this view."""
    st.session_state[f"{_key(page)}_next"] = view


def want_drafts(collection: str) -> None:
    """Open Tune at a collection, and have it draft questions from it."""
    want_settings({"collection": collection})
    st.session_state[DRAFTS_WANTED] = collection
    st.switch_page("tune.py")


def _note(key: str, view: str, in_address: str, parameter: str) -> None:
    """Clear the address of the last view when an action on the page changed it."""
    before = st.session_state.get(f"{key}_drawn")
    st.session_state[f"{key}_drawn"] = view
    if before not in (None, view) and in_address != view and not moved_here():
        view_changed(parameter)


def _key(page: str) -> str:
    return f"{page}_view"
