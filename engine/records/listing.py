"""One line a run: what a list of runs shows, from memory or from the database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, cast, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Text,
    and_,
    bindparam,
    case,
    func,
    literal,
    not_,
    or_,
    select,
    tuple_,
)
from sqlalchemy.exc import SQLAlchemyError

from engine.database.base import Database, among, clean
from engine.database.tables import EVENTS, PARTIAL_ANSWERS, RUNS, TAGS
from engine.model.events import Event, ModelCalled, Prepared, Rewritten, RunFinished, RunStarted
from engine.model.values import ANSWERED, AnswerNote, Outcome, RunId, counted
from engine.people import LOCAL, Person
from engine.records.tagging import tags_of

INTERRUPTED: Outcome = "interrupted"
_SHORTEST_ID = 6
"""Fewer letters are taken for a word of the question alone: half of the short ones begin some id."""

_EQUAL = ("outcome", "workflow", "collection", "author")
_OUTCOMES = frozenset((None, *get_args(Outcome)))
_SHOWN = ("id", "question", "workflow", "collection", "started_at")
_COUNTED = ("duration_ms", "calls", "rewrites", "parent", "author", "searched")
_TYPES = (str, str, str, str, str, str | None, str, int | float, int, int, str, str, str)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """List entry of one run."""

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
    author: str = ""
    """Who asked, where people sign in."""
    searched: str = ""
    """The collection by its own name, which ``collection`` may be an alias of; empty until it is open."""
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
    """Filters of a list of runs; the fields of :class:`Wanted`."""

    before: str | None
    outcome: Outcome | None
    text: str | None
    tag: str | None
    without_tag: str | None
    workflow: str | None
    collection: str | None
    author: str | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Request for runs, newest first."""

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
    author: str | None = None
    reader: Person = LOCAL
    """Runs of collections that are kept from them are left out."""

    @property
    def place(self) -> tuple[str, str] | None:
        if self.before is None:
            return None
        started_at, _, run_id = self.before.partition("|")
        return started_at, run_id

    def admits(self, summary: RunSummary) -> bool:
        """Return whether a run in memory is among those asked for; ``_narrowed`` says the same in SQL."""
        if self.place is not None and (summary.started_at, summary.id) >= self.place:
            return False
        if not self.reader.may_read(summary.searched or summary.collection, summary.collection):
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
    prepared = next((event for event in events if isinstance(event, Prepared)), None)
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
        calls=counted(event.call for event in events if isinstance(event, ModelCalled)).done,
        rewrites=sum(isinstance(event, Rewritten) for event in events),
        parent=started.fork.parent if started.fork else "",
        author=started.author,
        searched=prepared.manifest.get("collection", "") if prepared else "",
    )


def unfinished_owners(connection: Connection) -> list[str]:
    """Processes that have runs without an end."""
    rows = connection.execute(select(RUNS.c.owner).where(RUNS.c.outcome.is_(None)).distinct())
    return [str(owner) for (owner,) in rows]


def stored(
    database: Database,
    connection: Connection,
    wanted: Wanted,
    living: Sequence[str],
    leave_out: Sequence[RunId],
    *,
    unchecked: Callable[[RunId], AnswerNote],
) -> list[RunSummary]:
    """Runs of the database, newest first; those without an end whose process does not live are interrupted.

    ``unchecked`` checks the answer of a run of an older version, which did not.
    """
    cut_off = and_(RUNS.c.outcome.is_(None), not_(among(connection, RUNS.c.owner, living)))
    shown = case((cut_off, literal(INTERRUPTED)), else_=RUNS.c.outcome)
    why = case((cut_off, literal(INTERRUPTED)), else_=RUNS.c.reason)
    columns = (RUNS.c[name] for name in _SHOWN)
    query = select(*columns, shown, why, *(RUNS.c[name] for name in _COUNTED))
    query = query.where(
        not_(among(connection, RUNS.c.id, leave_out)),
        *_narrowed(database, wanted, shown),
        *readable(connection, wanted.reader),
    )
    rows = connection.execute(query.order_by(RUNS.c.started_at.desc(), RUNS.c.id.desc()).limit(wanted.limit)).all()
    found = [_summary(tuple(row)) for row in rows]
    tags, notes = tags_of(connection, ids := [item.id for item in found]), _answer_notes(connection, ids)
    return [replace(item, tags=tags.get(item.id, ()), answer_note=_note(item, notes, unchecked)) for item in found]


def _note(item: RunSummary, notes: Mapping[RunId, AnswerNote], unchecked: Callable[[RunId], AnswerNote]) -> AnswerNote:
    if item.id in notes or item.outcome not in ANSWERED:
        return notes.get(item.id, "")
    return unchecked(item.id)


