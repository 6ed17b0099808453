"""Excel workbooks: a section for each sheet, a line for each row that says its headers, values as they are shown."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.loaders.contents import Allowance, Contents, Section, document_title, heading, note
from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.office import checked_package
from engine.knowledge.loaders.tables import table_lines
from engine.messages import N_
from engine.model.values import SourceNote

MOST_ROWS = 50_000
"""Rows of one workbook that are read: more would take hours to embed, and no one reads them as text."""
_LAST_ROW = 1_048_576
"""Of a sheet in Excel."""
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
_DIGITS = re.compile(r"[#0?,]+(?:\.([0#?]+))?")


def load_workbook(name: str, data: bytes) -> Contents:
    """Visible sheets with something in them; formulas count with the value that was saved with them.

    Raises ``SourceDamaged`` for what Excel would repair, ``SourceBomb`` for a text without end.
    """
    with _opened(name, data) as book:
        sections, notes = _sheets(book, Allowance(name, len(data)))
        title = document_title(without_control(book.properties.title or ""))
    return Contents(title, sections, notes=notes)


def first_sheet(name: str, data: bytes, most_rows: int) -> tuple[list[list[str]], bool]:
    """Rows of the first visible sheet with something in it, and whether others have something too.

    At most ``most_rows`` rows; raises as :func:`load_workbook`.
    """
    with _opened(name, data) as book:
        visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        for place, sheet in enumerate(visible, start=1):
            rows = list(_Rows(sheet, most_rows))
            if rows:
                return rows, any(next(iter(_Rows(other, 1)), None) for other in visible[place:])
    return [], False


@contextmanager
def _opened(name: str, data: bytes) -> Iterator[Any]:
    package = checked_package(name, data, ".xlsx")
    import openpyxl

    try:
        book = openpyxl.load_workbook(package, read_only=True, data_only=True, keep_links=False)
        try:
            yield book
        finally:
            book.close()
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # the parser has no errors of its own
        raise SourceDamaged.named(name=name, found=N_("its sheets are missing or broken")) from error


def _sheets(book: Any, allowance: Allowance) -> tuple[tuple[Section, ...], tuple[SourceNote, ...]]:
    sections: list[Section] = []
    empty: list[str] = []
    hidden: list[str] = []
    left, cut = MOST_ROWS, False
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            hidden.append(sheet.title)
            continue
        rows = _Rows(sheet, left)
        text = "\n".join(allowance.lines(table_lines(rows)))
        left -= rows.read
        cut = cut or rows.cut
        if text:
            sections.append(Section((heading(without_control(sheet.title)),), text))
        elif not rows.cut:
            empty.append(sheet.title)
    notes = []
    if empty and sections:
        notes.append(note("sheets_empty", count=len(empty), sheets=", ".join(empty)[:200]))
    if hidden:
        notes.append(note("sheets_hidden", count=len(hidden), sheets=", ".join(hidden)[:200]))
    if cut:
        notes.append(note("rows_cut", kept=MOST_ROWS))
    return tuple(sections), tuple(notes)


class _Rows:
    """Rows of a sheet as they are shown, at most ``most`` of those with something in them."""

    def __init__(self, sheet: Any, most: int) -> None:
        self.read = 0
        self.cut = False
        self._sheet = sheet
        self._most = most

    def __iter__(self) -> Iterator[list[str]]:
        self._sheet.reset_dimensions()  # what the file states of its size may be wrong or absurd
        for number, row in enumerate(self._sheet.iter_rows(), 1):
            if number > _LAST_ROW:
                raise ValueError(f"row {number}")  # the parser makes up every row before the one that the file names
            cells = [_shown(cell) for cell in row]
            if any(cells):
                if self.read >= self._most:
                    self.cut = True
                    return
                self.read += 1
                yield cells


def _shown(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return number_text(value, cell.number_format or "General")
    if isinstance(value, datetime.datetime):
        whole_day = value.time() == datetime.time()
        return value.date().isoformat() if whole_day else value.isoformat(" ", "seconds").removesuffix(":00")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return without_control(str(value)).strip()


def number_text(value: float, code: str) -> str:
    """A number as its format code shows it: per cent, decimals, thousands and currency signs; others as they are."""
    parts = code.split(";")
    part = parts[1] if value < 0 and len(parts) > 1 and parts[1].strip() else parts[0]
    own_sign = value < 0 and len(parts) > 1
    bare = _LITERAL.sub("", part)
    digits = _DIGITS.search(bare)
    if digits is None or bare.lower().strip() == "general" or "E" in bare.upper() or "/" in bare:
        return f"{value:.15g}"
    percent = "%" in bare
    decimals = len((digits.group(1) or "").replace("?", "#"))
    grouped = "," in digits.group().split(".")[0].rstrip(",")
    size = (abs(value) if own_sign else value) * (100 if percent else 1)
    text = f"{size:{',' if grouped else ''}.{decimals}f}"
    if "#" in (digits.group(1) or ""):
        text = text.rstrip("0").rstrip(".") if "0" not in (digits.group(1) or "") else text
    before, after = part[: _start(part)], part[_end(part) :]
    return f"{_literal(before)}{text}{'%' if percent else ''}{_literal(after)}".strip()


def _start(part: str) -> int:
    found = re.search(r"[#0?]", _LITERAL.sub(lambda match: "\x00" * len(match.group()), part))
    return found.start() if found else len(part)


def _end(part: str) -> int:
    masked = _LITERAL.sub(lambda match: "\x00" * len(match.group()), part)
    return max(masked.rfind(sign) for sign in "#0?") + 1


def _literal(text: str) -> str:
    """The signs that a format shows around a number: quoted words, currency, brackets."""
    shown = _LITERAL.sub(lambda match: match.group(1) or match.group(2) or match.group(3) or "", text)
    return re.sub(r"[^\w()（）\-+$€£¥￥ ]", "", shown).replace("General", "")
