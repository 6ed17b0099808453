"""The log of one run: its events in order, readable from any thread while it grows."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress

from engine.model.events import Event, RunFinished, fold
from engine.model.values import RunId, RunRecord


class RunLog(ABC):
    """One run from its first event to its last; ``record`` is the fold of what has come."""

    def __init__(self, run_id: RunId) -> None:
        self.id = run_id
        self._events: list[Event] = []
        self._record: RunRecord | None = None
        lock = threading.RLock()
        self._changed = threading.Condition(lock)
        self._over = threading.Condition(lock)
        """Apart, so that an event wakes nobody who waits for the end: each would take the interpreter from the run."""
        self._listeners: set[Callable[[], None]] = set()
        """Those who follow on an event loop."""
        self._waiting = 0
        """How many wait on threads."""

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

    @abstractmethod
    def under_way(self) -> tuple[float, int]:
        """Milliseconds that it has taken until now, and its model calls that wait for their end, as far as known."""

    def since(self, after: int) -> list[Event]:
        """Events with a sequence number above ``after``, at once."""
        with self._changed:
            return self._after(after)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until the run has ended; False where ``timeout_s`` passed first."""
        with self._one_more(), self._changed:
            return self._over.wait_for(self._finished, timeout_s)

    def follow(self, after: int = 0) -> Iterator[Event]:
        """Events from ``after`` on, blocking for new ones, ending with the run's last."""
        with self._one_more():
            while True:
                with self._changed:
                    while not (fresh := self._after(after)) and not self._finished():
                        self._changed.wait()
                for event in fresh:
                    yield event
                    if isinstance(event, RunFinished):
                        return
                if not fresh:
                    return
                after = fresh[-1].seq

    async def afollow(self, after: int = 0) -> AsyncIterator[Event]:
        """:meth:`follow` for an event loop, which may be another one than the engine's."""
        loop = asyncio.get_running_loop()
        changed = asyncio.Event()

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
                    fresh, over = self._after(after), self._finished()
                for event in fresh:
                    yield event
                if over:
                    return
                after = fresh[-1].seq if fresh else after
                await changed.wait()
        finally:
            with self._changed:
                self._listeners.discard(wake)

    @contextmanager
    def _one_more(self) -> Iterator[None]:
        """Count a caller that waits on a thread."""
        with self._changed:
            self._waiting += 1
        try:
            yield
        finally:
            with self._changed:
                self._waiting -= 1

    def _finished(self) -> bool:
        return self._record is not None and self._record.outcome is not None

    def _take(self, event: Event) -> None:
        """Add an event, under the condition; waiting callers are woken by :meth:`_wake` behind it."""
        self._events.append(event)
        self._record = fold(self._record, event)
        self._changed.notify_all()
        if self._finished():
            self._over.notify_all()

    def _wake(self) -> None:
        """Wake those who follow on an event loop; not under the condition, for they may be on this very thread."""
        with self._changed:
            listeners = tuple(self._listeners)
        for wake in listeners:
            wake()

    def _after(self, seq: int) -> list[Event]:
        return self._events[bisect_right(self._events, seq, key=lambda event: event.seq) :]
