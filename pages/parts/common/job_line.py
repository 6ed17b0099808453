"""The line at the top of the other pages that follows the jobs in progress, and leads to the page Knowledge."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.amounts import count_text, span_text
from components.common.i18n import Words
from components.labels import JOB_KINDS, JOB_STATES
from engine.engine import Engine
from engine.library.values import JobStatus

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
        st.page_link("knowledge.py", label=text, icon=":material/sync:", query_params={"view": "add"})

    with st.container(key="job_line", width="content"):
        watch()


def job_line(jobs: Sequence[JobStatus], words: Words) -> str:
    """Say what the first running job has done and how many more run; empty where none does."""
    going = [job for job in jobs if not job.over]
    if not going:
        return ""
    # One that waits for another says nothing of how far it is.
    first = next((job for job in going if job.total), going[0])
    name = f"{words(JOB_KINDS[first.kind])} · {first.collection}"
    if first.total and first.remaining_s is not None:
        done, total = count_text(first.done), count_text(first.total)
        text = words(
            "{name} · {done}/{total} passages · {left} left",
            name=name,
            done=done,
            total=total,
            left=span_text(first.remaining_s),
        )
    else:
        text = f"{name} · {words(JOB_STATES[first.state])}"
    return text + (words.count(" · 1 more job", " · {n} more jobs", len(going) - 1) if len(going) > 1 else "")
