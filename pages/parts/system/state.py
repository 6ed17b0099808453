"""Part shown on System; the address holds it as ``part``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from engine.engine import Engine
from engine.messages import N_
from engine.people import Role
from engine.plugins import panels
from pages.parts.common.rights import may
from pages.parts.common.views import aim_at, chosen_view

Part = Literal["health", "models", "jobs", "settings", "programs", "diagnosis"]
PARTS: dict[Part, str] = {
    "health": N_("Health"),
    "models": N_("Models"),
    "jobs": N_("Jobs"),
    "settings": N_("Settings"),
    "programs": N_("Other programs"),
    "diagnosis": N_("Diagnosis"),
}

_NEEDED: Mapping[Part, Role] = {"settings": "admin", "diagnosis": "admin"}


def further_parts(engine: Engine, words: Words) -> dict[str, tuple[str, Callable[[], None]]]:
    """Parts that plug-ins bring, by name: each has a title and what draws it."""
    found = (panel(engine, words) for panel in panels("system"))
    return {name: (title, draw) for name, title, draw in filter(None, found)}


def chosen_part(engine: Engine, words: Words, bar: DeltaGenerator) -> str:
    """Draw the choice of parts in ``bar``, and above it that a link names one that is not here."""
    shown: dict[str, str] = {name: words(text) for name, text in PARTS.items() if may(_NEEDED.get(name, "viewer"))}
    shown |= {name: title for name, (title, _) in further_parts(engine, words).items()}
    asked = st.query_params.get("part", "health")
    if asked not in shown:
        away = N_("Tokens and the log of changes are part of the plug-in `team`, which is not here.")
        without = asked == "people" and not panels("system")
        st.info(words(away if without else "This link names a part of System that is not here."))
    with bar:
        return chosen_view("system", words("View"), shown, parameter="part")


def again_button(words: Words, bar: DeltaGenerator) -> bool:
    """Draw the button that asks again, next to the choice of parts."""
    return bar.button(words("Check again"), icon=":material/refresh:", key="system_again")


def go_to(part: Part) -> None:
    """Show another part; ends this run of the page."""
    aim_at("system", part)
    st.rerun()
