"""Tables as lines that stay readable when they are cut into passages: each row says its headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_NUMBER = re.compile(r"[-+(]?[\s$€£¥￥]*[\d.,'  ]*\d[\d.,]*\s*[%‰)]?|\d{1,4}[-/.年]\d{1,2}([-/.月]\d{1,4}日?)?.*")
_YEAR = re.compile(r"(19|20)\d\d年?")
_LONGEST_HEADER = 80
_LOOKED_AT = 10
"""Rows at the top among which a header is searched."""


def table_text(rows: Sequence[Sequence[str]], headed: bool = False) -> str:
    """A table inside a document, as lines.

    ``headed`` says that the document marks its first row as header. Where it does not, two columns are names and what
    they stand for, as forms and glossaries have them: ``- name: value``.
    """
    cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    width = max((len(row) for row in cells), default=0)
    if headed and len(cells) > 1:
        return "\n".join(_line(cells[0], row) for row in cells[1:])
    if width == 2:
        return "\n".join(f"- {': '.join(cell for cell in row if cell)}" for row in cells)
    if width == 1:
        return "\n".join(row[0] for row in cells)
    return "\n".join(table_lines(cells))


def table_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """One line for each row that says anything, empty cells left out.

    Below a header a row reads ``- header: value; header: value``; without one it is ``| value | value |``. Lines above
    the header, such as a caption, stay lines of their own. White space inside a cell is made single.
    """
    source = iter(rows)
    top: list[list[str]] = []
    for row in source:
        cells = [" ".join(cell.split()) for cell in row]
        if any(cells):
            top.append(cells)
        if len(top) == _LOOKED_AT:
            break
    place = header_row(top)
    for cells in top[: place or 0]:
        yield "; ".join(cell for cell in cells if cell)
    header = [] if place is None else top[place]
    below = top if place is None else top[place + 1 :]
    for cells in below:
        yield _line(header, cells)
    found = bool(below)
    for row in source:
        cells = [" ".join(cell.split()) for cell in row]
        if any(cells):
            found = True
            yield _line(header, cells)
    if header and not found:
        yield _line([], header)


def header_row(rows: Sequence[Sequence[str]]) -> int | None:
    """Which of the first rows names the columns; None where none does.

    A header is made of different short words, none of them a number, fills as many columns as the widest row below it
    but one, and stands above at least one row.
    """
    width = max((_filled(row) for row in rows), default=0)
    if width < 2:
        return None
    for place, row in enumerate(rows[:-1]):
        cells = [cell for cell in row if cell]
        if len(cells) < max(2, width - 1):
            continue
        return place if len(set(cells)) == len(cells) and _names(row, rows[place + 1]) else None
    return None


def _names(row: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a row holds names of columns: short words, or a word and years above something else."""
    # First, for a cell of a million digits would keep the expression busy for hours.
    if any(len(cell) > _LONGEST_HEADER for cell in row):
        return False
    numbers = [place for place, cell in enumerate(row) if cell and _NUMBER.fullmatch(cell)]
    if not numbers:
        return True
    years = len(numbers) > 1 and 0 not in numbers and all(_YEAR.fullmatch(row[place]) for place in numbers)
    return years and not all(place < len(below) and _YEAR.fullmatch(below[place]) for place in numbers)


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell)


def _line(header: Sequence[str], cells: Sequence[str]) -> str:
    if not header:
        shown = list(cells)
        while shown and not shown[-1]:
            shown.pop()
        return f"| {' | '.join(shown)} |"
    pairs = []
    for column, cell in enumerate(cells):
        if cell:
            name = header[column] if column < len(header) else ""
            pairs.append(f"{name}: {cell}" if name else cell)
    return f"- {'; '.join(pairs)}"
