"""The view Jobs of the page System: every job in one list, of whatever kind, with what can be done about it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.amounts import count_text, size_text, span_text, utc
from components.common.i18n import Words
from components.common.markup import Node, button, chip, node, table
from components.labels import JOB_KINDS, JOB_STATES, KEPT
from components.system.draw import draw_system, fault_nodes
from engine.engine import Engine
from engine.library.values import Job
from engine.messages import N_
from pages.parts.common.actions import run_action, say_fault
from pages.parts.common.rights import may

_WATCH_S = 2.0
_BY = N_("By")
_HEAD = (N_("Jobs"), N_("State"), N_("Done"), N_("Created"), _BY, "")
_LOOKS = {"done": "pass", "failed": "fault", "stopped": "warn", "interrupted": "warn", "waiting": "grey"}


def panel(engine: Engine, words: Words) -> None:
    """Draw the list, followed while a job is running."""
    going = any(not job.over for job in engine.jobs.all())

    @st.fragment(run_every=_WATCH_S if going else None)
    def watch() -> None:
        say_fault("jobs", words)
        found = engine.jobs.all()
        if going and all(job.over for job in found):
            st.rerun()
        action, _, job_id = (view(found, words, key="jobs") or "").partition(":")
        if not found and may("editor"):
            st.page_link("knowledge.py", label=words("Add files"), icon=":material/add:", query_params={"view": "add"})
        act = {"stop": engine.jobs.stop, "resume": engine.jobs.resume, "discard": engine.ingestions.discard}.get(action)
        if act is not None:
            run_action("jobs", lambda: act(job_id))
            st.rerun()

    watch()


def view(jobs: Sequence[Job], words: Words, *, key: str) -> str | None:
    """Draw the list; returns a press as ``stop:ID``, ``resume:ID`` or ``discard:ID``."""
    if not jobs:
        return draw_system((node("p", "muted", words("Nothing yet.")),), words, key=key)
    people = any(job.author for job in jobs)
    head = [text and words(text) for text in _HEAD if people or text != _BY]
    rows = [job_row(job, words, people=people) for job in jobs]
    return draw_system((table("sheet jobs", head, rows),), words, key=key)


def job_row(job: Job, words: Words, *, people: bool) -> list[Node | str]:
    """Build the cells of a job; the person who began it only where ``people`` sign in."""
    state: list[Node | str] = [chip(_LOOKS.get(job.state, "accent"), words(JOB_STATES[job.state]))]
    if job.fault is not None:
        state += fault_nodes(job.fault, words)
    elif job.state == "interrupted":
        state.append(node("div", "small muted", words(KEPT)))
    return [
        f"{words(JOB_KINDS[job.kind])} · {job.title}",
        node("div", "", *state),
        node("div", "num", *_done(job, words)),
        utc(job.started_at),
        *([job.author] if people else []),
        node("div", "actions", *_buttons(job, words)),
    ]


def _done(job: Job, words: Words) -> list[Node | str]:
    amount = size_text if job.kind == "pull" else count_text
    if not job.total:
        return []
    parts: list[Node | str] = [words("{done} of {total}", done=amount(job.done), total=amount(job.total))]
    if not job.over and job.per_second:
        rate = size_text(round(job.per_second)) if job.kind == "pull" else f"{job.per_second:.1f}"
        parts.append(node("div", "small muted", f"{rate}/s"))
    if not job.over and job.remaining_s is not None:
        parts.append(node("div", "small muted", words("{time} left", time=span_text(job.remaining_s))))
    return parts


def _buttons(job: Job, words: Words) -> list[Node | str]:
    if not job.over:
        return [button(words("Stop"), f"stop:{job.id}")]
    made: list[Node | str] = [button(words("Resume"), f"resume:{job.id}")] if job.state != "done" else []
    if job.kind != "batch":  # its runs and figures are on the page Tune, which deletes them with their set
        made.append(button(words("Discard"), f"discard:{job.id}", "button quiet"))
    return made
