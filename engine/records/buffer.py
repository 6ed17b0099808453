"""Runs of this process that are not wholly on disk yet: the truth about them until they are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from engine.errors import EngineClosed
from engine.model.events import AnswerBegun, AnswerCompleted, Event, RunFinished, RunStarted, TokenStreamed
from engine.model.values import RunId

PARTIAL_ANSWER_S = 0.25
"""How far the stored part of an answer may lag behind what has been streamed."""


@dataclass(slots=True)
class _Buffered:
    events: list[Event] = field(default_factory=list)
    saved: int = 0
    """How many of ``events`` a committed transaction covers."""
    due: float | None = None
    """When the rest is to be written, on the monotonic clock; None where nothing is left."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What of one run is to be written."""

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
        """What has been streamed since the last complete answer."""
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
        """What is due, or all that is not written; to be followed by :meth:`saved` or :meth:`failed`."""
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
        """What was taken last is not on disk: it is due again."""
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
        """How many runs have something that is not on disk."""
        with self._condition:
            return sum(run.due is not None for run in self._runs.values())

    def _require_open(self) -> None:
        if self._closed:
            raise EngineClosed()
