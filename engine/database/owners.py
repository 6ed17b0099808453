"""Processes that use a database, and whether the one behind a run or job is alive."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection

from engine.database.instance import Instance, alive, living, sweep


class Membership(Protocol):
    """This process among those that use a database."""

    id: str

    def end(self) -> None:
        """Leave; idempotent."""


class Owners(Protocol):
    """The processes that use a database; every method is safe from any thread, and may raise what using it raises."""

    @property
    def place(self) -> str:
        """Name in messages."""

    def join(self) -> Membership:
        """Become one of them, under a new id."""

    def alive(self, owner: str, connection: Connection | None = None) -> bool:
        """Return whether the process behind an id still runs; on the caller's connection if given."""

    def living(self) -> int:
        """Count the living processes."""

    def sweep(self) -> None:
        """Remove what processes that ended badly have left."""


class FileOwners:
    """Processes of one machine, each with a lock file in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._dead: set[str] = set()

    @property
    def place(self) -> str:
        return str(self._folder)

    def join(self) -> Membership:
        return Instance(self._folder)

    def alive(self, owner: str, connection: Connection | None = None) -> bool:
        # An id is never used again, so a dead one stays dead.
        if owner not in self._dead and not alive(self._folder, owner):
            self._dead.add(owner)
        return owner not in self._dead

    def living(self) -> int:
        return living(self._folder)

    def sweep(self) -> None:
        sweep(self._folder)
