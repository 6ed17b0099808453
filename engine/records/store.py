"""Run records on disk: appended as events happen, listed, loaded and deleted (SC-10)."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from engine.errors import EngineClosed, RecordError, RunActive, UnknownRun, WorkbenchError
from engine.errors.files import is_damage
from engine.model.config import RunConfig
from engine.model.events import Event, RunFinished, RunStarted, TokenStreamed, fold_all
from engine.model.values import RunId, RunRecord
from engine.records import faults
from engine.records.buffer import RunBuffer
from engine.records.codec import event_from_json
from engine.records.instance import Instance, alive, sweep
from engine.records.listing import (
    INTERRUPTED,
    Filters,
    RunSummary,
    Wanted,
    beginnings_of,
    events_sound,
    rows_of,
    stored,
    summarise,
    unfinished_owners,
)
from engine.records.schema import Connect, connect, reading
from engine.records.tagging import tag_counts, tag_text, tags_of
from engine.records.writer import RecordWriter

__all__ = ["Filters", "RunStore", "RunSummary"]

_log = logging.getLogger(__name__)

Events = list[Event]
Summaries = list[RunSummary]


def log_fault(fault: WorkbenchError) -> None:
    """Log a fault, where nothing else listens for faults."""
    _log.warning("%s", fault)


class RunStore:
    """The records of all runs in one SQLite file, which several processes may use at once; safe from any thread.

    ``append`` returns at once; a thread writes. What the disk does not take stays in memory, is listed and loaded from
    there, and is tried again until it works; ``on_fault`` hears of it once each time it begins, ``on_over`` each time
    it ends, on any thread.
    A run whose process ended without finishing it is read as *interrupted*, with everything it had.
    Raises ``RecordError`` for a file that a newer version wrote.
    """

    def __init__(
        self,
        path: Path,
        *,
        on_fault: faults.OnFault = log_fault,
        on_over: faults.OnFault = faults.unheard,
        open_file: Connect = connect,
    ) -> None:
        self._path = path
        self._locks = path.parent / "instances"
        self._buffer = RunBuffer()
        self._closing = threading.Lock()
        self._closed = False
        self._dead: set[str] = set()
        self._sound: set[RunId] = set()
        self._damaged: set[RunId] = set()
        self._instance: Instance | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            sweep(self._locks)
            self._instance = Instance(self._locks)
        except (OSError, sqlite3.Error) as error:
            on_fault(faults.unwritable(self._locks, error))
        self._owner = self._instance.id if self._instance else uuid.uuid4().hex
        hears = faults.Hears(on_fault, on_over)
        self._writer = RecordWriter(path, self._buffer, owner=self._owner, hears=hears, open_file=open_file)
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

    def events(self, run_id: str, after_seq: int = 0) -> Events:
        """Events of a run above a sequence number, in order; an interrupted run is given a ``run_finished``.

        Raises ``UnknownRun``, or ``RecordError`` where the record is damaged or the file cannot be read.
        """
        events, owner = self._recorded(_storable(run_id))
        if not any(isinstance(event, RunFinished) for event in events) and not self._lives(owner):
            last = events[-1]
            # Above what the reader has seen: tokens may have reached it that were never stored.
            seq = max(last.seq, after_seq) + 1
            events.append(RunFinished(seq=seq, t_ms=last.t_ms, outcome=INTERRUPTED, reason=INTERRUPTED))
        return [event for event in events if event.seq > after_seq]

    def load(self, run_id: str) -> RunRecord:
        """The record of a run; ``outcome`` is None while it is running.

        Raises ``UnknownRun``, or ``RecordError`` where the record is damaged or the file cannot be read.
        """
        events = self.events(run_id)
        try:
            return fold_all(events)
        except (ValueError, IndexError):
            raise self._found_damaged(RunId(run_id), "its events do not fit together") from None

    def delete(self, run_id: str) -> None:
        """Remove a run. Raises ``RunActive`` while it runs, ``UnknownRun``, or ``RecordError`` where it cannot."""
        if self._closed:
            raise EngineClosed()
        run = _storable(run_id)
        if self._goes_on(run):
            raise RunActive(run=run_id)
        if not self._writer.delete(run):
            raise UnknownRun(run=run_id)
        self._damaged.discard(run)

    def tag(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Put a tag on a run, live or stored, and return all it has then; one that it has already changes nothing.

        Raises ``InvalidTag``, ``UnknownRun``, or ``RecordError`` where the file cannot be written.
        """
        return self._tagged(run_id, tag_text(tag), add=True)

    def untag(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Take a tag from a run and return those left; one that it has not changes nothing. Raises as :meth:`tag`."""
        return self._tagged(run_id, tag_text(tag), add=False)

    def tags(self) -> dict[str, int]:
        """How many runs have each tag, in alphabetical order; raises ``RecordError`` where the file is unreadable."""
        if not self._path.exists():
            return {}
        try:
            with reading(self._path) as connection:
                return tag_counts(connection)
        except sqlite3.Error as error:
            raise faults.unreadable(self._path, error) from None

    def list(self, limit: int = 50, **filters: Unpack[Filters]) -> Summaries:
        """List at most ``limit`` runs, newest first, damaged ones included; filters as :class:`Wanted` explains them.

        Raises ``RecordError`` where the file cannot be read.
        """
        wanted = Wanted(max(limit, 0), **filters)
        # Memory before file: a run that leaves memory in between is in the file by then.
        buffered = {run: line for run, events in self._buffer.everything().items() if (line := summarise(events))}
        if not self._path.exists():
            found = [summary for summary in buffered.values() if wanted.admits(summary)]
        else:
            try:
                found = self._listed(wanted, buffered)
            except sqlite3.Error as error:
                raise faults.unreadable(self._path, error) from None
        return sorted(found, key=lambda summary: (summary.started_at, summary.id), reverse=True)[: wanted.limit]

    def configs(self, run_ids: Sequence[RunId]) -> dict[RunId, RunConfig]:
        """Settings of these runs; one that cannot be read, or that is gone, is left out.

        Raises ``RecordError`` where the file cannot be read.
        """
        # Memory before file, as for a list.
        buffered = self._buffer.everything()
        started = [event for run_id in run_ids for event in buffered.get(run_id, ())]
        if self._path.exists():
            try:
                with reading(self._path) as connection:
                    rows = beginnings_of(connection, [run_id for run_id in run_ids if run_id not in buffered])
            except sqlite3.Error as error:
                raise faults.unreadable(self._path, error) from None
            for data in rows:
                with suppress(WorkbenchError, TypeError):
                    started.append(event_from_json(data))
        return {event.run_id: event.config for event in started if isinstance(event, RunStarted)}

    def _listed(self, wanted: Wanted, buffered: Mapping[RunId, RunSummary]) -> Summaries:
        with reading(self._path) as connection:
            living = [owner for owner in unfinished_owners(connection) if self._lives(owner)]
            tags = tags_of(connection, buffered)
            own = [replace(summary, tags=tags.get(run, ())) for run, summary in buffered.items()]
            found = stored(connection, wanted, living, [*buffered])
            checked = [self._checked(connection, summary) for summary in found]
        return [summary for summary in own if wanted.admits(summary)] + checked

    def _tagged(self, run_id: str, tag: str, *, add: bool) -> tuple[str, ...]:
        if self._closed:
            raise EngineClosed()
        tags = self._writer.tag(_storable(run_id), tag, add=add)
        if tags is None:
            raise UnknownRun(run=run_id)
        return tags

    def _checked(self, connection: sqlite3.Connection, summary: RunSummary) -> RunSummary:
        if summary.damaged or summary.id in self._damaged:
            return replace(summary, damaged=True)
        if summary.id not in self._sound:
            if not events_sound(connection, summary.id):
                return replace(summary, damaged=True)
            if summary.outcome is not None:
                self._sound.add(summary.id)
        return summary

    def _recorded(self, run_id: RunId) -> tuple[Events, str]:
        """Events in order, tokens of an unfinished answer included, and the owner; at least one event."""
        # Memory before file: a run that leaves memory in between is in the file by then.
        buffered = self._buffer.events(run_id)
        if any(isinstance(event, RunStarted) for event in buffered):
            return [*buffered], self._owner
        if not self._path.exists():
            raise UnknownRun(run=run_id)
        try:
            with reading(self._path) as connection:
                owner, rows, pieces = rows_of(connection, run_id)
        except sqlite3.Error as error:
            if is_damage(error):
                raise self._found_damaged(run_id, "its part of the file cannot be read") from None
            raise faults.unreadable(self._path, error) from None
        if owner is None and not rows:
            raise UnknownRun(run=run_id)
        if not rows:
            raise self._found_damaged(run_id, "it has no events")
        try:
            events = [event_from_json(data) for data in rows]
            tokens = [TokenStreamed(seq=seq, t_ms=t_ms, text=text) for seq, t_ms, text in json.loads(pieces)]
        except (WorkbenchError, ValueError, TypeError):
            raise self._found_damaged(run_id, "one of its events cannot be read") from None
        return sorted([*events, *tokens], key=lambda event: event.seq), owner or ""

    def _goes_on(self, run_id: RunId) -> bool:
        buffered = self._buffer.events(run_id)
        if any(isinstance(event, RunStarted) for event in buffered):
            return not any(isinstance(event, RunFinished) for event in buffered)
        if not self._path.exists():
            return False
        try:
            with reading(self._path) as connection:
                query = "SELECT owner FROM runs WHERE id = ? AND outcome IS NULL"
                row = connection.execute(query, (run_id,)).fetchone()
        except sqlite3.Error as error:
            raise faults.unreadable(self._path, error) from None
        return row is not None and self._lives(str(row[0]))

    def _lives(self, owner: str) -> bool:
        if owner == self._owner:
            return not self._closed
        if owner in self._dead:
            return False
        if alive(self._locks, owner):
            return True
        self._dead.add(owner)
        return False

    def _found_damaged(self, run_id: RunId, cause: str) -> RecordError:
        self._damaged.add(run_id)
        return RecordError.damaged_run(run=run_id, cause=cause)

    def _end_instance(self) -> None:
        if self._instance is not None:
            self._instance.end()


def _storable(run_id: str) -> RunId:
    """The id as that of a stored run; raises ``UnknownRun`` for one that no file of ours can hold."""
    try:
        run_id.encode()
    except UnicodeEncodeError:
        raise UnknownRun(run=run_id.encode("utf-8", "replace").decode()) from None
    return RunId(run_id)
