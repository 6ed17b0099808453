"""The one thread that writes run records: everything that is due in one transaction, again and again until it works."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict
from typing import Any, TypeVar

from sqlalchemy import Connection, delete

from engine.database.base import Database, clean, put
from engine.database.faults import UNUSABLE, is_damage
from engine.database.tables import EVENTS, PARTIAL_ANSWERS, RUNS, TAGS
from engine.errors import EngineClosed, RecordError, RunError, WorkbenchError
from engine.model.ending import joined
from engine.model.events import Event
from engine.model.values import RunId
from engine.records import faults
from engine.records.buffer import RunBuffer, Snapshot
from engine.records.codec import event_to_json
from engine.records.listing import RunSummary, summarise
from engine.records.tagging import add_tag, remove_tag

_log = logging.getLogger(__name__)

RETRY_S = 1.0
"""Pause between attempts while the file cannot be written."""
WRITING_S = 60.0
"""How long whoever needs something written waits for the thread that writes."""

_CHANGING = ("outcome", "reason", "duration_ms", "calls", "rewrites", "searched")

_T = TypeVar("_T")
_Command = tuple[Callable[[], Any], "Future[Any]"]


class RecordWriter:
    """Writes what :class:`RunBuffer` holds; a failure is reported once and the events stay in memory until it works."""

    def __init__(self, database: Database, buffer: RunBuffer, *, owner: str, hears: faults.Hears) -> None:
        self._database = database
        self._buffer = buffer
        self._owner = owner
        self._hears = hears
        self._opening = 0
        self._fault: RecordError | None = None
        self._not_before = 0.0
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="run-records", daemon=True)

    def start(self) -> None:
        """Open the database and begin; raises ``RecordError`` where a newer version wrote it, and nothing else."""
        try:
            self._transact(lambda _: None)
        except UNUSABLE as error:
            self._failed(error)
        self._thread.start()

    def flush(self) -> bool:
        """Block until all that was appended before is in the file; False where it cannot be, which was reported."""
        flushed: bool = self._do(lambda: self._fault is None)
        return flushed

    def delete(self, run_id: RunId) -> bool:
        """Remove a run from memory and file; whether there was one. Raises ``RecordError``."""
        removed: bool = self._do(lambda: self._delete(run_id))
        return removed

    def replace(self, run_id: RunId, events: Sequence[Event]) -> None:
        """Put other events in the place of all that a run has, at once; its tags stay. Raises ``RecordError``."""
        self._do(lambda: self._replace(run_id, events))

    def tag(self, run_id: RunId, tag: str, *, add: bool) -> tuple[str, ...] | None:
        """Add or take away a tag; the run's tags then, None where there is no such run. Raises ``RecordError``."""
        tags: tuple[str, ...] | None = self._do(lambda: self._tag(run_id, tag, add))
        return tags

    def stop(self) -> None:
        """Write what is left, say what could not be written, and end the thread."""
        self._do(self._stop)
        joined(self._thread)

    def _do(self, action: Callable[[], Any]) -> Any:
        future: Future[Any] = Future()
        self._buffer.command((action, future))
        wait((future,), WRITING_S)
        if not future.done():
            raise RunError.waited_too_long(what=f"{self._thread.name}: {action.__qualname__}", seconds=WRITING_S)
        return future.result()

    def _work(self) -> None:
        while not self._stopping:
            commands: list[_Command] = self._buffer.wait(self._not_before)
            self._save(everything=bool(commands))
            for action, future in commands:
                try:
                    future.set_result(action())
                except BaseException as error:
                    future.set_exception(error)
        late: list[_Command] = self._buffer.close()
        for _, future in late:
            future.set_exception(EngineClosed())

    def _save(self, *, everything: bool) -> None:
        if not everything and time.monotonic() < self._not_before:
            return
        snapshots = self._buffer.take(everything=everything)
        if not snapshots:
            return
        try:
            self._buffer.saved(self._write_all(snapshots))
        except Exception as error:
            # A failure here must neither end this thread nor touch a run.
            self._buffer.failed()
            self._failed(error)
        else:
            ended, self._fault, self._not_before = self._fault, None, 0.0
            if ended is not None:
                self._tell(self._hears.over, ended)

    def _write_all(self, snapshots: Sequence[Snapshot]) -> Sequence[Snapshot]:
        """Returns what was written: into a file opened again goes all that is known, for it may be a new one."""

        def write(connection: Connection) -> Sequence[Snapshot]:
            due = snapshots
            if self._database.opening != self._opening:
                due = self._buffer.take_from_start()
            self._write(connection, due)
            return due

        written = self._transact(write)
        self._opening = self._database.opening
        return written

    def _transact(self, action: Callable[[Connection], _T]) -> _T:
        """Do something in one transaction, and once more where a damaged file was moved aside for it."""
        try:
            with self._database.writing() as connection:
                return action(connection)
        except UNUSABLE as error:
            if not is_damage(error):
                raise
        # Not while the error is there: it holds on to the open file.
        if moved := self._database.set_aside():
            self._report(RecordError.moved_aside(path=self._database.place, moved=moved))
        with self._database.writing() as connection:
            return action(connection)

    def _write(self, connection: Connection, snapshots: Sequence[Snapshot]) -> None:
        lines = [self._line(line) for snapshot in snapshots if (line := summarise(snapshot.events)) is not None]
        put(connection, RUNS, lines, changes=_CHANGING)
        # A sequence number that is stored already is not stored again, as ``fold`` ignores it too; it makes retries
        # harmless.
        put(
            connection,
            EVENTS,
            [_row(snapshot.run_id, event) for snapshot in snapshots for event in snapshot.fresh],
            changes=(),
        )
        for snapshot in snapshots:
            self._write_partial(connection, snapshot)
            self._database.signals.send(f"run {snapshot.run_id}", connection)

    def _line(self, summary: RunSummary) -> dict[str, object]:
        return {
            "id": summary.id,
            "started_at": summary.started_at,
            "question": clean(summary.question),
            "workflow": summary.workflow,
            "collection": clean(summary.collection),
            "owner": self._owner,
            "outcome": summary.outcome,
            "reason": summary.reason,
            "duration_ms": summary.duration_ms,
            "calls": summary.calls,
            "rewrites": summary.rewrites,
            "parent": clean(summary.parent),
            "author": clean(summary.author),
            "searched": clean(summary.searched),
        }

    def _write_partial(self, connection: Connection, snapshot: Snapshot) -> None:
        pieces = [(token.seq, token.t_ms, token.text) for token in snapshot.partial]
        if pieces:
            put(connection, PARTIAL_ANSWERS, {"run_id": snapshot.run_id, "pieces": json.dumps(pieces)})
        else:
            connection.execute(delete(PARTIAL_ANSWERS).where(PARTIAL_ANSWERS.c.run_id == snapshot.run_id))

    def _delete(self, run_id: RunId) -> bool:
        gone = 0
        try:
            with self._database.writing() as connection:
                gone = connection.execute(delete(RUNS).where(RUNS.c.id == run_id)).rowcount
                for table in (EVENTS, PARTIAL_ANSWERS, TAGS):
                    connection.execute(delete(table).where(table.c.run_id == run_id))
        except UNUSABLE as error:
            # Without any file the run is in memory alone; with one, a part of it would come back from there.
            if self._database.exists:
                raise faults.unwritable(self._database.place, error) from None
        return self._buffer.drop(run_id) or gone > 0

    def _replace(self, run_id: RunId, events: Sequence[Event]) -> None:
        try:
            with self._database.writing() as connection:
                connection.execute(delete(EVENTS).where(EVENTS.c.run_id == run_id))
                self._write(connection, [Snapshot(run_id, tuple(events), 0)])
        except UNUSABLE as error:
            raise faults.unwritable(self._database.place, error) from None
        self._buffer.drop(run_id)

    def _tag(self, run_id: RunId, tag: str, add: bool) -> tuple[str, ...] | None:
        """The run itself was written just before, as everything is before a command; a disk that is full says so."""
        try:
            with self._database.writing() as connection:
                tags = (add_tag if add else remove_tag)(connection, run_id, tag)
        except UNUSABLE as error:
            raise faults.unwritable(self._database.place, error) from None
        if tags is None and self._fault is not None and self._buffer.events(run_id):
            raise self._fault
        return tags

    def _stop(self) -> None:
        self._stopping = True
        left = self._buffer.unwritten
        if left:
            self._report(RecordError.lost(path=self._database.place, runs=left))

    def _failed(self, error: Exception) -> None:
        first = self._fault is None
        self._fault = error if isinstance(error, RecordError) else faults.unwritable(self._database.place, error)
        self._not_before = time.monotonic() + RETRY_S
        if first:
            self._report(self._fault)

    def _report(self, fault: WorkbenchError) -> None:
        self._tell(self._hears.fault, fault)

    def _tell(self, whom: faults.OnFault, fault: WorkbenchError) -> None:
        try:
            whom(fault)
        except Exception:
            _log.exception("the receiver of record faults failed")


def _row(run_id: RunId, event: Event) -> dict[str, object]:
    return {"run_id": run_id, "seq": event.seq, "t_ms": event.t_ms, "kind": event.kind, "data": _text(event)}


def _text(event: Event) -> str:
    try:
        return event_to_json(event).decode()
    except ValueError:
        # Half a surrogate pair, as broken PDFs and command lines bring it, has no UTF-8 form.
        return clean(json.dumps(asdict(event), ensure_ascii=False, default=str))
