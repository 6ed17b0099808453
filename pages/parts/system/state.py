"""Which part of the page System is shown; the address holds it as ``part``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from engine.messages import N_
from engine.people import Role, signing_in
from pages.parts.common.rights import may
from pages.parts.common.views import aim_at, chosen_view

Part = Literal["health", "models", "settings", "programs", "diagnosis", "people"]
PARTS: dict[Part, str] = {
    "health": N_("Health"),
    "models": N_("Models"),
    "settings": N_("Settings"),
    "programs": N_("Other programs"),
    "diagnosis": N_("Diagnosis"),
    "people": N_("People"),
}


GONE = {
    "speed": N_(
        "Models are no longer measured here: how many passages a local server grades at once is found while it grades, "
        "and WORKBENCH_GRADER_CONCURRENCY fixes it."
    ),
    "self_test": N_(
        "Scores are no longer tested here: connecting a collection checks its vectors, and Health names a store or an "
        "embedding model that fails."
    ),
}
"""What to use instead of a part that is no more, for who comes by its address."""
_NEEDED: Mapping[Part, Role] = {"settings": "admin", "diagnosis": "admin", "people": "admin"}


def chosen_part(words: Words) -> Part:
    """Draw the choice of parts."""
    shown = {name: words(text) for name, text in PARTS.items() if may(_NEEDED.get(name, "viewer"))}
    if not signing_in():
        del shown["people"]
    return chosen_view("system", words("Part of the page"), shown, parameter="part")


def again_button(words: Words, bar: DeltaGenerator) -> bool:
    """Draw the button that asks again, beside the choice of parts."""
    return bar.button(words("Check again"), icon=":material/refresh:", key="system_again")


def go_to(part: Part) -> None:
    """Show another part; ends this run of the page."""
    aim_at("system", part)
    st.rerun()
