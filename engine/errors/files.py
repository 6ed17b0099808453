"""What SQLite and the system say about a file of ours, as pieces of the sentences of an error."""

from __future__ import annotations

import sqlite3

from engine.messages import N_

_LOCKED = (N_("another process keeps it locked"), N_("Close the other workbench or the tool that has it open"))
_READ_ONLY = (N_("it may only be read"), N_("Make the folder writable, or point WORKBENCH_DATA_DIR at another one"))
_CAUSES = {
    sqlite3.SQLITE_FULL: (N_("the disk is full"), N_("Free some space on that disk")),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_IOERR: (N_("the disk reported an error"), N_("Look at the disk and the system log")),
    sqlite3.SQLITE_CANTOPEN: (N_("it cannot be opened"), _READ_ONLY[1]),
}
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def primary_code(error: Exception) -> int:
    """Return the code of SQLite without what extends it; -1 for errors of Python's module and of anything else."""
    # Extended codes keep the primary one in their lowest byte.
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else code & 0xFF


def is_damage(error: Exception) -> bool:
    """Whether the file itself is at fault: not a database, torn, or without the tables that its format promises."""
    missing = isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such")
    return missing or primary_code(error) in _DAMAGE


def cause_of(error: Exception) -> tuple[str, str]:
    """Return why a file cannot be used and what to do about it, for an error that is no damage."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__, _READ_ONLY[1]
    unknown = (f"{type(error).__name__}: {error}", N_("Look at the log of the workbench"))
    return _CAUSES.get(primary_code(error), unknown)
