"""Rows of the table in a file, by what its bytes are; runs in a process apart, for parsers meet foreign bytes here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from engine.attachments.admission import MOST_COLUMNS, MOST_ROWS
from engine.errors import SourceEmpty
from engine.knowledge.loaders.encoding import decode
from engine.knowledge.loaders.readable import markdown_tables
from engine.knowledge.loaders.separated import separated_rows
from engine.knowledge.loaders.tables import Cell, cell_texts, header_rows, joined_header
from engine.knowledge.loaders.web_page import html_tables
from engine.knowledge.loaders.workbook import first_sheet

Rows = Sequence[Sequence[Cell]]
_FORMS = {".csv": "csv", ".tsv": "csv", ".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}
_LEAST_SAME_WIDTH = 0.8
"""Share of rows with one width from which a text without a telling name counts as separated values."""


@dataclass(frozen=True, slots=True)
class TableRead:
    """The largest table of a file."""

    form: str
    rows: Sequence[Sequence[str]]
    """A row and a column more than allowed where there are more."""
    headed: bool
    caption: str = ""
    """Lines above the header, such as a title with units."""
    others: bool = False
    """Whether the file has further tables, which were left out."""


def table_values(name: str, data: bytes) -> dict[str, Any]:
    """The :class:`TableRead` of a file as plain values."""
    return asdict(table_of(name, data))


def table_of(name: str, data: bytes) -> TableRead:
    """The first sheet of a workbook, else the largest table of a text; its suffix says which form is tried first.

    Raises ``SourceEmpty`` where there is no table, and what else the readers of files raise.
    """
    if data.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        rows, others = first_sheet(name, data, MOST_ROWS + 1)
        return _table_of(name, "xlsx", [rows], others)
    own = _FORMS.get(PurePosixPath(name.lower()).suffix, "")
    for form in sorted(_READERS, key=lambda form: form != own):
        tables = _READERS[form](name, data, form == own)
        if tables:
            return _table_of(name, form, tables)
    raise SourceEmpty(name=name)


def _table_of(name: str, form: str, tables: Sequence[Rows], others: bool = False) -> TableRead:
    rows = max(tables, key=lambda table: sum(bool(cell) for row in table for cell in cell_texts(row)))
    shown = [row[: MOST_COLUMNS + 1] for row in rows[: MOST_ROWS + 1] if any(cell_texts(row))]
    if not shown:
        raise SourceEmpty(name=name)
    places = header_rows(shown[:10])
    caption = "; ".join(cell for row in shown[: places.start] for cell in dict.fromkeys(cell_texts(row)) if cell)
    header = [joined_header(shown[places.start : places.stop])] if places else []
    return TableRead(
        form, [*header, *map(cell_texts, shown[places.stop :])], bool(places), caption, others or len(tables) > 1
    )


def _separated(name: str, data: bytes, named: bool) -> list[Rows]:
    rows, _ = separated_rows(name, decode(name, data))
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    widths = [len(row) for row in rows]
    same_width = max((widths.count(width) for width in set(widths) if width > 1), default=0)
    if named or (len(rows) > 1 and same_width >= _LEAST_SAME_WIDTH * len(rows)):
        return [rows] if rows else []
    return []


def _markdown(name: str, data: bytes, named: bool) -> list[Rows]:
    return [*markdown_tables(decode(name, data))]


def _html(name: str, data: bytes, named: bool) -> list[Rows]:
    if b"<table" not in data.lower() and not named:
        return []
    return [table for table in html_tables(name, data) if table]


_READERS: dict[str, Callable[[str, bytes, bool], list[Rows]]] = {
    "html": _html,
    "markdown": _markdown,
    "csv": _separated,
}
"""By form, the one that is hardest to mistake first."""
