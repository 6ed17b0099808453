"""The jobs of the Knowledge page, from every view and from before a restart: followed, stopped, resumed, put away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from components.common.amounts import count_text, span_text, utc
from components.common.controls import download, table_csv
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, fold, gauge, node
from components.common.phrases import fault_text
from components.common.run_link import settings_in_url
from components.knowledge.draw import draw_knowledge
from components.labels import JOB_KINDS, JOB_STATES, KEPT
from engine.engine import Engine
from engine.flow import first_that
from engine.library.accounts import counts_left_out, note_text
from engine.library.values import JobState, JobStatus
from engine.messages import N_, NC_
from engine.model.config import RunConfig
from engine.model.values import EXPECTED, Fault
from pages.parts.common.following import redraw_when
from pages.parts.common.rights import may
from pages.parts.common.views import FIRST_DRAFTS, want_drafts
from pages.parts.knowledge.state import attempt, go_to

_WATCH_S = 0.5
_DONE_SHOWN = 3
"""Finished jobs that stand open."""
_SHOWN = 50
"""Names of one sort that a card lists."""
_FEW = 5
"""So many names stand open."""
_CSV = (N_("File"), N_("Code"), N_("Reason"), N_("Remedy"))
_INDEX = N_("The server is still building it; searches find less until it is done. Resume waits and measures.")
_COUNT = {
    "added": N_("new"),
    "replaced": N_("changed"),
    "skipped": N_("already there"),
    "failed": N_("unusable"),
}
_ENDED: dict[JobState, tuple[str, str]] = {
    "waiting": ("grey", "…"),
    "done": ("pass", "✓"),
    "stopped": ("warn", "■"),
    "failed": ("fault", "✗"),
    "interrupted": ("warn", "!"),
}


def panel(engine: Engine, words: Words) -> None:
    """Draw every job as a card, newest first; nothing where there are none. The page is redrawn when one ends."""
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
            with st.expander(f"{words('done')} ({len(done)})", key="kb_jobs_earlier"):
                for job in done:
                    card(engine, job, words)

    watch()


def card(engine: Engine, job: JobStatus, words: Words) -> None:
    """Draw one job with the list of the files that it left out, and do what is pressed."""
    with st.container(gap="xsmall"):
        pressed = view(job, words, key=f"kb_job_{job.id}")
        if job.over and job.failed:
            download(
                f"{words('unusable')} (CSV)",
                lambda: failed_csv(job.failed, words),
                f"left-out-{job.collection}.csv",
                key=f"kb_failed_{job.id}",
                type="tertiary",
            )
    if pressed is not None:
        _act(engine, job, pressed)


def _act(engine: Engine, job: JobStatus, pressed: str) -> None:
    match pressed:
        case "stop":
            attempt(lambda: engine.ingestions.stop(job.id))
        case "resume":
            attempt(lambda: engine.ingestions.resume(job.id))
        case "discard":
            attempt(lambda: engine.ingestions.discard(job.id))
        case "ask":
            loop = RunConfig(workflow=first_that(lambda own: own.in_modes))
            how = settings_in_url(loop) if job.kind == "graph" else {}
            st.switch_page("workbench.py", query_params={"collection": job.collection, **how})
        case "draft":
            want_drafts(job.collection)
        case "look":
            go_to("graph" if job.kind == "graph" else "collections", job.collection)
    st.rerun()


def note(engine: Engine, words: Words) -> None:
    """On the other views: one line that says that something is running or waits to be resumed, with the way there."""
    jobs = engine.ingestions.jobs()
    running = sum(not job.over for job in jobs)
    waiting = sum(job.resumable for job in jobs)
    if not running and not waiting:
        return
    said = [f"{words('running')} {running}"] if running else []
    said += [f"{words('unfinished')} {waiting}"] if waiting else []
    drawn = shape(jobs)
    with st.container(horizontal=True, vertical_alignment="center", key="kb_jobs_line"):
        st.caption(f":material/sync: {words('Jobs')} · {' · '.join(said)}", width="content")
        if may("editor") and st.button(words("Show"), type="tertiary", key="kb_jobs_open"):
            go_to("add")
    if running:
        redraw_when(lambda: shape(engine.ingestions.jobs()) != drawn, _WATCH_S)


def shape(jobs: Sequence[JobStatus]) -> tuple[tuple[str, bool], ...]:
    """Return the jobs and which of them have ended: when this changes, the rest of the page has changed too."""
    return tuple((job.id, job.over) for job in jobs)


def failed_csv(failed: Sequence[tuple[str, Fault]], words: Words) -> bytes:
    """Files that were left out, one a row with code, reason and remedy; UTF-8 with a byte order mark."""
    rows = ((name, fault.code, *fault_text(fault, words)) for name, fault in failed)
    return table_csv([words(text) for text in _CSV], rows)


def view(job: JobStatus, words: Words, *, key: str) -> str | None:
    """Draw a job as a card; returns ``stop``, ``resume``, ``discard``, ``ask`` or ``look`` where one was pressed.

    Names of files are untrusted, and are drawn as text.
    """
    press, _, job_id = (draw_knowledge((_card(job, words),), words, key=key) or "").partition(":")
    return press if job_id == job.id else None


def _card(job: JobStatus, words: Words) -> Node:
    title = f"{words(JOB_KINDS[job.kind])} · {job.collection}"
    look, sign = _ENDED.get(job.state, ("accent", "●"))
    head = node(
        "div",
        "head",
        node("strong", "", title),
        chip(look, f"{sign} {words(JOB_STATES[job.state])}"),
        node("span", "grow"),
        node("span", "muted small num", utc(job.started_at)),
    )
    parts = [head, *(_progress(job, words) if job.state != "done" else ()), *_outcome(job, words)]
    if buttons := _buttons(job, words):
        parts.append(node("div", "actions", *buttons))
    return node("section", f"card job {job.state}", *parts, aria_label=title)


def _progress(job: JobStatus, words: Words) -> list[Node]:
    """Show a bar, figures, and the current file."""
    share = job.done / job.total if job.total else 0.0
    unknown = not job.total and not job.over and job.state != "waiting"
    bar = gauge(share, words(JOB_STATES[job.state]), moving=unknown, look="bar")
    now = (node("div", "muted small clip", job.source, title=job.source),) if job.source and not job.over else ()
    return [bar, node("div", "small num", " · ".join(_figures(job, words))), *now]


def _figures(job: JobStatus, words: Words) -> Iterable[str]:
    """Yield how far a job is, its rate and the time that remains, each as far as it is known."""
    if job.state == "waiting":
        return
    if job.state == "summarising":
        yield f"{words(NC_('graph', 'Communities'))} {job.files_done}/{job.files}"
        return
    if job.files and job.kind not in ("graph", "index"):
        yield f"{words('Files')} {job.files_done}/{job.files}"
    if not job.total:
        return
    yield f"{words('Passages')} {count_text(job.done)}/{count_text(job.total)}"
    if not job.over and job.per_second:
        yield f"{job.per_second:.1f}/s"
        if job.remaining_s is not None:
            yield words("{time} left", time=span_text(job.remaining_s))
    if job.entities:
        yield from _graph(job, words)


def _graph(job: JobStatus, words: Words) -> list[str]:
    return [
        f"{words('Entities')} {count_text(job.entities)}",
        f"{words(NC_('graph', 'Relationships'))} {count_text(job.relationships)}",
    ]


def _outcome(job: JobStatus, words: Words) -> list[Node]:
    """Show the result so far: counts while it is running, the whole report at the end."""
    parts: list[Node] = []
    if job.fault is not None:
        fact, remedy = fault_text(job.fault, words)
        code = node("span", "muted small", job.fault.code)
        parts.append(box("fault", "", node("strong", "", fact), " ", node("span", "", remedy), aside=(code,)))
    if job.state in ("stopped", "interrupted"):
        said = _INDEX if job.kind == "index" else KEPT
        parts.append(node("p", "small muted", words(said)))
    if job.state == "done":
        parts.append(node("p", "outcome", " · ".join(_sum(job, words))))
    if counts := _counts(job, words):
        parts.append(node("div", "chips", *counts))
    return [*parts, *_report(job, words)] if job.over else parts


def _sum(job: JobStatus, words: Words) -> list[str]:
    """What came of a job, and how long it took: ``6 sources · 16 passages · 20 s``."""
    sources = len(job.added) + len(job.replaced)
    if job.kind == "ingest" and not sources:
        return [words("Nothing new here.")]
    found = [words.count("1 source", "{n} sources", sources)] if sources else []
    passages = job.done if job.kind == "graph" else job.passages
    found.append(words.count("1 passage", "{n} passages", passages))
    if job.kind == "graph":
        found += [*_graph(job, words), f"{words(NC_('graph', 'Communities'))} {count_text(job.communities)}"]
    return [*found, span_text(job.seconds)] if job.seconds else found


def _counts(job: JobStatus, words: Words) -> list[Node]:
    named = (
        ("pass", "✓", "added", len(job.added)),
        ("pass", "↻", "replaced", len(job.replaced)),
        ("grey", "=", "skipped", len(job.skipped)),
        ("warn", "✗", "failed", sum(not counts_left_out(fault) for _, fault in job.failed)),
    )
    chips = [chip(look, f"{sign} {words(_COUNT[name])} {n}") for look, sign, name, n in named if n]
    if job.unreadable:
        said = _unreadable(job, words)
        chips.append(chip("warn", f"✗ {said}"))
    return chips


def _unreadable(job: JobStatus, words: Words) -> str:
    if job.kind == "graph":
        return words.count("1 unreadable reply", "{n} unreadable replies", job.unreadable)
    return words.count("1 passage without a sentence", "{n} passages without a sentence", job.unreadable)


def _report(job: JobStatus, words: Words) -> list[Node]:
    """Every file by what became of it; those that failed stand open, with their reasons."""
    noted: dict[str, list[str]] = {}
    for name, item in job.notes:
        noted.setdefault(name, []).append(note_text(item, words))
    said = {name: " · ".join(texts) for name, texts in noted.items()}
    partly = {name: said[name] for name, item in job.notes if item.code not in EXPECTED}
    failed = [_line("warn", "✗", name, " ".join(fault_text(fault, words))) for name, fault in job.failed]
    read_in_part = [_line("warn", "!", name, text) for name, text in partly.items()]
    others = [
        *(_line("pass", "✓", name, said.get(name, "")) for name in job.added if name not in partly),
        *(_line("pass", "↻", name, said.get(name, "")) for name in job.replaced if name not in partly),
        *(_line("muted", "=", name, f"{words('already there')}: {same}") for name, same in job.skipped),
    ]
    parts = [_list(lines, words) for lines in (failed, read_in_part) if lines]
    if len(others) > _FEW:
        parts.append(fold(f"files-{job.id}", words.count("1 file", "{n} files", len(others)), _list(others, words)))
    elif others:
        parts.append(_list(others, words))
    return parts


def _list(lines: Sequence[Node], words: Words) -> Node:
    more = [node("li", "muted", words("… and {n} more", n=len(lines) - _SHOWN))] if len(lines) > _SHOWN else []
    return node("ul", "report", *lines[:_SHOWN], *more)


def _line(look: str, sign: str, text: str, more: str = "") -> Node:
    sign_node = node("span", f"sign {look}", sign, aria_hidden="true")
    return node("li", "", sign_node, node("span", "", text), node("div", "muted small", more) if more else "")


def _buttons(job: JobStatus, words: Words) -> list[Node]:
    if not job.over:
        return [button(words("Stop"), f"stop:{job.id}")]
    discard = button(words("Discard"), f"discard:{job.id}", "button quiet")
    if job.resumable:
        return [button(words("Resume"), f"resume:{job.id}", "button primary"), discard]
    ask = button(words(NC_("page", "Ask")), f"ask:{job.id}", "button primary")
    draft = button(words("Draft {n} questions", n=FIRST_DRAFTS), f"draft:{job.id}")
    return [ask, *([draft] if job.kind == "ingest" else []), button(words("Show"), f"look:{job.id}"), discard]
