"""Runs offered for comparison, and their names in a picker."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from components.common.i18n import Words
from components.common.outcomes import ended_text, outcome_text
from components.common.phrases import workflow_text
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import USUAL
from engine.samples.demos import all_demos

_MOST = 200
_LONGEST_QUESTION = 70


@dataclass(frozen=True, slots=True)
class RunChoice:
    """One run of a picker; ``label`` is what one reads and searches, and no two are equal."""

    id: str
    label: str


def run_choices(engine: Engine, words: Words, opened: str, wanted: tuple[str, ...]) -> dict[str, RunChoice]:
    """The runs by id: the open one first, then the newest, then the demos; ``wanted`` are offered even if unknown."""
    made: dict[str, RunChoice] = {}
    for run_id in (opened, *wanted):
        if run_id and run_id not in made and (found := _of_record(engine, run_id, words, run_id == opened)):
            made[run_id] = found
    try:
        summaries = engine.runs(_MOST)
    except WorkbenchError:
        summaries = []
    for item in summaries:
        ended = outcome_text(item.outcome, words, item.answer_note)
        made.setdefault(item.id, _choice(item.id, item.question, ended, item.started_at, words, workflow=item.workflow))
    for demo in all_demos():
        label = f"{words('demo')} · {demo.question[:_LONGEST_QUESTION]} · {demo.id}"
        made.setdefault(demo.id, RunChoice(demo.id, label))
    for run_id in wanted:
        if run_id:
            # A run that was deleted stays chosen: the page says that it is gone instead of choosing another.
            made.setdefault(run_id, RunChoice(run_id, run_id))
    return made


def _of_record(engine: Engine, run_id: str, words: Words, opened: bool) -> RunChoice | None:
    try:
        record = engine.record(run_id)
    except WorkbenchError:
        return None
    note = words("open on Ask") if opened else ""
    return _choice(
        record.id,
        record.question,
        ended_text(record, words),
        record.started_at,
        words,
        workflow=record.workflow,
        note=note,
    )


def _choice(
    run_id: str,
    question: str,
    ended: str,
    started: str,
    words: Words,
    *,
    workflow: str,
    note: str = "",
) -> RunChoice:
    """Named by what a reader remembers of it; the usual workflow goes unsaid, as in the list of runs."""
    short = " ".join(question.split())
    short = short if len(short) <= _LONGEST_QUESTION else f"{short[:_LONGEST_QUESTION]}…"
    loop = workflow_text(workflow, words) if workflow != USUAL else ""
    parts = (short, loop, ended, _clock(started), run_id[:8], note)
    return RunChoice(run_id, " · ".join(part for part in parts if part))


def _clock(started_at: str) -> str:
    try:
        return datetime.fromisoformat(started_at).strftime("%m-%d %H:%M:%S")
    except ValueError:
        return ""
