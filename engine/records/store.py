"""Run records on disk: appended as events happen, listed, loaded and deleted (SC-10)."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from sqlalchemy import Connection, select

from engine.builtin.answer_note import noted
from engine.database.base import Database, clean
from engine.database.faults import UNUSABLE, is_damage
from engine.database.owners import Membership
from engine.database.sqlite import SqliteFile
from engine.database.tables import RUNS
from engine.errors import EngineClosed, RecordError, UnknownRun, WorkbenchError
from engine.model.config import RunConfig
from engine.model.events import Event, RunFinished, RunStarted, TokenStreamed, fold_all
from engine.model.values import AnswerNote, RunId, RunRecord
from engine.people import LOCAL, Person
from engine.records import faults
from engine.records.codec import event_from_json
from engine.records.listing import (
    INTERRUPTED,
    Filters,
    RunSummary,
    StoredRun,
    Wanted,
    beginnings_of,
    events_sound,
    readable,
    readable_runs,
    stored,
    stored_run,
    summarise,
    unfinished_owners,
)
from engine.records.tagging import tag_counts, tag_text, tags_of
from engine.records.writer import RecordWriter, RunBuffer

__all__ = ["Filters", "RunStore", "RunSummary"]

_log = logging.getLogger(__name__)

Events = list[Event]
Summaries = list[RunSummary]


def log_fault(fault: WorkbenchError) -> None:
    """Log a fault, where nothing else listens for faults."""
    _log.warning("%s", fault)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Part of a run in memory or database, from an event on."""

    events: Events
    owner: str
    seq: int
    """Number of its last event, or of the one that the reader had seen."""
    t_ms: float
    """When that was."""
    ended: bool = False
    """Whether the end is known without these events."""


