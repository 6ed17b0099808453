"""Excel workbooks: a section for each sheet, a line for each row that says its headers, values as they are shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain

from engine.errors import SourceDamaged
from engine.knowledge.loaders.contents import (
    Allowance,
    Contents,
    Section,
    counted,
    document_title,
    heading,
    named,
    note,
)
from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.office import Package
from engine.knowledge.loaders.tables import Cell, Span, table_lines
from engine.knowledge.loaders.workbook_parts import Parts, Range, Row, Sheet
from engine.messages import N_
from engine.model.values import SourceNote

MOST_ROWS = 50_000
"""Rows of one workbook that are read: more would take hours to embed, and no one reads them as text."""
_MOST_REPEATED = 20_000_000
"""Characters that merged cells of one sheet repeat; from there on a value stands only where it begins."""
_SHEETS_LEFT_OUT = ("sheets_empty", "sheets_hidden", "sheets_unreadable")


def load_workbook(name: str, data: bytes, hidden: bool = False) -> Contents:
    """Sheets, rows and columns that are shown, with what is noted at cells and written in boxes.

    ``hidden``: those that are hidden too. Raises ``SourceDamaged`` where no sheet can be read, ``SourceError`` for a
    text without end.
    """
    parts = Parts(Package(name, data, ".xlsx"))
    reading = _Reading(parts, Allowance(name, len(data)), hidden)
    sections = tuple(filter(None, map(reading.section, parts.sheets)))
    if not sections and len(reading.left_out["sheets_unreadable"]) == len(parts.sheets):
        raise SourceDamaged.named(name=name, found=N_("its sheets are missing or broken"))
    return Contents(
        document_title(without_control(parts.title())), sections, notes=reading.notes(), read=dict(+parts.read)
    )


def first_sheet(name: str, data: bytes, most_rows: int) -> tuple[list[Sequence[Cell]], bool]:
    """Rows of the first visible sheet with something in it, and whether others have something too.

    At most ``most_rows`` rows, hidden ones too, for there is no account to count them in. Raises as
    :func:`load_workbook`.
    """
    parts = Parts(Package(name, data, ".xlsx"))
    visible = [sheet for sheet in parts.sheets if not sheet.hidden]
    for place, sheet in enumerate(visible, start=1):
        rows = list(_Rows(parts, sheet, most_rows, True))
        if rows:
            return rows, any(next(iter(_Rows(parts, other, 1, True)), None) for other in visible[place:])
    if any(sheet.broken for sheet in visible):
        raise SourceDamaged.named(name=name, found=N_("its sheets are missing or broken"))
    return [], False


class _Reading:
    """Goes through the sheets of a workbook and keeps the account of what was read and what was left out."""

    def __init__(self, parts: Parts, allowance: Allowance, hidden: bool) -> None:
        self.left_out: dict[str, list[str]] = {code: [] for code in _SHEETS_LEFT_OUT}
        self._parts = parts
        self._allowance = allowance
        self._hidden = hidden
        self._left = MOST_ROWS
        self._cut = 0

    def section(self, sheet: Sheet) -> Section | None:
        """The lines of a sheet; None where it is hidden, empty or broken."""
        if sheet.hidden and not self._hidden:
            self.left_out["sheets_hidden"].append(sheet.title)
            return None
        lost, read = self._parts.lost, self._parts.read
        left_out_before = lost.total()
        rows = _Rows(self._parts, sheet, self._left, self._hidden)
        lines = list(self._allowance.lines(table_lines(rows)))
        self._left -= rows.read
        self._cut += self._parts.rows_from(sheet, rows.cut) if rows.cut else 0
        boxes = self._parts.drawn(sheet)
        lost["rows_filtered" if sheet.filtered else "rows_hidden"] += rows.hidden
        lost["columns_hidden"] += len(rows.hidden_columns)
        text = "\n".join(lines) + "".join(f"\n\n{part}" for part in self._allowance.lines(boxes))
        lost["addresses_not_read"] += self._parts.addresses(sheet, text)
        read["sheets"] += bool(text)
        read["rows"] += rows.read
        read["text boxes"] += len(boxes)
        if sheet.broken:
            self.left_out["sheets_unreadable"].append(sheet.title)
        elif not text and not rows.cut and lost.total() == left_out_before:
            self.left_out["sheets_empty"].append(sheet.title)
        return Section((heading(sheet.title),), text.strip("\n")) if text else None

    def notes(self) -> tuple[SourceNote, ...]:
        parts = self._parts
        if not parts.read["sheets"]:
            self.left_out["sheets_empty"].clear()
        self.left_out["formulas_without_value"] = parts.formulas
        faults = (note(f"{part}_unreadable") for part in parts.broken)
        notes = (*named(self.left_out), *counted(parts.lost), *faults)
        return (*notes, note("rows_beyond", kept=MOST_ROWS, count=self._cut)) if self._cut else notes


class _Rows:
    """Rows of a sheet as they are shown, at most ``most`` of those with something in them.

    A merged cell stands, as one object, in each place that it reaches over.
    """

    def __init__(self, parts: Parts, sheet: Sheet, most: int, hidden: bool) -> None:
        """``hidden``: take in hidden rows and columns."""
        self.read = self.cut = 0
        """How many rows were read, and the number of the first one beyond the limit, 0 where there is none."""
        self.hidden = 0
        self.hidden_columns: set[int] = set()
        self._parts = parts
        self._sheet = sheet
        self._most = most
        self._take_hidden = hidden

    def __iter__(self) -> Iterator[Sequence[Cell]]:
        rows = self._parts.rows(self._sheet, self._take_hidden)
        first = next(rows, None)  # what is known of the sheet as a whole is known with it
        if first is None:
            return
        source = self._counted(chain([first], rows))
        if self._sheet.merged:
            source = _merged(list(source), self._sheet.merged)
        left_out = {column for columns in self._sheet.hidden_columns for column in columns}
        left_out = set() if self._take_hidden else left_out
        for row in source:
            if row.hidden and not self._take_hidden:
                continue
            self.hidden_columns |= left_out & row.cells.keys()
            width = max(row.cells.keys() - left_out, default=0)
            if width:
                yield [row.cells.get(column, "") for column in range(1, width + 1) if column not in left_out]

    def _counted(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Rows up to the limit; hidden ones too, for a merged cell may begin in one."""
        for row in rows:
            if row.hidden and not self._take_hidden:
                self.hidden += 1
            elif self.read < self._most:
                self.read += 1
            else:
                self.cut = row.number
                return
            yield row


def _merged(rows: list[Row], ranges: Sequence[Range]) -> Iterator[Row]:
    """Repeat the value of each merged cell wherever it reaches, as far to the right as any row has values."""
    rows.sort(key=lambda row: row.number)
    numbers = [row.number for row in rows]
    width = max(max(row.cells) for row in rows)
    left = _MOST_REPEATED
    for top, start, bottom, end in ranges:
        reached = rows[bisect_left(numbers, top) : bisect_right(numbers, bottom)]
        text = reached[0].cells.get(start) if reached and reached[0].number == top else None
        columns = range(start, min(end, width) + 1)
        left -= (len(str(text)) + 1) * len(reached) * len(columns)
        if isinstance(text, str) and left > 0:
            span = Span(text)
            for row in reached:
                row.cells.update(dict.fromkeys(columns, span))
    return iter(rows)
