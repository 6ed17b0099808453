"""Comma- and tab-separated values: delimiter, header and encoding found out."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice
from typing import Literal

from engine.errors import SourceDamaged
from engine.knowledge.loaders.contents import Allowance, Contents, Section, named, note, of_text
from engine.knowledge.loaders.tables import header_rows, table_lines
from engine.messages import N_

MOST_ROWS = 50_000
"""Rows of one file that are read: more would take hours to embed, and no one reads them as text."""
_DELIMITERS = (",", "\t", ";", "|", "，")
_SAMPLE_LINES = 50
LONGEST_CELL = 1_000_000


@of_text
def load_separated(name: str, text: str, _hidden: bool) -> Contents:
    """One section of rows that each say their headers.

    Raises ``SourceDamaged`` where a cell never ends, ``SourceError`` where the headers make a text without end.
    """
    rows, more = separated_rows(name, text)
    beyond = (note("rows_beyond", kept=MOST_ROWS, count=more),) if more else ()
    notes = (*beyond, *named({"rows_ragged": _ragged(rows)}))
    body = "\n".join(Allowance(name, len(text)).lines(table_lines(rows)))
    return Contents("", (Section((), body),), notes=notes, read={"rows": sum(map(any, rows))})


def _ragged(rows: list[list[str]]) -> list[int]:
    """Rows, from 1, with other cells than the header has columns: values of theirs may stand under the wrong one."""
    filled = [(number, row) for number, row in enumerate(rows, 1) if any(row)]
    places = header_rows([row for _, row in filled[:10]])
    width = len(filled[places.start][1]) if places else 0
    below = filled[places.stop :] if places else []
    return [number for number, row in below if len(row) < width or any(row[width:])]


def separated_rows(name: str, text: str) -> tuple[list[list[str]], int]:
    """The first ``MOST_ROWS`` rows, and how many others hold something; raises as :func:`load_separated`."""
    lines = text.split("\n")
    if lines[0].lower().startswith("sep="):  # as spreadsheet programs write for each other
        lines = lines[1:]
    delimiter = _delimiter(lines, "\t" if name.lower().endswith(".tsv") else ",")
    return _rows(name, "\n".join(lines), delimiter)


def allow_long_cells() -> None:
    """Let a cell hold ``LONGEST_CELL`` characters.

    The limit is one for the whole process: all who read CSV set this one, so that no file is read by another's.
    """
    csv.field_size_limit(LONGEST_CELL)


def _rows(name: str, text: str, delimiter: str) -> tuple[list[list[str]], int]:
    allow_long_cells()

    def read(quoting: Literal[0, 3]) -> tuple[list[list[str]], int]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
        return list(islice(reader, MOST_ROWS)), sum(map(any, reader))

    try:
        return read(csv.QUOTE_MINIMAL)
    except csv.Error:
        # Stray quotes are common in exports of plain text; read as ordinary signs they lose nothing.
        try:
            return read(csv.QUOTE_NONE)
        except csv.Error as error:
            raise SourceDamaged.named(name=name, found=N_("a cell is longer than any table's")) from error


def _delimiter(lines: list[str], usual: str) -> str:
    """The sign that most often splits the first lines into one number of columns above one."""
    sample = [line for line in lines[: 4 * _SAMPLE_LINES] if line.strip()][:_SAMPLE_LINES]

    def agreement(delimiter: str) -> tuple[float, bool]:
        widths = Counter(_width(line, delimiter) for line in sample)
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        return (count / max(len(sample), 1) if width > 1 else 0.0, delimiter == usual)

    best = max(_DELIMITERS, key=agreement)
    return best if agreement(best)[0] >= 0.5 else usual


def _width(line: str, delimiter: str) -> int:
    """Columns of a line, delimiters inside quotes left out."""
    outside = "".join(line.split('"')[::2]) if '"' in line else line
    return outside.count(delimiter) + 1