class RunStore:
    """The records of all runs in one database, which several processes may use at once; safe from any thread.

    ``append`` returns at once; a thread writes. What the disk does not take stays in memory, is listed and loaded from
    there, and is tried again until it works; ``on_fault`` hears of it once each time it begins, ``on_over`` each time
    it ends, on any thread.
    A run whose process ended without finishing it is read as *interrupted*, with everything it had.
    Raises ``RecordError.database_newer`` for a database that a newer version wrote.
    """

    def __init__(
        self,
        database: Database | Path,
        *,
        on_fault: faults.OnFault = log_fault,
        on_over: faults.OnFault = faults.unheard,
    ) -> None:
        """``database`` is a path where the records have an SQLite file of their own."""
        self._own_file = isinstance(database, Path)
        self._database = SqliteFile(database, "runs") if isinstance(database, Path) else database
        self._buffer = RunBuffer()
        self._closing = threading.Lock()
        self._closed = False
        self._sound: set[RunId] = set()
        self._damaged: set[RunId] = set()
        self._notes: dict[RunId, AnswerNote] = {}
        self._instance: Membership | None = None
        owners = self._database.owners
        try:
            self._instance = owners.join()
            owners.sweep()
        except (sqlite3.Error, *UNUSABLE) as error:
            on_fault(faults.unwritable(owners.place, error))
        self._owner = self._instance.id if self._instance else uuid.uuid4().hex
        hears = faults.Hears(on_fault, on_over)
        self._writer = RecordWriter(self._database, self._buffer, owner=self._owner, hears=hears)
        try:
            self._writer.start()
        except RecordError:
            self._end_instance()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def append(self, run_id: RunId, event: Event) -> None:
        """Take one event of a run of this process; returns at once. Raises ``EngineClosed`` after :meth:`close`.

        A run begins with ``run_started``; sequence numbers must be distinct. Of tokens only the text of the answer
        so far is stored, at most a quarter of a second late, until ``answer_completed`` replaces it.
        """
        if self._closed:
            raise EngineClosed()
        self._buffer.add(run_id, event)

    def flush(self) -> bool:
        """Block until everything appended before is in the file; False where it cannot be written at the moment.

        Written means that it survives the end of this process; against a power cut the last moments are not safe.
        """
        return True if self._closed else self._writer.flush()

    def close(self) -> None:
        """Write what is left and let the file go; a second call does nothing."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._writer.stop()
            self._end_instance()
            if self._own_file:
                self._database.close()

    def events(self, run_id: str, after_seq: int = 0) -> Events:
        """Events of a run above a sequence number, in order; an interrupted run is given a ``run_finished``.

        Raises ``UnknownRun``, or ``RecordError`` where the record is damaged or the file cannot be read.
        """
        run = self._recorded(_storable(run_id), after_seq)
        events = run.events
        over = run.ended or any(isinstance(event, RunFinished) for event in events)
        if not over and not self._lives(run.owner):
            # Above what the reader has seen: tokens may have reached it that were never stored.
            seq = max(run.seq, after_seq) + 1
            events.append(RunFinished(seq=seq, t_ms=run.t_ms, outcome=INTERRUPTED, reason=INTERRUPTED))
        return [event for event in events if event.seq > after_seq]

    def goes_on(self, run_id: str) -> bool:
        """Return whether a run has not ended, in this process or in another one that lives.

        Raises ``UnknownRun``, or ``RecordError`` where the database cannot be read.
        """
        run = _storable(run_id)
        buffered = self._buffer.events(run)
        if any(isinstance(event, RunStarted) for event in buffered):
            return not any(isinstance(event, RunFinished) for event in buffered)
        if not self._database.exists:
            raise UnknownRun(run=run_id)
        try:
            with self._database.reading() as connection:
                row = connection.execute(select(RUNS.c.owner, RUNS.c.outcome).where(RUNS.c.id == run)).one_or_none()
        except UNUSABLE as error:
            raise faults.unreadable(self._database.place, error) from None
        if row is None:
            raise UnknownRun(run=run_id)
        return row.outcome is None and self._lives(str(row.owner))

    def load(self, run_id: str) -> RunRecord:
        """The record of a run; ``outcome`` is None while it is running. What an older version did not check is now.

        Raises ``UnknownRun``, or ``RecordError`` where the record is damaged or the file cannot be read.
        """
        events = self.events(run_id)
        try:
            return noted(fold_all(events))
        except (ValueError, IndexError):
            raise self._found_damaged(RunId(run_id), "its events do not fit together") from None

    def delete(self, run_id: str) -> None:
        """Remove a run. Raises ``UnknownRun``, or ``RecordError`` while it runs or where it cannot."""
        if self._closed:
            raise EngineClosed()
        run = _storable(run_id)
        with suppress(UnknownRun):
            if self.goes_on(run):
                raise RecordError.run_active(run=run_id)
        if not self._writer.delete(run):
            raise UnknownRun(run=run_id)
        self._damaged.discard(run)

    def replace(self, run_id: RunId, events: Sequence[Event]) -> None:
        """Keep a run that has ended as these events tell it, in the place of those it has; nothing between is seen.

        Raises ``RecordError`` where the database cannot be written: the run is then as it was.
        """
        if self._closed:
            raise EngineClosed()
        self._writer.replace(run_id, events)

    def tag(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Put a tag on a run, live or stored, and return all it has then; one that it has already changes nothing.

        Raises ``RecordError``, ``UnknownRun``, or ``RecordError`` where the file cannot be written.
        """
        return self._tagged(run_id, tag_text(tag), add=True)

    def untag(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Take a tag from a run and return those left; one that it has not changes nothing. Raises as :meth:`tag`."""
        return self._tagged(run_id, tag_text(tag), add=False)

    def tags(self, reader: Person = LOCAL) -> dict[str, int]:
        """Count a person's readable runs by tag, in alphabetical order.

        Raises ``RecordError`` where the database is unreadable.
        """
        if not self._database.exists:
            return {}
        try:
            with self._database.reading() as connection:
                return tag_counts(connection, readable(connection, reader))
        except UNUSABLE as error:
            raise faults.unreadable(self._database.place, error) from None

    def list(self, limit: int = 50, *, reader: Person = LOCAL, **filters: Unpack[Filters]) -> Summaries:
        """List at most ``limit`` runs, newest first, damaged ones included; filters as :class:`Wanted` explains them.

        Raises ``RecordError`` where the file cannot be read.
        """
        wanted = Wanted(max(limit, 0), reader=reader, **filters)
        # Memory before file: a run that leaves memory in between is in the file by then.
        buffered = {run: line for run, events in self._buffer.everything().items() if (line := summarise(events))}
        if not self._database.exists:
            found = [summary for summary in buffered.values() if wanted.admits(summary)]
        else:
            try:
                found = self._listed(wanted, buffered)
            except UNUSABLE as error:
                raise faults.unreadable(self._database.place, error) from None
        return sorted(found, key=lambda summary: (summary.started_at, summary.id), reverse=True)[: wanted.limit]

    def configs(self, run_ids: Sequence[RunId], reader: Person = LOCAL) -> dict[RunId, RunConfig]:
        """Settings of these runs; one that cannot be read, that is gone, or kept from the reader, is left out.

        Raises ``RecordError`` where the file cannot be read.
        """
        # Memory before file, as for a list.
        buffered = self._buffer.everything() if reader.reads_all else {}
        started = [event for run_id in run_ids for event in buffered.get(run_id, ())]
        if self._database.exists:
            try:
                with self._database.reading() as connection:
                    wanted = [run_id for run_id in run_ids if run_id not in buffered]
                    if not reader.reads_all:
                        wanted = sorted(readable_runs(connection, wanted, reader))
                    rows = beginnings_of(connection, wanted)
            except UNUSABLE as error:
                raise faults.unreadable(self._database.place, error) from None
            for data in rows:
                with suppress(WorkbenchError, TypeError):
                    started.append(event_from_json(data))
        return {event.run_id: event.config for event in started if isinstance(event, RunStarted)}

    def _listed(self, wanted: Wanted, buffered: Mapping[RunId, RunSummary]) -> Summaries:
        with self._database.reading() as connection:
            # On this connection: each list with two of them could wait for one that another list holds.
            living = [owner for owner in unfinished_owners(connection) if self._lives(owner, connection)]
            tags = tags_of(connection, buffered)
            own = [replace(summary, tags=tags.get(run, ())) for run, summary in buffered.items()]
            check = partial(self._checked_now, connection)
            found = stored(self._database, connection, wanted, living, [*buffered], unchecked=check)
            checked = [self._checked(connection, summary) for summary in found]
        return [summary for summary in own if wanted.admits(summary)] + checked

    def _checked_now(self, connection: Connection, run_id: RunId) -> AnswerNote:
        """Check the answer of a run of an older version, once."""
        if run_id not in self._notes:
            try:
                self._notes[run_id] = noted(fold_all(self._read(run_id, stored_run(connection, run_id)))).answer_note
            except (WorkbenchError, ValueError, IndexError):
                return ""
        return self._notes[run_id]

    def _tagged(self, run_id: str, tag: str, *, add: bool) -> tuple[str, ...]:
        if self._closed:
            raise EngineClosed()
        tags = self._writer.tag(_storable(run_id), tag, add=add)
        if tags is None:
            raise UnknownRun(run=run_id)
        return tags

    def _checked(self, connection: Connection, summary: RunSummary) -> RunSummary:
        if summary.damaged or summary.id in self._damaged:
            return replace(summary, damaged=True)
        if summary.id not in self._sound:
            if not events_sound(self._database, connection, summary.id):
                return replace(summary, damaged=True)
            if summary.outcome is not None:
                self._sound.add(summary.id)
        return summary

    def _recorded(self, run_id: RunId, after_seq: int) -> _Recorded:
        # Memory before file: a run that leaves memory in between is in the file by then.
        buffered = self._buffer.events(run_id)
        if any(isinstance(event, RunStarted) for event in buffered):
            return _Recorded([*buffered], self._owner, buffered[-1].seq, buffered[-1].t_ms)
        if not self._database.exists:
            raise UnknownRun(run=run_id)
        try:
            with self._database.reading() as connection:
                found = stored_run(connection, run_id, after_seq)
        except UNUSABLE as error:
            if is_damage(error):
                raise self._found_damaged(run_id, "its part of the file cannot be read") from None
            raise faults.unreadable(self._database.place, error) from None
        if found.owner is None and not found.events:
            raise UnknownRun(run=run_id)
        if not found.events and not after_seq:
            raise self._found_damaged(run_id, "it has no events")
        events = self._read(run_id, found)
        last = events[-1] if events else None
        seq, t_ms = (last.seq, last.t_ms) if last else (after_seq, found.duration_ms)
        return _Recorded(events, found.owner or "", seq, t_ms, ended=after_seq > 0 and found.ended)

    def _read(self, run_id: RunId, found: StoredRun) -> Events:
        """Events in order, tokens of an unfinished answer included."""
        try:
            events = [event_from_json(data) for data in found.events]
            tokens = [TokenStreamed(seq=seq, t_ms=t_ms, text=text) for seq, t_ms, text in json.loads(found.pieces)]
        except (WorkbenchError, ValueError, TypeError):
            raise self._found_damaged(run_id, "one of its events cannot be read") from None
        return sorted([*events, *tokens], key=lambda event: event.seq)

    def _lives(self, owner: str, connection: Connection | None = None) -> bool:
        if owner == self._owner:
            return not self._closed
        return self._database.owners.alive(owner, connection)

    def _found_damaged(self, run_id: RunId, cause: str) -> RecordError:
        self._damaged.add(run_id)
        return RecordError.damaged_run(run=run_id, cause=cause)

    def _end_instance(self) -> None:
        if self._instance is not None:
            self._instance.end()


def _storable(run_id: str) -> RunId:
    """The id as that of a stored run; raises ``UnknownRun`` for one that no database of ours can hold."""
    if clean(run_id) != run_id:
        raise UnknownRun(run=clean(run_id))
    return RunId(run_id)
