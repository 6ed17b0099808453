"""Short messages between the processes that share a database; each is heard at most once by each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sqlalchemy import Connection

Hear = Callable[[str], None]


class Signals(Protocol):
    """Carries what processes tell each other; none is kept for a process that does not listen at the moment."""

    def send(self, signal: str, connection: Connection | None = None) -> bool:
        """Tell all processes, this one too, within the transaction of a connection; False where nothing carries it.

        Raises nothing without a connection: a signal that cannot be sent is one that does not arrive.
        """

    def listen(self, hear: Hear) -> None:
        """Call ``hear`` with every signal from now on, on a thread of its own; it must return soon."""

    def close(self) -> None:
        """Hear nothing any more."""


class NoSignals:
    """Between processes that share files: those who wait for something look again after a while."""

    def send(self, signal: str, connection: Connection | None = None) -> bool:
        return False

    def listen(self, hear: Hear) -> None:
        return

    def close(self) -> None:
        return
