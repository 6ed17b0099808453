"""Markers ``[T1:B3]`` in an answer: which cell of a table of the question each one points to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from engine.model.values import Attachment, CellCitation

CELL = r"[Tt]\d{1,2}\s*[:：!]\s*\$?[A-Za-z]{1,2}\$?\d{1,4}"
_CELL = re.compile(r"[Tt](\d{1,2})\s*[:：!]\s*\$?([A-Za-z]{1,2})\$?(\d{1,4})")
_LETTERS = 26


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell by the numbers of table, column and row, all from 1."""

    table: int
    column: int
    row: int

    @property
    def marker(self) -> str:
        return f"[T{self.table}:{column_letters(self.column)}{self.row}]"


def column_letters(number: int) -> str:
    """Letters of a column as spreadsheets write them: 1 is A, 27 is AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, _LETTERS)
        letters = chr(ord("A") + rest) + letters
    return letters


def cell_named(text: str) -> Cell | None:
    """The cell that a text like ``T1:B3`` names; None where it names none."""
    found = _CELL.fullmatch(text.strip())
    if found is None:
        return None
    column = 0
    for letter in found.group(2).upper():
        column = column * _LETTERS + ord(letter) - ord("A") + 1
    return Cell(int(found.group(1)), column, int(found.group(3)))


def citation_of(cell: Cell, tables: Sequence[Attachment]) -> CellCitation | None:
    """The cell with its value and labels; None where no table has it, or where it is blank."""
    if not 1 <= cell.table <= len(tables):
        return None
    table = tables[cell.table - 1]
    value = _at(table, cell.column, cell.row)
    if not value.strip():
        return None
    return CellCitation(
        table=cell.table,
        cell=f"{column_letters(cell.column)}{cell.row}",
        value=value,
        row_label=_at(table, 1, cell.row) if cell.column > 1 else "",
        column_label=_at(table, cell.column, 1) if table.header and cell.row > 1 else "",
    )


def spoken_of(cited: CellCitation, sentence: str) -> bool:
    """Return whether a sentence has anything of the cell: its value, or the name of its row or column.

    A sum or a comparison states none of the values that it was made from, but names what they belong to.
    """
    said = _folded(sentence)
    return any(_stands(part, said) for part in map(_folded, (cited.value, cited.row_label, cited.column_label)))


def _at(table: Attachment, column: int, row: int) -> str:
    if not 1 <= row <= len(table.rows) or not 1 <= column <= len(table.rows[row - 1]):
        return ""
    return table.rows[row - 1][column - 1]


def _stands(part: str, said: str) -> bool:
    """Return whether a text stands in another as words of its own: a cell ``N`` is not in every word with an n."""
    begins = r"(?<![a-z0-9.])" if part[:1].isascii() else ""
    ends = r"(?![a-z0-9])" if part[-1:].isascii() else ""
    return any(map(str.isalnum, part)) and re.search(begins + re.escape(part) + ends, said) is not None


def _folded(text: str) -> str:
    whole = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", whole)
