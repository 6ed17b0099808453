"""The page System: what the workbench runs on, how it is, and what to do where something is missing."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from engine.api.process import get_engine
from engine.engine import Engine
from engine.errors import WorkbenchError
from pages.parts.common.actions import retry_box
from pages.parts.system import diagnosis, health, jobs, models, programs, settings
from pages.parts.system.state import chosen_part, further_parts

engine: Engine = get_engine()
words: Words = st.session_state["words"]


def page() -> None:
    st.markdown(f"#### {words('System')}")
    note, bar = st.container(), st.container(horizontal=True, vertical_alignment="center", key="system_bar")
    with note:
        part = chosen_part(engine, words, bar)
    try:
        match part:
            case "health":
                health.panel(engine, words, bar)
            case "models":
                models.panel(engine, words, bar)
            case "jobs":
                jobs.panel(engine, words)
            case "settings":
                settings.panel(engine, words)
            case "programs":
                programs.panel(engine, words)
            case "diagnosis":
                diagnosis.panel(engine, words, bar)
            case _:
                _, draw = further_parts(engine, words)[part]
                draw()
    except WorkbenchError as error:
        retry_box(error, words, key="system_fault")


page()
