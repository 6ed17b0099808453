"""What SQLite and the file system say about the run records, as errors of our own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import RecordError, WorkbenchError
from engine.messages import N_

OnFault = Callable[[WorkbenchError], None]


def unheard(_: WorkbenchError) -> None:
    """For a caller that asks for nothing."""


@dataclass(frozen=True, slots=True)
class Hears:
    """Who is told of a fault when it begins, and when it is over."""

    fault: OnFault
    over: OnFault = unheard


_FULL = (N_("the disk is full"), N_("Free some space on that disk"))
_LOCKED = (N_("another process keeps it locked"), N_("Close the other workbench or the tool that has it open"))
_READ_ONLY = (N_("it may only be read"), N_("Make the folder writable, or point WORKBENCH_DATA_DIR at another one"))
_IO = (N_("the disk reported an error"), N_("Look at the disk and the system log"))
_CLOSED = (N_("it cannot be opened"), N_("Make the folder writable, or point WORKBENCH_DATA_DIR at another one"))
_DAMAGED = (
    N_("it is damaged"),
    N_("Restart the workbench, which moves a damaged file aside, or restore it from a backup"),
)

_CAUSES: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_IOERR: _IO,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is at fault: not a database, torn, or without the tables that its format promises."""
    missing = _primary_code(error) == sqlite3.SQLITE_ERROR and str(error).startswith("no such")
    return missing or _primary_code(error) in _DAMAGE


def unwritable(path: Path, error: Exception) -> RecordError:
    """The records cannot be written at the moment; nothing is lost while the program runs."""
    cause, advice = _cause(error)
    return RecordError.unwritable(path=path, cause=cause, advice=advice)


def unreadable(path: Path, error: Exception) -> RecordError:
    """The records cannot be read at the moment."""
    cause, advice = _cause(error)
    return RecordError.unreadable(path=path, cause=cause, advice=advice)


def _cause(error: Exception) -> tuple[str, str]:
    if isinstance(error, OSError):
        return _CLOSED
    known = _CAUSES.get(_primary_code(error)) if isinstance(error, sqlite3.Error) else None
    return known or (f"{type(error).__name__}: {error}", N_("Look at the log of the workbench"))


def _primary_code(error: sqlite3.Error) -> int:
    # Extended codes keep the primary one in their lowest byte; errors of the module itself carry none.
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else code & 0xFF
