"""Images and tables that come with a question, as they were read (GH-05)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AttachmentKind = Literal["image", "table"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """One image or table of a question: what was read of it, which the reader of the page may have corrected."""

    kind: AttachmentKind
    name: str
    """Of the file, or what the reader called it; untrusted."""
    text: str = ""
    """Of an image: what was read or seen. Of a table: empty, its cells are in ``rows``."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Of a table, all of one width; the first row is the header where ``header`` is true. ``B3`` is column 2, row 3."""
    header: bool = True
    read_by: str = ""
    """``ocr``, a vision model's name, or the form of a table: ``csv``, ``xlsx``, ``markdown``, ``html``."""
    edited: bool = False
    """Whether a person changed what was read."""
    digest: str = ""
    """SHA-256 of the file; the file itself is not kept."""
    cut: str = ""
    """What of it was left out because of a limit, empty where nothing was: ``rows``, ``columns``, ``size`` (both),
    ``text`` or ``tables``."""


@dataclass(frozen=True, slots=True)
class CellCitation:
    """A marker ``[T1:B3]`` of the answer and the cell it points to."""

    table: int
    """From 1, among the tables of the question."""
    cell: str
    """Column letters and row number, as spreadsheets write them."""
    value: str
    row_label: str = ""
    """First cell of its row."""
    column_label: str = ""
    """Header of its column."""

    @property
    def marker(self) -> str:
        return f"T{self.table}:{self.cell}"
