"""The page System: what the workbench runs on, how it is, and what to do where something is missing."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from engine.api.process import get_engine
from engine.engine import Engine
from engine.errors import WorkbenchError
from pages.parts.common.actions import retry_box
from pages.parts.system.health import health_part
from pages.parts.system.jobs import jobs_panel
from pages.parts.system.models import models_part
from pages.parts.system.programs import programs_part
from pages.parts.system.state import chosen_part, further_parts, gone
from pages.parts.system.tables import diagnosis_part, settings_part

engine: Engine = get_engine()
words: Words = st.session_state["words"]


def page() -> None:
    st.markdown(f"#### {words('System')}")
    st.caption(words("What this workbench runs on: its parts, its models, and what to do where one fails."))
    if said := gone(st.query_params.get("part", "")):
        st.info(words(said))
    bar = st.container(horizontal=True, vertical_alignment="center", key="system_bar")
    with bar:
        part = chosen_part(engine, words)
    try:
        draw(part, bar)
    except WorkbenchError as error:
        retry_box(error, words, key="system_fault")


def draw(part: str, bar: DeltaGenerator) -> None:
    match part:
        case "health":
            health_part(engine, words, bar)
        case "models":
            models_part(engine, words, bar)
        case "jobs":
            jobs_panel(engine, words)
        case "settings":
            settings_part(engine, words)
        case "programs":
            programs_part(engine, words)
        case "diagnosis":
            diagnosis_part(engine, words, bar)
        case _:
            _, draw_it = further_parts(engine, words)[part]
            draw_it()


page()
