"""Collections that other programs made, connected by address and read only."""

from __future__ import annotations

from engine.loop_thread import LoopThread
from engine.resources import Resources


class Connections:
    """Safe to call from any thread; every method blocks until it is done unless it says otherwise."""

    def __init__(self, loop: LoopThread, resources: Resources) -> None:
        self._loop = loop
        self._resources = resources

    def close(self) -> None:
        """Stop what goes on; nothing half done is left behind."""
