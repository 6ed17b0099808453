"""Settings with names of their own in the URL: a link means the same in every language, and Back goes back.

Streamlit's own binding writes the *label* of an option into the address, which changes with the language. Sliders,
numbers and switches have no labels and are bound by Streamlit itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitAPIException

_PATH = "url_path"
_MOVED = "url_moved"
_UNDERWAY_S = 2.0
"""For so long after a change the browser may still ask with the address it had before."""


@dataclass(frozen=True, slots=True)
class _Written:
    """Last value put into the address, and its time (``time.monotonic``)."""

    value: str | None
    at_s: float


def base_path() -> str:
    """Return the prefix of every path of the app, e.g. ``/rag`` behind a proxy; empty if there is none."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}" if base else ""


def own_origin() -> str:
    """Scheme, host and port by which the browser came here, such as ``http://127.0.0.1:8600``."""
    parts = urlsplit(st.context.url or "")
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


def note_page() -> None:
    """Once a run, before anything else: notice a change of page, which empties the address of its settings."""
    path = urlsplit(st.context.url or "").path
    st.session_state[_MOVED] = path != st.session_state.get(_PATH)
    st.session_state[_PATH] = path


def moved_here() -> bool:
    """Return whether this run is the first since the page was come to from another one, or by an address."""
    return bool(st.session_state.get(_MOVED))


def begin_here() -> None:
    """Take what the session holds for what this address does not name, as after a change of page."""
    st.session_state[_MOVED] = True


def take_from_url(name: str, default: str, valid: Callable[[str], bool], *, key: str = "") -> str:
    """Before its widget is drawn: its value in the session state, or the address's where that was changed.

    The address changes from outside on the first run and by the browser's Back; a value that is not ``valid`` is passed
    over, and so is an old address that was underway while it was changed here. ``name`` stands in the address, ``key``
    in the session state, where two pages mean different things by one name; else they are the same.
    """
    key = key or name
    given = st.query_params.get(name)
    last: _Written | None = st.session_state.get(_noted(key))
    wanted = st.session_state.get(key)
    if last is None:
        if given is not None and valid(given):
            wanted = given
    elif given == last.value or time.monotonic() - last.at_s < _UNDERWAY_S:
        pass
    elif given is not None:
        wanted = given if valid(given) else wanted
    elif not st.session_state.get(_MOVED):
        wanted = default
    if wanted is None:
        wanted = default
    if st.session_state.get(key) != wanted or st.session_state.get(_MOVED):
        # Also what it holds already: on another page a widget of the same key is a new one, and would begin empty.
        st.session_state[key] = wanted
    return str(wanted)


def put_into_url(name: str, value: str, default: str, *, key: str = "") -> None:
    """After the widget is drawn: write its value into the address; a default needs no place there, and may have one."""
    key = key or name
    wanted = None if value == default else value
    last: _Written | None = st.session_state.get(_noted(key))
    given = st.query_params.get(name)
    if given in (wanted, value):
        if last is None or last.value != given:
            st.session_state[_noted(key)] = _Written(given, 0.0)
        return
    if wanted is None:
        del st.query_params[name]
    else:
        st.query_params[name] = wanted
    st.session_state[_noted(key)] = _Written(wanted, time.monotonic())


def view_changed(name: str) -> None:
    """Another view of the same page is shown, by a press on the page: what the address says of the last one goes.

    ``name`` is the parameter that names the view. What the last view had chosen stays in the session state.
    """
    begin_here()
    for given in [given for given in st.query_params if given not in (name, "lang")]:
        # Streamlit takes those of its own widgets out itself.
        with suppress(StreamlitAPIException):
            del st.query_params[given]


def _noted(key: str) -> str:
    return f"url_{key}"
