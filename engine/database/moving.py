"""Messages on records copied between databases, for the tables here and those of plug-ins."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Row = tuple[Any, ...]


@dataclass(slots=True)
class Checksum:
    """Count and checksum of the rows of a table, the same in any order and for every kind of database."""

    rows: int = 0
    _sum: int = field(default=0, repr=False)

    def add(self, row: Row) -> None:
        text = json.dumps([_canonical(value) for value in row], ensure_ascii=False, separators=(",", ":"))
        self._sum += int.from_bytes(hashlib.sha256(text.encode()).digest())
        self.rows += 1

    @property
    def text(self) -> str:
        """The sum of all rows' SHA-256, without its overflow, in 64 hexadecimal digits."""
        return f"{self._sum % (1 << 256):064x}"


@dataclass(frozen=True, slots=True)
class MovedTable:
    """Rows of one table copied and verified."""

    name: str
    rows: int
    """Rows of the source, all of which the target has now."""
    written: int
    """Rows that the target did not have before."""
    checksum: str


def _canonical(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else value
