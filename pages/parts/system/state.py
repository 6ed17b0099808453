"""Which part of the page System is shown; the address holds it as ``part``."""

from __future__ import annotations

from typing import Literal, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.url_state import put_into_url, take_from_url
from engine.messages import N_

_SYSTEM_PART = {
    "health": N_("Health"),
    "models": N_("Models"),
    "speed": N_("Speed"),
    "self_test": N_("Self-test"),
    "settings": N_("Settings"),
    "diagnosis": N_("Diagnosis"),
}

Part = Literal["health", "models", "speed", "self_test", "settings", "diagnosis"]
PARTS: tuple[Part, ...] = get_args(Part)

_PART = "part"
_GO = "part_wanted"


def chosen_part(words: Words, bar: DeltaGenerator) -> Part:
    """Draw the choice of parts into a bar."""
    wanted = st.session_state.pop(_GO, None)
    if wanted is not None:
        st.session_state[_PART] = wanted
    usual = PARTS[0]
    take_from_url(_PART, usual, lambda name: name in PARTS)
    chosen = bar.segmented_control(
        words("Part of the page"),
        PARTS,
        required=True,
        format_func=lambda name: words(_SYSTEM_PART[name]),
        key=_PART,
        label_visibility="collapsed",
        persist_state="session",
    )
    put_into_url(_PART, str(chosen or usual), usual)
    return chosen or usual


def again_button(words: Words, bar: DeltaGenerator) -> bool:
    """Draw the button that asks again, beside the choice of parts."""
    return bar.button(words("Check again"), icon=":material/refresh:", key="system_again")


def go_to(part: Part) -> None:
    """Show another part; ends this run of the page."""
    st.session_state[_GO] = part
    st.rerun()
