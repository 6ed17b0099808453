"""Notes on a file that was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SourceNote:
    """Something a reader should know of a file that could be read: pages without text, sheets left out."""

    code: str
    """One of the codes that ``engine.library.accounts`` has a sentence for."""
    params: dict[str, str] = field(default_factory=dict)


UNSURE = frozenset({"encoding", "pages_recognised", "pages_to_recognise", "rows_ragged"})
"""Codes of notes that say how something was read, and not that it was left out."""
EXPECTED = frozenset(
    {"contents_lines", "front_matter", "headers_unused", "page_frame", "running_heads", "sheets_empty"}
)
"""Codes of what is left out of every file and holds nothing of its text: what repeats it, frames it, or is empty."""


@dataclass(frozen=True, slots=True)
class Account:
    """Account of reading a source: parts read by kind, and parts left out with the reasons."""

    read: dict[str, int] = field(default_factory=dict)
    """How many parts of each kind were read: ``{"paragraphs": 12, "tables": 2}``."""
    notes: tuple[SourceNote, ...] = ()
    hidden: bool = False
    """Whether what its author hid was to be read too."""

    @property
    def left_out(self) -> tuple[SourceNote, ...]:
        """Return the notes of what a reader of the text may miss."""
        return tuple(note for note in self.notes if note.code not in UNSURE | EXPECTED)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    @classmethod
    def of(cls, plain: object) -> Account | None:
        """Return what :meth:`to_dict` wrote; None for anything else, such as a source of an earlier version."""
        if not isinstance(plain, Mapping):
            return None
        try:
            return cls(
                read={str(kind): int(count) for kind, count in plain["read"].items()},
                notes=tuple(
                    SourceNote(str(note["code"]), {str(name): str(value) for name, value in note["params"].items()})
                    for note in plain["notes"]
                ),
                hidden=bool(plain["hidden"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
