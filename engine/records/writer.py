"""The thread that writes run records, all that is due in one transaction, and what of them is not on disk yet."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, delete

from engine.database.base import Database, clean, put
from engine.database.faults import UNUSABLE, is_damage
from engine.database.tables import EVENTS, PARTIAL_ANSWERS, RUNS, TAGS
from engine.errors import EngineClosed, RecordError, RunError, WorkbenchError
from engine.model.ending import joined
from engine.model.events import AnswerBegun, AnswerCompleted, Event, RunFinished, RunStarted, TokenStreamed
from engine.model.values import RunId
from engine.records import faults
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
PARTIAL_ANSWER_S = 0.25
"""How far the stored part of an answer may lag behind what has been streamed."""


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


@dataclass(slots=True)
class _Buffered:
    events: list[Event] = field(default_factory=list)
    saved: int = 0
    """How many of ``events`` a committed transaction covers."""
    due: float | None = None
    """When the rest is to be written, on the monotonic clock; None where nothing is left."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Part of a run to be written."""

    run_id: RunId
    events: tuple[Event, ...]
    """All of the run so far, tokens included."""
    saved: int

    @property
    def fresh(self) -> tuple[Event, ...]:
        """Events that become rows now."""
        return tuple(event for event in self.events[self.saved :] if event.stored)

    @property
    def begun(self) -> bool:
        return any(isinstance(event, RunStarted) for event in self.events)

    @property
    def finished(self) -> bool:
        return any(isinstance(event, RunFinished) for event in self.events)

    @property
    def partial(self) -> tuple[TokenStreamed, ...]:
        """Text streamed since the last complete answer."""
        return open_tokens(self.events)


def open_tokens(events: Iterable[Event]) -> tuple[TokenStreamed, ...]:
    """The tokens that no other answer has replaced."""
    tokens: list[TokenStreamed] = []
    for event in events:
        if isinstance(event, TokenStreamed):
            tokens.append(event)
        elif isinstance(event, AnswerBegun | AnswerCompleted):
            tokens.clear()
    return tuple(tokens)


class RunBuffer:
    """Events in memory, shared by those who append and the one thread that writes; every method is thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._runs: dict[RunId, _Buffered] = {}
        self._condition = threading.Condition()
        self._commands: list[Any] = []
        self._closed = False

    def add(self, run_id: RunId, event: Event) -> None:
        """Take one event; wakes the writer. Raises ``EngineClosed`` where it is gone."""
        with self._condition:
            self._require_open()
            run = self._runs.get(run_id)
            if run is None:
                run = self._runs[run_id] = _Buffered()
            run.events.append(event)
            due = 0.0 if event.stored else self._now() + PARTIAL_ANSWER_S
            # Waking a thread costs more than all the rest, so it is woken only for what it does not wait for yet.
            if run.due is None or due < run.due:
                run.due = due
                self._condition.notify()

    def command(self, command: Any) -> None:
        """Hand the writer something to do; wakes it. Raises ``EngineClosed`` where it is gone."""
        with self._condition:
            self._require_open()
            self._commands.append(command)
            self._condition.notify()

    def wait(self, not_before: float) -> list[Any]:
        """Sleep until something is due, but not before that time, or until a command comes; returns the commands."""
        with self._condition:
            while not self._commands:
                dues = [run.due for run in self._runs.values() if run.due is not None]
                left = max(min(dues), not_before) - self._now() if dues else None
                if left is not None and left <= 0:
                    break
                self._condition.wait(left)
            commands, self._commands = self._commands, []
            return commands

    def close(self) -> list[Any]:
        """The writer goes: nothing is taken any more; returns the commands that came too late."""
        with self._condition:
            self._closed = True
            commands, self._commands = self._commands, []
            return commands

    def take(self, *, everything: bool) -> list[Snapshot]:
        """Take what is due, or all that is unwritten; follow with :meth:`saved` or :meth:`failed`."""
        with self._condition:
            now = self._now()
            taken = []
            for run_id, run in self._runs.items():
                if run.due is not None and (everything or run.due <= now):
                    run.due = None
                    taken.append(Snapshot(run_id, tuple(run.events), run.saved))
            return taken

    def saved(self, snapshots: Iterable[Snapshot]) -> None:
        """Note events as saved; a finished run is dropped, for the disk has all of it now."""
        with self._condition:
            for snapshot in snapshots:
                run = self._runs.get(snapshot.run_id)
                if run is None:
                    continue
                run.saved = len(snapshot.events)
                complete = run.saved == len(run.events)
                if complete and (snapshot.finished or not snapshot.begun):
                    del self._runs[snapshot.run_id]

    def failed(self) -> None:
        """Mark the last part taken as unwritten: it is due again."""
        with self._condition:
            for run in self._runs.values():
                if run.saved < len(run.events):
                    run.due = 0.0

    def take_from_start(self) -> list[Snapshot]:
        """All that is known, as if nothing had been written yet."""
        with self._condition:
            for run in self._runs.values():
                run.saved, run.due = 0, 0.0
        return self.take(everything=True)

    def drop(self, run_id: RunId) -> bool:
        """Forget a run; whether there was one."""
        with self._condition:
            return self._runs.pop(run_id, None) is not None

    def events(self, run_id: RunId) -> tuple[Event, ...]:
        with self._condition:
            run = self._runs.get(run_id)
            return tuple(run.events) if run else ()

    def everything(self) -> dict[RunId, tuple[Event, ...]]:
        with self._condition:
            return {run_id: tuple(run.events) for run_id, run in self._runs.items()}

    @property
    def unwritten(self) -> int:
        """Number of runs with unwritten parts."""
        with self._condition:
            return sum(run.due is not None for run in self._runs.values())

    def _require_open(self) -> None:
        if self._closed:
            raise EngineClosed()
