"""A run of this process: what it emits is numbered, timed and kept in its log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from engine.flow.context import RunClock
from engine.model.config import RunConfig
from engine.model.events import Event, RunStarted
from engine.model.values import Attachment, Chat, Fork, RunId
from engine.people import current_user
from engine.running.run_log import RunLog


class LiveRun(RunLog):
    """A run of this process."""

    def __init__(self, run_id: RunId, on_event: Callable[[RunId, Event], None]) -> None:
        super().__init__(run_id)
        self.task: asyncio.Task[None] | None = None
        """What runs it; belongs to the engine's event loop."""
        self.clock = RunClock(0.0)
        self.calls_under_way = 0
        """Model calls that have begun and not ended; written on the engine's event loop alone."""
        self._on_event = on_event
        self._sealed = False

    def begin(
        self,
        question: str,
        config: RunConfig,
        fork: Fork | None = None,
        attachments: tuple[Attachment, ...] = (),
        *,
        trial: bool = False,
        chat: Chat | None = None,
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
                author=current_user().author,
                chat=chat,
            )
        )

    def emit(self, event: Event) -> None:
        """Number and time an event, add it to the picture, and wake waiting callers; after the last one, nothing."""
        with self._changed:
            if self._finished():
                return
            numbered = replace(event, seq=len(self._events) + 1, t_ms=round(self.clock.elapsed_ms(), 3))
            # Before anyone can see it: who has seen a run end may list, load or delete its record at once.
            self._on_event(self.id, numbered)
            self._take(numbered)
        self._wake()

    def amend(self, event: Event) -> None:
        """Add an event to a run that has ended, timed at its end; after :meth:`seal`, nothing."""
        with self._changed:
            if self._sealed:
                return
            numbered = replace(event, seq=len(self._events) + 1, t_ms=self._events[-1].t_ms)
            self._on_event(self.id, numbered)
            self._take(numbered)

    @property
    def amending(self) -> bool:
        """Whether it has ended and something is still to be added."""
        return not self.active and self.task is not None and not self.task.done()

    def seal(self) -> None:
        """Take no more events: the record goes."""
        with self._changed:
            self._sealed = True

    def under_way(self) -> tuple[float, int]:
        return self.clock.elapsed_ms(), self.calls_under_way

    def note_calls(self, change: int) -> None:
        """Some roles report the end of a call alone: there are never fewer than none."""
        self.calls_under_way = max(0, self.calls_under_way + change)

    def stop(self) -> None:
        """Cancel the task, once; only on the loop that it belongs to."""
        if self.task is not None and not self.task.cancelling():
            self.task.cancel()
