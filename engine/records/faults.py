"""What SQLite and the file system say about the run records, as errors of our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import RecordError, WorkbenchError
from engine.errors.files import cause_of, is_damage
from engine.messages import N_

OnFault = Callable[[WorkbenchError], None]


def unheard(_: WorkbenchError) -> None:
    """Ignore a fault, for callers that do not want to hear of any."""


@dataclass(frozen=True, slots=True)
class Hears:
    """The functions that are called with a fault when it begins, and when it is over."""

    fault: OnFault
    over: OnFault = unheard


_DAMAGED = (
    N_("it is damaged"),
    N_("Restart the workbench, which moves a damaged file aside, or restore it from a backup"),
)


def unwritable(path: Path, error: Exception) -> RecordError:
    """The records cannot be written at the moment; nothing is lost while the program runs."""
    cause, advice = _cause(error)
    return RecordError.unwritable(path=path, cause=cause, advice=advice)


def unreadable(path: Path, error: Exception) -> RecordError:
    """The records cannot be read at the moment."""
    cause, advice = _cause(error)
    return RecordError.unreadable(path=path, cause=cause, advice=advice)


def _cause(error: Exception) -> tuple[str, str]:
    return _DAMAGED if is_damage(error) else cause_of(error)
