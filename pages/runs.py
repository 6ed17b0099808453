"""The page Runs: the list of runs, two of them compared, one question through several workflows, one run presented."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from components.common.i18n import Words
from engine.api.process import get_engine
from engine.engine import Engine
from engine.messages import N_, NC_
from pages.parts.common.views import chosen_view
from pages.parts.runs.compare import compare_view
from pages.parts.runs.present import stage_view
from pages.parts.runs.run_list import list_view
from pages.parts.runs.side_by_side import loops_view

View = Literal["list", "compare", "loops", "present"]
VIEW_NAMES: dict[View, str] = {
    "list": N_("List"),
    "compare": N_("Compare"),
    "loops": N_("Side by side"),
    "present": N_("Present"),
}

engine: Engine = get_engine()
words: Words = st.session_state["words"]


def page() -> None:
    with st.container(key="runs_head", horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(f"#### {words(NC_('runs', 'Runs'))}", width="content")
        view = chosen_view("runs", words("View"), {name: words(text) for name, text in VIEW_NAMES.items()})
    match view:
        case "list":
            list_view(engine, words)
        case "compare":
            compare_view(engine, words)
        case "loops":
            loops_view(engine, words)
        case "present":
            stage_view(engine, words)


page()
