"""A place with nothing in it yet: what will stand there, and the button of the next step."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def next_step(
    text: str, label: str, icon: str, *, key: str, offered: bool = True, does: Callable[[], None] | None = None
) -> bool:
    """Draw both; returns whether the button was pressed, which ``does`` its work before the page is drawn again.

    ``offered`` is False for people who may not do it.
    """
    st.info(text)
    return offered and st.button(label, icon=f":material/{icon}:", key=key, on_click=does)


def clear(*names: str) -> Callable[[], None]:
    """What a button does that empties the texts and switches of these keys."""

    def cleared() -> None:
        for name in names:
            kept = st.session_state.get(name)
            st.session_state[name] = False if isinstance(kept, bool) else ""

    return cleared
