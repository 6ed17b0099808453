"""Living processes: each holds a lock that the operating system releases when it ends, however it ends.

A process number would not do: numbers are used again, and mean nothing across containers. The lock is SQLite's own on
a tiny file, so it works equally on every system.
"""

from __future__ import annotations

import re
import sqlite3
import uuid
from contextlib import closing, suppress
from pathlib import Path

_SUFFIX = ".lock"
_ID = re.compile(r"[0-9a-f]{32}")
_TRIES = 3


class Instance:
    """This process as an owner of runs; lives from construction to :meth:`end`, or to the end of the process.

    Raises ``sqlite3.Error`` or ``OSError`` where the lock file cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for _ in range(_TRIES):
            self.id = uuid.uuid4().hex
            self._path = folder / f"{self.id}{_SUFFIX}"
            self._lock = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            # No journal next to the lock file, which would outlive it.
            self._lock.execute("PRAGMA journal_mode = MEMORY")
            self._lock.execute("BEGIN EXCLUSIVE")
            # A sweep by another process can delete the file in the moment between its making and its locking.
            if self._path.exists():
                return
            self._lock.close()
        raise OSError(f"the lock file {self._path} does not stay in place")

    def end(self) -> None:
        """Let the lock go and remove its file; idempotent."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._lock.close()
        with suppress(OSError):
            # Windows deletes no open file, so it works there only now.
            self._path.unlink(missing_ok=True)


def alive(folder: Path, owner: str) -> bool:
    """Return whether the process behind an owner's id still runs; the lock file of a dead one is removed.

    Asks for a shared lock only, so that two processes asking at once do not take each other for the owner.
    """
    if not _ID.fullmatch(owner):
        return False
    path = folder / f"{owner}{_SUFFIX}"
    if not path.exists():
        return False
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)) as probe:
            probe.execute("BEGIN")
            probe.execute("SELECT count(*) FROM sqlite_master").fetchone()
            with suppress(OSError):
                # While the lock is held, so that a process that is just starting notices that its file went.
                path.unlink(missing_ok=True)
    except sqlite3.Error:
        return path.exists()
    with suppress(OSError):
        path.unlink(missing_ok=True)
    return False


def living(folder: Path) -> int:
    """Count the living processes; lock files of killed ones are removed."""
    return sum(alive(folder, path.stem) for path in list(folder.glob(f"*{_SUFFIX}")))


def sweep(folder: Path) -> None:
    """Remove the lock files that processes killed in their sleep have left."""
    living(folder)
