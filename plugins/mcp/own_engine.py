"""The engine of a server on standard input and output: opened at a call, and let go of soon after.

The embedded store can be open in one process, and an agent keeps its servers for the whole day: held open, the folder
would be kept from the app.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from engine.engine import Engine
from engine.settings import Settings

IDLE_S = 20.0
"""How long after a call it stays open: an agent that thinks for a moment does not wait for it again."""


class OwnEngine:
    """Opens an engine where it is asked for one, and closes it where nothing has used it for a while."""

    def __init__(
        self, settings: Settings, idle_s: float = IDLE_S, opening: Callable[[Settings], Engine] = Engine.open
    ) -> None:
        self._settings = settings
        self._opening = opening
        self._idle_s = idle_s
        self._guard = threading.Lock()
        self._engine: Engine | None = None
        self._uses = 0
        self._closing: asyncio.Task[None] | None = None

    def get(self) -> Engine:
        """The engine; blocks while it opens."""
        with self._guard:
            if self._engine is None:
                self._engine = self._opening(self._settings)
            return self._engine

    @asynccontextmanager
    async def used(self) -> AsyncIterator[None]:
        """While this lasts, it stays open."""
        self._uses += 1
        if self._closing is not None:
            self._closing.cancel()
        try:
            yield
        finally:
            self._uses -= 1
            self._closing = asyncio.get_running_loop().create_task(self._close_later())

    async def _close_later(self) -> None:
        while True:
            await asyncio.sleep(self._idle_s)
            if not self._uses and not await asyncio.to_thread(self._busy):
                await asyncio.to_thread(self.close)
                return

    def _busy(self) -> bool:
        """Return whether something started by a call is in progress: a run, a job, a batch."""
        engine = self._engine
        if engine is None:
            return False
        jobs = any(not job.over for job in engine.ingestions.jobs())
        return jobs or bool(engine.active_runs()) or engine.batches.running is not None

    def let_go(self) -> None:
        """Close it where nothing uses it."""
        if not self._uses:
            self.close()

    def close(self) -> None:
        """Close it, if it is open; the next call opens another one."""
        with self._guard:
            engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
