"""Runs by their ids: those in progress in this process or in another one, and those that are over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

from engine.model.events import Event
from engine.model.values import RunRecord
from engine.running.followed_runs import FollowedRuns
from engine.running.live_runs import LiveRuns
from engine.running.run_log import RunLog
from engine.samples.archive import Archive
from engine.samples.shipped import is_shipped


class RunLookup:
    """Safe to call from any thread; raises ``UnknownRun`` for one that is nowhere, or kept from the current user."""

    def __init__(self, here: LiveRuns, elsewhere: FollowedRuns, over: Archive) -> None:
        self._here = here
        self._elsewhere = elsewhere
        self._over = over

    def log(self, run_id: str) -> RunLog | None:
        """The log of a run in progress, or just ended here; None where it is over."""
        return self._here.find(run_id) or (None if is_shipped(run_id) else self._elsewhere.follow(run_id))

    def record(self, run_id: str) -> RunRecord:
        """The record of a run as far as it is known."""
        run = self._known(run_id)
        return run.record if run else self._over.record(run_id)

    def cancel(self, run_id: str) -> bool:
        """Stop a run within one step; False where it had ended."""
        if self._here.find(run_id) is not None:
            return self._here.cancel(run_id)
        return not is_shipped(run_id) and self._elsewhere.cancel(run_id)

    def wait(self, run_id: str, timeout_s: float | None) -> bool:
        """Block until a run has ended; False where ``timeout_s`` passed first."""
        run = self.log(run_id)
        return True if run is None else run.wait(timeout_s)

    def events(self, run_id: str, after: int) -> Iterator[Event]:
        """Events above a sequence number, to the end of the run."""
        run = self.log(run_id)
        return run.follow(after) if run else iter(self._over.events(run_id, after))

    async def aevents(self, run_id: str, after: int) -> AsyncIterator[Event]:
        """:meth:`events` for an event loop."""
        run: RunLog | None = self._here.find(run_id)
        if run is None:
            run = await asyncio.to_thread(self.log, run_id)
        if run is not None:
            async for event in run.afollow(after):
                yield event
            return
        for event in await asyncio.to_thread(self._over.events, run_id, after):
            yield event

    def under_way(self, run_id: str) -> tuple[float, int]:
        """Milliseconds that a run has taken until now, and its calls that wait for their end; zeros at its end."""
        run = self._known(run_id)
        return run.under_way() if run is not None and run.active else (0.0, 0)

    def _known(self, run_id: str) -> RunLog | None:
        """The log of a run that is here, or followed already."""
        return self._here.find(run_id) or self._elsewhere.find(run_id)
