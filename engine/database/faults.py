"""Errors of SQLite and the system about our database, as parts of error messages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from engine.messages import N_

UNUSABLE = (SQLAlchemyError, OSError)
"""What using a database can raise."""

LOCKED = (N_("another process keeps it locked"), N_("Close the other workbench or the tool that has it open"))
_READ_ONLY = (N_("it may only be read"), N_("Make the folder writable, or point WORKBENCH_DATA_DIR at another one"))
FULL = (N_("the disk is full"), N_("Free some space on that disk"))
_SQLITE = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_IOERR: (N_("the disk reported an error"), N_("Look at the disk and the system log")),
    sqlite3.SQLITE_CANTOPEN: (N_("it cannot be opened"), _READ_ONLY[1]),
}
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_DAMAGED = (
    N_("it is damaged"),
    N_("Restart the workbench, which moves a damaged file aside, or restore it from a backup"),
)
_GONE = (
    N_("it was deleted or moved while the workbench was running"),
    N_("Close the workbench and restore it from a backup, or start it again without what was in it"),
)
translators: list[Callable[[DBAPIError], tuple[str, str] | None]] = []
"""Of plug-ins, for the errors of their kinds of database: each adds what :func:`cause_of` is to return, if known."""


def original(error: Exception) -> BaseException:
    """The driver's own error behind SQLAlchemy's."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def primary_code(error: Exception) -> int:
    """Return the code of SQLite without what extends it; -1 for errors of Python's module and of anything else."""
    # Extended codes keep the primary one in their lowest byte.
    code: int | None = getattr(original(error), "sqlite_errorcode", None)
    return -1 if code is None else code & 0xFF


def is_damage(error: Exception) -> bool:
    """Return whether the file itself is at fault: no database, damaged, or without the tables of its format."""
    found = original(error)
    missing = isinstance(found, sqlite3.OperationalError) and str(found).startswith("no such")
    return missing or primary_code(error) in _DAMAGE


def cause_of(error: Exception) -> tuple[str, str]:
    """Return why a database cannot be used and what to do about it, for an error that is no damage."""
    found = original(error)
    if isinstance(found, OSError):
        return found.strerror or type(found).__name__, _READ_ONLY[1]
    unknown = (f"{type(found).__name__}: {found}", N_("Look at the log of the workbench"))
    if isinstance(found, sqlite3.Error):
        return _SQLITE.get(primary_code(error), unknown)
    if isinstance(error, DBAPIError):
        return next((cause for known in translators if (cause := known(error)) is not None), unknown)
    return unknown


def cause_or_damage(error: Exception) -> tuple[str, str]:
    """Return :func:`cause_of`, or that the file is damaged."""
    return _DAMAGED if is_damage(error) else cause_of(error)


def cause_at(place: str, error: Exception) -> tuple[str, str]:
    """Return :func:`cause_or_damage`, or that the file at ``place`` is gone."""
    file = Path(place)
    unopened = primary_code(error) == sqlite3.SQLITE_CANTOPEN and not file.exists()
    # In a folder that may only be read it was never there.
    return _GONE if unopened and os.access(file.parent, os.W_OK) else cause_or_damage(error)
