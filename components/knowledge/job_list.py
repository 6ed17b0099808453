"""Ingestions and other long jobs as cards: their progress and results. Names of files are shown as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from components.common.amounts import count_text, moment, span_text
from components.common.controls import table_csv
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, fold, gauge, node
from components.common.phrases import fault_text
from components.knowledge.draw import draw_knowledge
from components.labels import JOB_KINDS, JOB_STATES
from engine.library.accounts import counts_left_out, note_text
from engine.library.values import JobState, JobStatus
from engine.messages import N_, NC_
from engine.model.values import EXPECTED, Fault

_CSV = {
    "name": N_("file"),
    "code": N_("code"),
    "fact": NC_("knowledge", "reason"),
    "remedy": N_("remedy"),
}

_JOB_NOTES = {
    "stopped": N_(
        "Sources that were complete are in; no half source is. What was embedded is kept: it resumes from here."
    ),
    "interrupted": N_(
        "The workbench ended while this went on. What was embedded is kept: resuming continues from here, with no "
        "duplicates."
    ),
}

_NOTE_OF = {
    "graph": N_("What was read is in the graph: resuming continues from here and reads nothing twice."),
    "index": N_("The server builds on by itself; searches find less until it is done. Resuming waits and measures."),
}

_DONE = {
    "reembed": N_("re-embedded: {passages}"),
    "add_full_text": N_("{passages} can be searched by words now"),
    "index": N_("index measured against {passages}"),
}

_COUNT = {
    "added": N_("{n} added"),
    "replaced": N_("{n} replaced"),
    "skipped": N_("{n} skipped"),
    "failed": N_("{n} could not be used"),
}

JobPress = Literal["stop", "resume", "discard", "ask", "look"]

_LOOKS: dict[JobState, tuple[str, str]] = {
    "waiting": ("grey", "…"),
    "reading": ("accent", "●"),
    "embedding": ("accent", "●"),
    "writing": ("accent", "●"),
    "extracting": ("accent", "●"),
    "summarising": ("accent", "●"),
    "indexing": ("accent", "●"),
    "measuring": ("accent", "●"),
    "downloading": ("accent", "●"),
    "done": ("pass", "✓"),
    "stopped": ("warn", "■"),
    "failed": ("fault", "✗"),
    "interrupted": ("warn", "!"),
}
_SHOWN = 50
"""Names of one sort that a card lists."""
_FEW = 5
"""So many names stand open."""


@dataclass(frozen=True, slots=True)
class JobEvent:
    """A button of a card that was pressed."""

    press: JobPress
    job_id: str


def job_list(jobs: Sequence[JobStatus], words: Words, *, key: str) -> JobEvent | None:
    """Draw a card for each job, in the order given; returns what was pressed in this rerun."""
    action = draw_knowledge([_card(job, words) for job in jobs], words, key=key)
    press, _, job_id = (action or "").partition(":")
    known = job_id in {job.id for job in jobs}
    return JobEvent(cast(JobPress, press), job_id) if known else None


def failed_csv(failed: Sequence[tuple[str, Fault]], words: Words) -> bytes:
    """Files that were left out, one a row with code, reason and remedy; UTF-8 with a byte order mark."""
    head = [words(text) for text in _CSV.values()]
    return table_csv(head, ((name, fault.code, *fault_text(fault, words)) for name, fault in failed))


def _card(job: JobStatus, words: Words) -> Node:
    look, sign = _LOOKS[job.state]
    head = node(
        "div",
        "head",
        node("strong", "", words(JOB_KINDS[job.kind], name=job.collection)),
        chip(look, f"{sign} {words(JOB_STATES[job.state])}"),
        node("span", "grow"),
        node("span", "muted small num", words("{when} UTC", when=moment(job.started_at))),
    )
    parts = [head, *(_way(job, words) if job.state != "done" else ()), *_outcome(job, words)]
    buttons = _buttons(job, words)
    if buttons:
        parts.append(node("div", "actions", *buttons))
    return node("section", f"card job {job.state}", *parts, aria_label=words(JOB_KINDS[job.kind], name=job.collection))


def _way(job: JobStatus, words: Words) -> list[Node]:
    """Show progress: a bar, figures, the current file."""
    share = job.done / job.total if job.total else 0.0
    unknown = not job.total and not job.over and job.state != "waiting"
    bar = gauge(share, words(JOB_STATES[job.state]), moving=unknown, look="bar")
    now = (node("div", "muted small clip", job.source, title=job.source),) if job.source and not job.over else ()
    return [bar, node("div", "small num", _figures(job, words)), *now]


def _figures(job: JobStatus, words: Words) -> str:
    if job.state == "waiting":
        return words("Another job into this collection goes first.")
    if job.kind == "graph":
        return _read(job, words)
    if job.kind == "index":
        return _passages(job, words) if job.total else words(JOB_STATES[job.state])
    if not job.total:
        return (
            words("{done} of {n} files read", done=job.files_done, n=job.files)
            if job.files
            else words("Reading the files …")
        )
    return f"{words('{done} of {n} files', done=job.files_done, n=job.files)} · {_passages(job, words)}"


def _read(job: JobStatus, words: Words) -> str:
    """Describe the progress of graph extraction and its results."""
    if job.state == "summarising":
        return words("{done} of {n} communities summed up", done=job.files_done, n=job.files)
    if not job.total:
        return words("Not finished." if job.over else "Looking for what was read already …")
    counts = {"entities": count_text(job.entities), "relationships": count_text(job.relationships)}
    found = (
        f" · {words('{entities} entities and {relationships} relationships so far', **counts)}" if job.entities else ""
    )
    return f"{_passages(job, words)}{found}"


def _passages(job: JobStatus, words: Words) -> str:
    done, total = count_text(job.done), count_text(job.total)
    if job.over or not job.per_second:
        return words("{done} of {total} passages", done=done, total=total)
    left = span_text(job.remaining_s) if job.remaining_s is not None else "…"
    return words(
        "{done} of {total} passages · {rate} per second · {left} left",
        done=done,
        total=total,
        rate=f"{job.per_second:.1f}",
        left=left,
    )


def _outcome(job: JobStatus, words: Words) -> list[Node]:
    """Show the result so far: counts while it is running, the whole report at the end."""
    parts: list[Node] = []
    if job.fault is not None:
        fact, remedy = fault_text(job.fault, words)
        code = node("span", "muted small", job.fault.code)
        parts.append(box("fault", "", node("strong", "", fact), " ", node("span", "", remedy), beside=(code,)))
    if job.state in ("stopped", "interrupted"):
        parts.append(node("p", "small muted", words(_NOTE_OF.get(job.kind) or _JOB_NOTES[job.state])))
    if job.state == "done":
        parts.append(node("p", "outcome", _sum(job, words)))
    counts = _counts(job, words)
    if counts:
        parts.append(node("div", "chips", *counts))
    return [*parts, *_report(job, words)] if job.over else parts


def _sum(job: JobStatus, words: Words) -> str:
    sources = len(job.added) + len(job.replaced)
    passages = words.count("1 passage", "{n} passages", job.passages)
    if job.kind == "graph":
        counts = {name: count_text(getattr(job, name)) for name in ("entities", "relationships", "communities")}
        head = words(
            "{passages} read: {entities} entities, {relationships} relationships, {communities} communities",
            passages=words.count("1 passage", "{n} passages", job.done),
            **counts,
        )
    elif job.kind != "ingest":
        head = words(_DONE[job.kind], passages=passages)
    elif sources:
        head = words.count(
            "1 source with {passages} went in", "{n} sources with {passages} went in", sources, passages=passages
        )
    else:
        return words("Nothing new went in.")
    return words("{what} in {time}", what=head, time=span_text(job.seconds)) if job.seconds else head


def _counts(job: JobStatus, words: Words) -> list[Node]:
    named = (
        ("pass", "✓", "added", len(job.added)),
        ("pass", "↻", "replaced", len(job.replaced)),
        ("grey", "=", "skipped", len(job.skipped)),
        ("warn", "✗", "failed", sum(not counts_left_out(fault) for _, fault in job.failed)),
    )
    chips = [chip(look, f"{sign} {words(_COUNT[name], n=n)}") for look, sign, name, n in named if n]
    if job.unreadable:
        said = words.count("1 reply could not be read", "{n} replies could not be read", job.unreadable)
        chips.append(chip("warn", f"✗ {said}"))
    return chips


def _report(job: JobStatus, words: Words) -> list[Node]:
    """Every file by what became of it; those that failed stand open, with their reasons."""
    parts = []
    if job.failed:
        lines = [_failed(name, fault, words) for name, fault in job.failed]
        parts.append(node("ul", "report", *lines[:_SHOWN], *_more(len(lines), words)))
    noted: dict[str, list[str]] = {}
    for name, note in job.notes:
        noted.setdefault(name, []).append(note_text(note, words))
    partly = {name for name, note in job.notes if note.code not in EXPECTED}
    said = {name: " · ".join(texts) for name, texts in noted.items()}
    if partly:
        lines = [
            _line("warn", "!", words("{name} went in:", name=name), said[name]) for name in noted if name in partly
        ]
        parts.append(node("ul", "report", *lines[:_SHOWN], *_more(len(lines), words)))
    gone_in = [
        *(
            _line("pass", "✓", words("{name}", name=name), said.get(name, ""))
            for name in job.added
            if name not in partly
        ),
        *(
            _line("pass", "↻", words("{name}: content had changed, replaced", name=name), said.get(name, ""))
            for name in job.replaced
            if name not in partly
        ),
        *(
            _line("muted", "=", words("{name}: already in this collection as {same}, skipped", name=name, same=same))
            for name, same in job.skipped
        ),
    ]
    if gone_in:
        listed = node("ul", "report", *gone_in[:_SHOWN], *_more(len(gone_in), words))
        label = words.count("1 file that was dealt with", "{n} files that were dealt with", len(gone_in))
        parts.append(fold(f"files-{job.id}", label, listed) if len(gone_in) > _FEW else listed)
    return parts


def _failed(name: str, fault: Fault, words: Words) -> Node:
    fact, remedy = fault_text(fault, words)
    return _line("warn", "✗", words("{name} was left out:", name=name), f"{fact} {remedy}")


def _line(look: str, sign: str, text: str, more: str = "") -> Node:
    sign_node = node("span", f"sign {look}", sign, aria_hidden="true")
    return node("li", "", sign_node, node("span", "", text), node("div", "muted small", more) if more else "")


def _more(number: int, words: Words) -> list[Node]:
    return [node("li", "muted", words("… and {n} more", n=number - _SHOWN))] if number > _SHOWN else []


def _buttons(job: JobStatus, words: Words) -> list[Node]:
    if not job.over:
        return [button(words("Stop"), f"stop:{job.id}")]
    if job.resumable:
        discard = button(words("Discard"), f"discard:{job.id}", "button quiet")
        return [button(words("Resume"), f"resume:{job.id}", "button primary"), discard]
    return [
        button(words(NC_("knowledge", "Ask it")), f"ask:{job.id}", "button primary"),
        button(words(NC_("knowledge", "Look at it") if job.kind == "graph" else "Look at it"), f"look:{job.id}"),
        button(words("Clear"), f"discard:{job.id}", "button quiet"),
    ]
