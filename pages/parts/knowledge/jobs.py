"""The jobs of the Knowledge page, from every tab and from before a restart: followed, stopped, resumed, put away."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.controls import download
from components.common.i18n import Words
from components.common.run_link import settings_in_url
from components.knowledge.job_list import JobEvent, failed_csv, job_list
from engine.engine import Engine
from engine.flow import first_that
from engine.library.values import JobStatus
from engine.model.config import RunConfig
from pages.parts.common.following import redraw_when
from pages.parts.common.rights import may
from pages.parts.knowledge.state import attempt, go_to

_WATCH_S = 0.5
_DONE_SHOWN = 3
"""Finished jobs that stand open."""


def jobs_panel(engine: Engine, words: Words) -> None:
    """Every job as a card, newest first; nothing where there are none. The page is redrawn when one ends."""
    drawn = shape(engine.ingestions.jobs())
    if not drawn:
        return
    st.markdown(f"##### {words('Jobs')}")
    active = any(not over for _, over in drawn)

    @st.fragment(run_every=_WATCH_S if active else None)
    def watch() -> None:
        jobs = engine.ingestions.jobs()
        if shape(jobs) != drawn:
            st.rerun()
        done = [job for job in jobs if job.state == "done"][_DONE_SHOWN:]
        for job in jobs:
            if job not in done:
                card(engine, job, words)
        if done:
            with st.expander(words("Earlier jobs ({n})", n=len(done)), key="kb_jobs_earlier"):
                for job in done:
                    card(engine, job, words)

    watch()


def card(engine: Engine, job: JobStatus, words: Words) -> None:
    """One job, and the list of the files that it left out."""
    with st.container(gap="xsmall"):
        event = job_list((job,), words, key=f"kb_job_{job.id}")
        failed_button(job, words)
    if event is not None:
        act(engine, job, event)


def jobs_note(engine: Engine, words: Words) -> None:
    """On the other views: one line that says that something continues or waits to be resumed, with the way there."""
    jobs = engine.ingestions.jobs()
    going = sum(not job.over for job in jobs)
    waiting = sum(job.resumable for job in jobs)
    if not going and not waiting:
        return
    told = [words.count("1 job is going on", "{n} jobs are going on", going)] if going else []
    told += [words.count("1 job can be resumed", "{n} jobs can be resumed", waiting)] if waiting else []
    drawn = shape(jobs)

    with st.container(horizontal=True, vertical_alignment="center", key="kb_jobs_line"):
        st.caption(f":material/sync: {' · '.join(told)}", width="content")
        if may("editor") and st.button(words("Show"), type="tertiary", key="kb_jobs_open"):
            go_to("add")
    if going:
        redraw_when(lambda: shape(engine.ingestions.jobs()) != drawn, _WATCH_S)


def shape(jobs: Sequence[JobStatus]) -> tuple[tuple[str, bool], ...]:
    """Return the jobs and which of them have ended: when this changes, the rest of the page has changed too."""
    return tuple((job.id, job.over) for job in jobs)


def failed_button(job: JobStatus, words: Words) -> None:
    if not job.over or not job.failed:
        return
    download(
        words("Left-out files as CSV"),
        lambda: failed_csv(job.failed, words),
        f"left-out-{job.collection}.csv",
        key=f"kb_failed_{job.id}",
        type="tertiary",
    )


def act(engine: Engine, job: JobStatus, event: JobEvent) -> None:
    """Do what was pressed on a card."""
    match event.press:
        case "stop":
            attempt(lambda: engine.ingestions.stop(job.id))
        case "resume":
            attempt(lambda: engine.ingestions.resume(job.id))
        case "discard":
            attempt(lambda: engine.ingestions.discard(job.id))
        case "ask":
            how = (
                settings_in_url(RunConfig(workflow=first_that(lambda own: own.in_modes))) if job.kind == "graph" else {}
            )
            st.switch_page("workbench.py", query_params={"collection": job.collection, **how})
        case "look":
            go_to("graph" if job.kind == "graph" else "collections", job.collection)
    st.rerun()
