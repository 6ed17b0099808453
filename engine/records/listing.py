"""One line a run: what a list of runs shows, from memory or from the file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict, cast, get_args

from engine.model.events import Event, ModelCalled, Rewritten, RunFinished, RunStarted
from engine.model.values import AnswerNote, Outcome, RunId

INTERRUPTED: Outcome = "interrupted"
_SHORTEST_ID = 6
"""Fewer letters are taken for a word of the question alone: half of the short ones begin some id."""

_LISTED = """
SELECT id, question, workflow, collection, started_at, shown, why, duration_ms, calls, rewrites, parent,
    (SELECT json_group_array(CAST(tag AS TEXT)) FROM tags WHERE run_id = listed.id),
    (SELECT iif(json_valid(data), json_extract(data, '$.answer_note'), '') FROM events
        WHERE run_id = listed.id AND kind = 'run_finished' ORDER BY seq DESC LIMIT 1)
FROM (
    SELECT *, iif(cut_off, 'interrupted', outcome) AS shown, iif(cut_off, 'interrupted', reason) AS why
    FROM (
        SELECT *, outcome IS NULL AND owner NOT IN (SELECT value FROM json_each(:living)) AS cut_off FROM runs
        WHERE id NOT IN (SELECT value FROM json_each(:leave_out))
    )
) AS listed
WHERE (:started_at IS NULL OR (started_at, id) < (:started_at, :id))
    AND (:outcome IS NULL OR shown = :outcome)
    AND (:workflow IS NULL OR workflow = :workflow)
    AND (:collection IS NULL OR collection = :collection)
    AND (:tag IS NULL OR id IN (SELECT run_id FROM tags WHERE tag = :tag))
    AND (:without_tag IS NULL OR id NOT IN (SELECT run_id FROM tags WHERE tag = :without_tag))
    AND (:text IS NULL OR instr(casefolded(CAST(question AS BLOB)), :text) OR (:id_prefix AND instr(id, :text) = 1)
        OR id IN (SELECT run_id FROM tags WHERE instr(casefolded(CAST(tag AS BLOB)), :text)))
ORDER BY started_at DESC, id DESC LIMIT :limit"""
_SOUND = "SELECT count(*), sum(json_valid(data)), sum(kind = 'run_started') FROM events WHERE run_id = ?"

_STARTED = """
SELECT data FROM events WHERE kind = 'run_started' AND run_id IN (SELECT value FROM json_each(?))
"""

_EQUAL = ("outcome", "workflow", "collection")
_OUTCOMES = frozenset((None, *get_args(Outcome)))
_TYPES = (str, str, str, str, str, str | None, str, int | float, int, int, str, str)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a list shows of one run."""

    id: RunId
    question: str
    workflow: str
    collection: str
    started_at: str
    """ISO 8601, UTC."""
    outcome: Outcome | None
    """None while the run is in progress."""
    reason: str
    duration_ms: float
    calls: int
    """Chat-model invocations, cached ones included."""
    rewrites: int
    parent: str = ""
    """The run that this one was forked from; empty for one that began by itself."""
    tags: tuple[str, ...] = ()
    """In alphabetical order."""
    answer_note: AnswerNote = ""
    damaged: bool = False
    """Parts of the record cannot be read."""

    @property
    def cursor(self) -> str:
        """Place in the list, newest first; stays valid where the run itself is deleted."""
        return f"{self.started_at}|{self.id}"


class Filters(TypedDict, total=False):
    """What narrows a list of runs; the fields of :class:`Wanted`."""

    before: str | None
    outcome: Outcome | None
    text: str | None
    tag: str | None
    without_tag: str | None
    workflow: str | None
    collection: str | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs are asked for, newest first."""

    limit: int
    before: str | None = None
    """Cursor of the last run already seen."""
    outcome: Outcome | None = None
    text: str | None = None
    """Part of the question or of a tag, regardless of its case, or the first six or more characters of the run's id."""
    tag: str | None = None
    without_tag: str | None = None
    """Runs with this tag are left out."""
    workflow: str | None = None
    collection: str | None = None

    @property
    def place(self) -> tuple[str, str] | None:
        if self.before is None:
            return None
        started_at, _, run_id = self.before.partition("|")
        return started_at, run_id

    def admits(self, summary: RunSummary) -> bool:
        """Whether a run in memory is among those asked for; ``_LISTED`` says the same in SQL."""
        if self.place is not None and (summary.started_at, summary.id) >= self.place:
            return False
        if any(getattr(self, name) not in (None, getattr(summary, name)) for name in _EQUAL):
            return False
        if self.tag is not None and self.tag not in summary.tags:
            return False
        if self.without_tag is not None and self.without_tag in summary.tags:
            return False
        return not self.text or self._found_in(summary, self.text.casefold())

    def _found_in(self, summary: RunSummary, text: str) -> bool:
        if len(text) >= _SHORTEST_ID and summary.id.startswith(text):
            return True
        return any(text in place.casefold() for place in (summary.question, *summary.tags))


