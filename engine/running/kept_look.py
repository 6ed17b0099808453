"""A look at a server that is made at most every half minute, and holds no page up for longer than it will wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

_T = TypeVar("_T")
_KEPT_S = 30.0


class KeptLook(Generic[_T]):
    """The newest answer of ``look``, which never raises and ends by itself; lives on one event loop."""

    def __init__(self, look: Callable[[], Awaitable[_T]]) -> None:
        self._look = look
        self.known: _T | None = None
        """What the newest look found; None before the first has ended."""
        self._known_at = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def __call__(self, *, fresh: bool = False, patience_s: float | None = None) -> _T | None:
        """Look again where the answer is old or a ``fresh`` one is wanted.

        After ``patience_s`` seconds the caller gets what was known before, while it is still being looked: a page is
        not held up by an address that swallows packets.
        """
        if fresh or self.known is None or time.monotonic() - self._known_at > _KEPT_S:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._take())
            with suppress(TimeoutError):
                # Shielded: others may be waiting for the same look.
                await asyncio.wait_for(asyncio.shield(self._looking), patience_s)
        return self.known

    async def _take(self) -> None:
        self.known = await self._look()
        self._known_at = time.monotonic()
