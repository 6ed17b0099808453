"""The one thread that writes run records: everything that is due in one transaction, again and again until it works."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.errors import EngineClosed, RecordError, WorkbenchError
from engine.errors.files import is_damage
from engine.model.events import Event
from engine.model.values import RunId
from engine.records import faults
from engine.records.buffer import RunBuffer, Snapshot
from engine.records.codec import event_to_json
from engine.records.listing import RunSummary, summarise
from engine.records.schema import Connect, connect_or_replace, identity_of, set_aside
from engine.records.tagging import add_tag, remove_tag

_log = logging.getLogger(__name__)

RETRY_S = 1.0
"""Pause between attempts while the file cannot be written."""

_RUN = """INSERT INTO runs
 (id, started_at, question, workflow, collection, owner, outcome, reason, duration_ms, calls, rewrites, parent)
 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
 ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason,
 duration_ms = excluded.duration_ms, calls = excluded.calls, rewrites = excluded.rewrites"""
# A sequence number that is stored already is not stored again, as ``fold`` ignores it too; it makes retries harmless.
_EVENT = """INSERT INTO events (run_id, seq, t_ms, kind, data) VALUES (?, ?, ?, ?, ?)
 ON CONFLICT (run_id, seq) DO NOTHING"""
_PARTIAL = "INSERT OR REPLACE INTO partial_answers (run_id, pieces) VALUES (?, ?)"

_Command = tuple[Callable[[], Any], "Future[Any]"]


class RecordWriter:
    """Writes what :class:`RunBuffer` holds; a failure is reported once and the events stay in memory until it works."""

    def __init__(self, path: Path, buffer: RunBuffer, *, owner: str, hears: faults.Hears, open_file: Connect) -> None:
        self._path = path
        self._buffer = buffer
        self._owner = owner
        self._hears = hears
        self._open_file = open_file
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._fault: RecordError | None = None
        self._not_before = 0.0
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="run-records", daemon=True)

    def start(self) -> None:
        """Open the file and begin; raises ``RecordError`` where a newer version wrote it, and for nothing else."""
        try:
            self._open()
        except (sqlite3.Error, OSError) as error:
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

    def tag(self, run_id: RunId, tag: str, *, add: bool) -> tuple[str, ...] | None:
        """Add or take away a tag; the run's tags then, None where there is no such run. Raises ``RecordError``."""
        tags: tuple[str, ...] | None = self._do(lambda: self._tag(run_id, tag, add))
        return tags

    def stop(self) -> None:
        """Write what is left, say what could not be written, and end the thread."""
        self._do(self._stop)
        self._thread.join()

    def _do(self, action: Callable[[], Any]) -> Any:
        future: Future[Any] = Future()
        self._buffer.command((action, future))
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
        self._close()

    def _save(self, *, everything: bool) -> None:
        if not everything and time.monotonic() < self._not_before:
            return
        snapshots = self._buffer.take(everything=everything)
        if not snapshots:
            return
        try:
            self._buffer.saved(self._write_to_file(snapshots))
        except Exception as error:
            # A failure here must neither end this thread nor touch a run; a new connection has no open
            # transaction, and meets a disk that was mended.
            self._close()
            self._buffer.failed()
            self._failed(error)
        else:
            ended, self._fault, self._not_before = self._fault, None, 0.0
            if ended is not None:
                self._tell(self._hears.over, ended)

    def _write_to_file(self, snapshots: Sequence[Snapshot]) -> Sequence[Snapshot]:
        """Returns what was written: into a file opened again goes all that is known, for it may be a new one."""
        if self._connection is not None and identity_of(self._path) != self._identity:
            # Moved or deleted under us: what is written to the open file from now on would be lost without a word.
            self._close()
        if self._connection is not None:
            try:
                self._write(self._connection, snapshots)
            except sqlite3.Error as error:
                self._close()
                if not is_damage(error):
                    raise
                self._report(RecordError.moved_aside(path=self._path, moved=set_aside(self._path).name))
            else:
                return snapshots
        connection = self._open()
        snapshots = self._buffer.take_from_start()
        self._write(connection, snapshots)
        return snapshots

    def _write(self, connection: sqlite3.Connection, snapshots: Sequence[Snapshot]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for snapshot in snapshots:
            summary = summarise(snapshot.events)
            if summary is not None:
                connection.execute(_RUN, self._line(summary))
            rows = [(snapshot.run_id, event.seq, event.t_ms, event.kind, _text(event)) for event in snapshot.fresh]
            connection.executemany(_EVENT, rows)
            self._write_partial(connection, snapshot)
        connection.execute("COMMIT")

    def _line(self, summary: RunSummary) -> tuple[object, ...]:
        return (
            summary.id,
            summary.started_at,
            _clean(summary.question),
            summary.workflow,
            _clean(summary.collection),
            self._owner,
            summary.outcome,
            summary.reason,
            summary.duration_ms,
            summary.calls,
            summary.rewrites,
            _clean(summary.parent),
        )

    def _write_partial(self, connection: sqlite3.Connection, snapshot: Snapshot) -> None:
        pieces = [(token.seq, token.t_ms, token.text) for token in snapshot.partial]
        if pieces:
            connection.execute(_PARTIAL, (snapshot.run_id, json.dumps(pieces)))
        else:
            connection.execute("DELETE FROM partial_answers WHERE run_id = ?", (snapshot.run_id,))

    def _delete(self, run_id: RunId) -> bool:
        gone = 0
        try:
            connection = self._connection or self._open()
            connection.execute("BEGIN IMMEDIATE")
            gone = connection.execute("DELETE FROM runs WHERE id = ?", (run_id,)).rowcount
            connection.execute("DELETE FROM events WHERE run_id = ?", (run_id,))
            connection.execute("DELETE FROM partial_answers WHERE run_id = ?", (run_id,))
            connection.execute("DELETE FROM tags WHERE run_id = ?", (run_id,))
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._close()
            # Without any file the run is in memory alone; with one, a part of it would come back from there.
            if self._path.exists():
                raise faults.unwritable(self._path, error) from None
        except BaseException:
            # An open transaction would lock the file for every process.
            self._close()
            raise
        return self._buffer.drop(run_id) or gone > 0

    def _tag(self, run_id: RunId, tag: str, add: bool) -> tuple[str, ...] | None:
        """The run itself was written just before, as everything is before a command; a disk that is full says so."""
        try:
            connection = self._connection or self._open()
            connection.execute("BEGIN IMMEDIATE")
            tags = (add_tag if add else remove_tag)(connection, run_id, tag)
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._close()
            raise faults.unwritable(self._path, error) from None
        except BaseException:
            self._close()
            raise
        if tags is None and self._fault is not None and self._buffer.events(run_id):
            raise self._fault
        return tags

    def _stop(self) -> None:
        self._stopping = True
        left = self._buffer.unwritten
        if left:
            self._report(RecordError.lost(path=self._path, runs=left))

    def _open(self) -> sqlite3.Connection:
        self._connection, moved = connect_or_replace(self._path, self._open_file)
        self._identity = identity_of(self._path)
        if moved is not None:
            self._report(RecordError.moved_aside(path=self._path, moved=moved.name))
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _failed(self, error: Exception) -> None:
        first = self._fault is None
        self._fault = error if isinstance(error, RecordError) else faults.unwritable(self._path, error)
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


def _text(event: Event) -> str:
    try:
        return event_to_json(event).decode()
    except ValueError:
        # Half a surrogate pair, as broken PDFs and command lines bring it, has no UTF-8 form.
        return _clean(json.dumps(asdict(event), ensure_ascii=False, default=str))


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