def summarise(events: Sequence[Event]) -> RunSummary | None:
    """The line of a run from its events; None where its beginning is not among them."""
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    if started is None:
        return None
    finished = next((event for event in reversed(events) if isinstance(event, RunFinished)), None)
    return RunSummary(
        id=started.run_id,
        question=started.question,
        workflow=started.config.workflow,
        collection=started.config.collection,
        started_at=started.started_at,
        outcome=finished.outcome if finished else None,
        answer_note=finished.answer_note if finished else "",
        reason=finished.reason if finished else "",
        duration_ms=max(event.t_ms for event in events),
        calls=sum(isinstance(event, ModelCalled) and not event.call.built_in for event in events),
        rewrites=sum(isinstance(event, Rewritten) for event in events),
        parent=started.fork.parent if started.fork else "",
    )


def unfinished_owners(connection: sqlite3.Connection) -> list[str]:
    """Processes that have runs without an end."""
    rows = connection.execute("SELECT DISTINCT owner FROM runs WHERE outcome IS NULL")
    return [str(owner) for (owner,) in rows]


def stored(
    connection: sqlite3.Connection, wanted: Wanted, living: Sequence[str], leave_out: Sequence[RunId]
) -> list[RunSummary]:
    """Runs of the file, newest first; those without an end whose process does not live are interrupted."""
    started_at, run_id = wanted.place or (None, None)
    text = wanted.text.casefold() if wanted.text else None
    values = {
        **asdict(wanted),
        "living": json.dumps(living),
        "leave_out": json.dumps(leave_out),
        "started_at": started_at,
        "id": run_id,
        "text": text,
        "id_prefix": text is not None and len(text) >= _SHORTEST_ID,
    }
    # Half a surrogate pair, which an address can bring, has no form in the file, so nothing there contains it.
    plain = {name: _clean(value) if isinstance(value, str) else value for name, value in values.items()}
    return [_summary(row) for row in connection.execute(_LISTED, plain)]


def rows_of(connection: sqlite3.Connection, run_id: RunId) -> tuple[str | None, list[str], str]:
    """Owner of a run (None where it is not listed), its events as JSON in order, and its tokens as a JSON list."""
    owner = connection.execute("SELECT owner FROM runs WHERE id = ?", (run_id,)).fetchone()
    rows = connection.execute("SELECT data FROM events WHERE run_id = ? ORDER BY seq", (run_id,)).fetchall()
    pieces = connection.execute("SELECT pieces FROM partial_answers WHERE run_id = ?", (run_id,)).fetchone()
    return (str(owner[0]) if owner else None), [data for (data,) in rows], (pieces[0] if pieces else "[]")


def beginnings_of(connection: sqlite3.Connection, run_ids: Sequence[RunId]) -> list[str]:
    """The event that each of these runs began with, as JSON."""
    return [data for (data,) in connection.execute(_STARTED, (json.dumps(run_ids),))]


def events_sound(connection: sqlite3.Connection, run_id: RunId) -> bool:
    """Whether the rows of a run can be read and begin as they should; says nothing about what they mean."""
    try:
        rows, readable, started = connection.execute(_SOUND, (run_id,)).fetchone()
    except sqlite3.Error:
        return False
    return bool(rows) and rows == readable and started == 1


def _summary(row: tuple[Any, ...]) -> RunSummary:
    sound = (
        all(isinstance(value, kind) for value, kind in zip(row[: len(_TYPES)], _TYPES, strict=True))
        and row[5] in _OUTCOMES
    )
    tags = tuple(sorted(str(tag) for tag in json.loads(row[11])))
    if sound:
        note = cast("AnswerNote", row[12] if row[12] in get_args(AnswerNote) else "")
        return replace(RunSummary(*row[:11]), tags=tags, answer_note=note)
    identity, question, workflow, collection, started_at = (str(value) for value in row[:5])
    outcome = cast("Outcome | None", row[5] if row[5] in _OUTCOMES else None)
    return RunSummary(
        RunId(identity), question, workflow, collection, started_at, outcome, "", 0.0, 0, 0, tags=tags, damaged=True
    )


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
