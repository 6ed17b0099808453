"""Settings with names of their own in the URL: a link means the same in every language.

Streamlit's own binding writes the *label* of an option into the address, which changes with the language. Sliders,
numbers and switches have no labels and are bound by Streamlit itself.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def take_from_url(name: str, default: str, valid: Callable[[str], bool]) -> None:
    """Before the widget ``name`` is drawn: give it a value, from the address where that was changed from outside.

    That is the case on the first run and after the browser's Back; a value that is not ``valid`` is passed over.
    """
    given = st.query_params.get(name)
    if given is not None and given != st.session_state.get(_written(name)) and valid(given):
        st.session_state[name] = given
    elif st.session_state.get(name) is None:
        st.session_state[name] = default


def put_into_url(name: str, value: str, default: str) -> None:
    """After the widget is drawn: write its value into the address; a default stands there as nothing."""
    wanted = None if value == default else value
    if wanted is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != wanted:
        st.query_params[name] = wanted
    st.session_state[_written(name)] = wanted


def _written(name: str) -> str:
    return f"in_url_{name}"
