"""Log of people's changes: who, when, what, on which object."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from typing import Final

from engine.messages import N_

SIGNED_IN = "signed_in"
"""The one entry that is no operation of the engine."""
LONGEST_OBJECT = 500
ROLE_NAMES: Final[Mapping[str, str]] = {"viewer": N_("viewer"), "editor": N_("editor"), "admin": N_("admin")}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log, which is only ever added to."""

    number: int
    """Counts up; also the place in the list."""
    at: str
    """ISO 8601, UTC."""
    who: str
    name: str
    role: str
    operation: str
    """Class and method, such as ``Library.drop``."""
    on: str
    """What it was done to."""


def as_csv(entries: Iterable[Entry]) -> str:
    """Entries as a table with a heading; what a spreadsheet would compute is text there too."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow([item.name for item in fields(Entry)])
    for entry in entries:
        table.writerow([_plain(value) for value in astuple(entry)])
    return written.getvalue()


def _plain(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