def _narrowed(database: Database, wanted: Wanted, shown: ColumnElement[Any]) -> Iterator[ColumnElement[bool]]:
    """Express :meth:`Wanted.admits` for the database."""
    if wanted.place is not None:
        yield tuple_(RUNS.c.started_at, RUNS.c.id) < tuple_(*(literal(clean(part)) for part in wanted.place))
    columns = {"outcome": shown, **{name: RUNS.c[name] for name in _EQUAL[1:]}}
    for name, column in columns.items():
        if (value := getattr(wanted, name)) is not None:
            yield column == clean(value)
    tagged = select(TAGS.c.run_id)
    if wanted.tag is not None:
        yield RUNS.c.id.in_(tagged.where(TAGS.c.tag == clean(wanted.tag)))
    if wanted.without_tag is not None:
        yield RUNS.c.id.not_in(tagged.where(TAGS.c.tag == clean(wanted.without_tag)))
    if wanted.text:
        # Half a surrogate pair, which an address can bring, has no form in the database, so nothing there contains it.
        text = clean(wanted.text.casefold())
        places = [
            database.found_in(RUNS.c.question, text),
            RUNS.c.id.in_(tagged.where(database.found_in(TAGS.c.tag, text))),
        ]
        if len(text) >= _SHORTEST_ID:
            places.append(RUNS.c.id.startswith(text, autoescape=True))
        yield or_(*places)


def readable(connection: Connection, reader: Person) -> Iterator[ColumnElement[bool]]:
    """Express :meth:`Person.may_read` for the database."""
    called = (func.coalesce(func.nullif(RUNS.c.searched, ""), RUNS.c.collection), RUNS.c.collection)
    if reader.hidden:
        yield from (not_(among(connection, name, reader.hidden)) for name in called)
    if reader.collections is not None:
        yield among(connection, called[0], reader.collections)


def readable_runs(connection: Connection, run_ids: Sequence[RunId], reader: Person) -> set[RunId]:
    """Those of the runs whose collection a person may read."""
    query = select(RUNS.c.id).where(among(connection, RUNS.c.id, run_ids), *readable(connection, reader))
    return {RunId(str(run_id)) for run_id in connection.scalars(query)}


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as the database has it, from an event on."""

    owner: str | None
    """The process that makes it; None where the run is not listed."""
    ended: bool
    """Whether it ended by itself."""
    duration_ms: float
    events: list[str]
    """As JSON, in order."""
    pieces: str
    """Tokens of an answer that is being written, as a JSON list."""


# Made once: making them would take as long as asking SQLite does.
_RUN = bindparam("run", type_=Text)
_LINE = (
    select(RUNS.c.owner, RUNS.c.outcome, RUNS.c.duration_ms, PARTIAL_ANSWERS.c.pieces)
    .select_from(RUNS.outerjoin(PARTIAL_ANSWERS, PARTIAL_ANSWERS.c.run_id == RUNS.c.id))
    .where(RUNS.c.id == _RUN)
)
_EVENTS = (
    select(EVENTS.c.data).where(EVENTS.c.run_id == _RUN, EVENTS.c.seq > bindparam("after", type_=Integer))
).order_by(EVENTS.c.seq)


def stored_run(connection: Connection, run_id: RunId, after_seq: int = 0) -> StoredRun:
    """Return the stored part of a run above a sequence number; all of it if the run is not listed."""
    line = connection.execute(_LINE, {"run": run_id}).one_or_none()
    after = after_seq if line is not None else -1
    events = [data for (data,) in connection.execute(_EVENTS, {"run": run_id, "after": after}).all()]
    if line is None:
        return StoredRun(None, False, 0.0, events, "[]")
    return StoredRun(str(line.owner), line.outcome is not None, line.duration_ms, events, line.pieces or "[]")


def beginnings_of(connection: Connection, run_ids: Sequence[RunId]) -> list[str]:
    """The event that each of these runs began with, as JSON."""
    return [data for _, data in _events_of(connection, run_ids, "run_started")]


def events_sound(database: Database, connection: Connection, run_id: RunId) -> bool:
    """Return whether the rows of a run can be read and begin as they should; says nothing about what they mean."""
    readable = case((database.readable(EVENTS.c.data), 1), else_=0)
    started = case((EVENTS.c.kind == "run_started", 1), else_=0)
    query = select(func.count(), func.sum(readable), func.sum(started)).where(EVENTS.c.run_id == run_id)
    try:
        rows, sound, beginnings = connection.execute(query).one()
    except SQLAlchemyError:
        return False
    return bool(rows) and rows == sound and beginnings == 1


def _events_of(connection: Connection, run_ids: Sequence[RunId], kind: str) -> list[tuple[RunId, str]]:
    query = select(EVENTS.c.run_id, EVENTS.c.data).where(EVENTS.c.kind == kind)
    return [
        (RunId(str(run)), data)
        for run, data in connection.execute(query.where(among(connection, EVENTS.c.run_id, run_ids)))
    ]


def _answer_notes(connection: Connection, run_ids: Sequence[RunId]) -> dict[RunId, AnswerNote]:
    """Read the notes of those whose answer was checked when they ended."""
    notes = {}
    for run_id, data in _events_of(connection, run_ids, "run_finished"):
        try:
            ended = json.loads(data)
            note, checked = ended["answer_note"], ended["unsupported_sentences"] is not None
        except (ValueError, TypeError, KeyError):
            continue
        if checked and note in get_args(AnswerNote):
            notes[run_id] = cast("AnswerNote", note)
    return notes


def _summary(row: tuple[Any, ...]) -> RunSummary:
    sound = all(isinstance(value, kind) for value, kind in zip(row, _TYPES, strict=True)) and row[5] in _OUTCOMES
    if sound:
        return RunSummary(*row)
    identity, question, workflow, collection, started_at = (str(value) for value in row[:5])
    outcome = cast("Outcome | None", row[5] if row[5] in _OUTCOMES else None)
    return RunSummary(RunId(identity), question, workflow, collection, started_at, outcome, "", 0.0, 0, 0, damaged=True)
