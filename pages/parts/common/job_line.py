"""The line at the top of the other pages that follows the jobs that go on, and leads to the page Knowledge."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.knowledge.job_line import job_line
from engine.engine import Engine

_WATCH_S = 2.0


def show_job_line(engine: Engine, words: Words) -> None:
    """Draw the line while a job runs; without one, neither a line nor a timer."""
    if not job_line(engine.ingestions.jobs(), words):
        return

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        text = job_line(engine.ingestions.jobs(), words)
        if not text:
            st.rerun()
        st.page_link("knowledge.py", label=text, icon=":material/sync:", help=words("Jobs on the page Knowledge"))

    with st.container(key="job_line", width="content"):
        watch()
