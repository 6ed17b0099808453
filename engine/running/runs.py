"""Live runs: an append-only log of events per run, readable from any thread while it grows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from engine.model.config import RunConfig
from engine.model.events import Event, RunFinished, RunStarted, fold
from engine.model.values import Attachment, Fork, RunId, RunRecord
from engine.running.context import RunClock


class LiveRun:
    """One run from its first event to its last; ``record`` is the fold of what has been emitted."""

    def __init__(self, run_id: RunId, on_event: Callable[[RunId, Event], None]) -> None:
        self.id = run_id
        self.task: asyncio.Task[None] | None = None
        """What runs it; belongs to the engine's event loop."""
        self.clock = RunClock(0.0)
        self.calls_under_way = 0
        """Model calls that have begun and not ended; written on the engine's event loop alone."""
        self._on_event = on_event
        self._events: list[Event] = []
        self._record: RunRecord | None = None
        self._changed = threading.Condition()
        self._listeners: set[Callable[[], None]] = set()

    def begin(
        self,
        question: str,
        config: RunConfig,
        fork: Fork | None = None,
        attachments: tuple[Attachment, ...] = (),
        *,
        trial: bool = False,
    ) -> None:
        """Start the clock and emit the first event."""
        self.clock = RunClock(config.budget_s)
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.emit(
            RunStarted(
                run_id=self.id,
                question=question,
                config=config,
                started_at=started_at,
                fork=fork,
                attachments=attachments,
                trial=trial,
            )
        )

    def emit(self, event: Event) -> None:
        """Number and time an event, add it to the picture, and wake whoever waits; after the last one, nothing."""
        with self._changed:
            if self._finished():
                return
            numbered = replace(event, seq=len(self._events) + 1, t_ms=round(self.clock.elapsed_ms(), 3))
            self._events.append(numbered)
            self._record = fold(self._record, numbered)
            # Before anybody can see it: who has seen a run end may list, load or delete its record at once.
            self._on_event(self.id, numbered)
            self._changed.notify_all()
            listeners = tuple(self._listeners)
        for wake in listeners:
            wake()

    def note_calls(self, change: int) -> None:
        """Some roles report the end of a call alone: there are never fewer than none."""
        self.calls_under_way = max(0, self.calls_under_way + change)

    def stop(self) -> None:
        """Cancel the task, once; only on the loop that it belongs to."""
        if self.task is not None and not self.task.cancelling():
            self.task.cancel()

    @property
    def record(self) -> RunRecord:
        """The picture so far; raises ``RuntimeError`` before the first event."""
        with self._changed:
            if self._record is None:
                raise RuntimeError("the run has not begun")
            return self._record

    @property
    def active(self) -> bool:
        with self._changed:
            return not self._finished()

    def since(self, after: int) -> list[Event]:
        """Events with a sequence number above ``after``, at once."""
        with self._changed:
            return self._events[max(after, 0) :]

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until the run has ended; False where ``timeout_s`` passed first."""
        with self._changed:
            return self._changed.wait_for(self._finished, timeout_s)

    def follow(self, after: int = 0) -> Iterator[Event]:
        """Events from ``after`` on, blocking for new ones, ending with the run's last."""
        after = max(after, 0)
        while True:
            with self._changed:
                while len(self._events) <= after and not self._finished():
                    self._changed.wait()
                fresh = self._events[after:]
            for event in fresh:
                yield event
                if isinstance(event, RunFinished):
                    return
            if not fresh:
                return
            after += len(fresh)

    async def afollow(self, after: int = 0) -> AsyncIterator[Event]:
        """:meth:`follow` for an event loop, which may be another one than the engine's."""
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        after = max(after, 0)

        def wake() -> None:
            # A web server that has stopped closes its loop before its listeners are gone; the run is in progress.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(changed.set)

        with self._changed:
            self._listeners.add(wake)
        try:
            while True:
                changed.clear()
                with self._changed:
                    # Together, or the last event could slip in between.
                    fresh, over = self._events[after:], self._finished()
                for event in fresh:
                    yield event
                if over:
                    return
                after += len(fresh)
                await changed.wait()
        finally:
            with self._changed:
                self._listeners.discard(wake)

    def _finished(self) -> bool:
        return self._record is not None and self._record.outcome is not None
