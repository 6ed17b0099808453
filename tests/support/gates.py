"""Waiting: for a condition, and at a gate that a test opens for a role on another thread's event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Literal

PATIENCE_S = 60.0
"""Longest wait for what should take milliseconds, so that a fault fails a test instead of hanging it."""


class Gate(asyncio.Event):
    """``wait_until_reached`` blocks the test until a role stands at the gate; ``open`` lets it pass."""

    def __init__(self) -> None:
        super().__init__()
        self._reached = threading.Event()
        self._home: asyncio.AbstractEventLoop | None = None

    async def wait(self) -> Literal[True]:
        self._home = asyncio.get_running_loop()
        self._reached.set()
        return await super().wait()

    def wait_until_reached(self) -> None:
        assert self._reached.wait(PATIENCE_S), "nobody came to the gate"

    def open(self) -> None:
        """Let pass whoever waits; the gate must have been reached."""
        assert self._home is not None
        self._home.call_soon_threadsafe(self.set)


def until(condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Ask again and again until it holds."""
    pause = threading.Event()
    for _ in range(int(patience_s / 0.02)):
        if condition():
            return
        pause.wait(0.02)
    raise AssertionError("the condition never held")
