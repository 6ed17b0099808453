"""What SQLite and the file system say about the run records, as errors of our own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import RecordError, WorkbenchError

OnFault = Callable[[WorkbenchError], None]


def unheard(_: WorkbenchError) -> None:
    """For a caller that asks for nothing."""


@dataclass(frozen=True, slots=True)
class Hears:
    """Who is told of a fault when it begins, and when it is over."""

    fault: OnFault
    over: OnFault = unheard


_FULL = ("the disk is full", "Free some space on that disk")
_LOCKED = ("another process keeps it locked", "Close the other workbench or the tool that has it open")
_READ_ONLY = ("it may only be read", "Make the folder writable, or point WORKBENCH_DATA_DIR at another one")
_IO = ("the disk reported an error", "Look at the disk and the system log")
_CLOSED = ("it cannot be opened", "Make the folder writable, or point WORKBENCH_DATA_DIR at another one")
_DAMAGED = ("it is damaged", "Restart the workbench, which moves a damaged file aside, or restore it from a backup")

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
    cause, remedy = _cause(error)
    return RecordError(
        f"The run records {str(path)!r} cannot be written: {cause}.",
        remedy=f"{remedy}; runs go on, and are written as soon as it works again.",
        params={"path": str(path), "cause": cause},
    )


def unreadable(path: Path, error: Exception) -> RecordError:
    """The records cannot be read at the moment."""
    cause, remedy = _cause(error)
    return RecordError(
        f"The run records {str(path)!r} cannot be read: {cause}.",
        remedy=f"{remedy}.",
        params={"path": str(path), "cause": cause},
    )


def lost(path: Path, runs: int) -> RecordError:
    """The program ends with events that the disk never took."""
    return RecordError(
        f"The newest events of {runs} runs could not be written to {str(path)!r}.",
        remedy="Free some space on that disk or make the folder writable; these runs will be listed as interrupted "
        "or not at all.",
        params={"path": str(path), "runs": str(runs)},
    )


def moved_aside(path: Path, moved: Path) -> RecordError:
    """A damaged file was replaced by an empty one."""
    return RecordError(
        f"The run records {str(path)!r} were damaged; they are kept as {moved.name!r}, and a new file was begun.",
        remedy="Restore the file from a backup if the former runs are needed; otherwise delete the damaged one.",
        params={"path": str(path), "moved": moved.name},
    )


def damaged_run(run_id: str, cause: str) -> RecordError:
    """One stored run cannot be read; the others can."""
    return RecordError(
        f"Run {run_id[:64]!r} is damaged: {cause}.",
        remedy="The other runs are not affected; delete this one, or restore the file from a backup.",
        params={"run": run_id[:64], "cause": cause},
    )


def newer_format(path: Path, found: int, known: int) -> RecordError:
    """The file was written by a newer version of the program; it is left as it is."""
    return RecordError(
        f"The run records {str(path)!r} have format {found}; this version knows formats up to {known}.",
        remedy="Update the workbench, or point WORKBENCH_DATA_DIR at another folder.",
        params={"path": str(path), "found": str(found), "known": str(known)},
    )


def _cause(error: Exception) -> tuple[str, str]:
    if isinstance(error, OSError):
        return _CLOSED
    known = _CAUSES.get(_primary_code(error)) if isinstance(error, sqlite3.Error) else None
    return known or (f"{type(error).__name__}: {error}", "Look at the log of the workbench")


def _primary_code(error: sqlite3.Error) -> int:
    # Extended codes keep the primary one in their lowest byte; errors of the module itself carry none.
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else code & 0xFF
