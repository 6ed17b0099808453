"""Errors of the database and the file system on run records, as errors of our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.database.faults import cause_at
from engine.errors import RecordError, WorkbenchError

OnFault = Callable[[WorkbenchError], None]


def unheard(_: WorkbenchError) -> None:
    """Ignore a fault, for callers that do not want to hear of any."""


@dataclass(frozen=True, slots=True)
class Hears:
    """The functions that are called with a fault when it begins, and when it is over."""

    fault: OnFault
    over: OnFault = unheard


def unwritable(place: str, error: Exception) -> RecordError:
    """The records cannot be written at the moment; nothing is lost while the program runs."""
    cause, advice = cause_at(place, error)
    return RecordError.unwritable(path=place, cause=cause, advice=advice)


def unreadable(place: str, error: Exception) -> RecordError:
    """The records cannot be read at the moment."""
    cause, advice = cause_at(place, error)
    return RecordError.unreadable(path=place, cause=cause, advice=advice)
