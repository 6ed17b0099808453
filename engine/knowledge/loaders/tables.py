"""Tables as lines that stay readable when they are cut into passages: each row says its headers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

_NUMBER = re.compile(r"[-+(]?[\s$€£¥￥]*[\d.,'  ]*\d[\d.,]*\s*[%‰)]?|\d{1,4}[-/.年]\d{1,2}([-/.月]\d{1,4}日?)?.*")
_YEAR = re.compile(r"(19|20)\d\d年?")
_LONGEST_HEADER = 80
_LOOKED_AT = 10
"""Rows at the top among which a header is searched."""
_WIDEST_SPAN = 1000
_MOST_REPEATED = 20_000_000
"""Characters that the spans of one table repeat; from there on a cell stands only where it begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A cell that may reach over several rows and columns."""

    text: str | None
    """None where the cell above reaches down into this place."""
    rows: int = 1
    columns: int = 1


Cell = str | Span
_Placed = tuple[int, int, int, Span]
"""First column, the column behind the last, rows that it still reaches into, and the cell."""
_NOTHING = Span("")


def spread(rows: Iterable[Sequence[Cell]]) -> list[list[Span]]:
    """Place cells as they are drawn: one that reaches over several places stands, as the same object, in each.

    A column in which no cell begins says what its neighbour says and is left out, so no span widens a table for
    nothing. Empty rows stay.
    """
    given = [[cell if isinstance(cell, Span) else Span(cell) for cell in row] for row in rows]
    if all(cell.text is not None and cell.rows <= 1 >= cell.columns for row in given for cell in row):
        return given
    placed: list[list[_Placed]] = []
    left = _MOST_REPEATED
    for row in given:
        above = placed[-1] if placed and left > 0 else []
        reaching = deque((start, end, high - 1, span) for start, end, high, span in above if high > 1)
        # The empty places before a cell that reaches down count too.
        left -= sum(len(span.text or "") + 1 for _, _, _, span in reaching) + (reaching[-1][0] if reaching else 0)
        starting = {start: span for start, _, _, span in above}
        here, column = list[_Placed](), 0
        for span in row:
            while reaching and reaching[0][0] <= column:
                column = reaching[0][1]
                here.append(reaching.popleft())
            end = column + (max(1, min(span.columns, _WIDEST_SPAN)) if left > 0 else 1)
            end = min(end, reaching[0][0]) if reaching else end
            shown = span if span.text is not None else starting.get(column, _NOTHING)
            left -= (len(shown.text or "") + 1) * (end - column - (shown is span))
            here.append((column, end, span.rows, shown))
            column = end
        placed.append([*here, *reaching])
    starts = sorted({start for cells in placed for start, _, _, _ in cells})
    return [_at_columns(cells, starts) for cells in placed]


def _at_columns(cells: Sequence[_Placed], starts: Sequence[int]) -> list[Span]:
    made: list[Span] = []
    for start, end, _, span in cells:
        first = bisect_left(starts, start)
        made += [_NOTHING] * (first - len(made)) + [span] * (bisect_left(starts, end) - first)
    return made


def table_text(rows: Iterable[Sequence[Cell]], headed: bool = False, header_rows: Container[int] = (0,)) -> str:
    """A table inside a document, as lines; its cells are placed as :func:`spread` does.

    ``headed`` says that the document marks its headers: the rows with the numbers ``header_rows``, from 0; several
    together are one header (``Outer · Inner``), and one further down heads what is below it. Where the document marks
    none, two columns are names and what they stand for, as forms and glossaries have them: ``- name: value``.
    """
    placed = [(number in header_rows, row) for number, row in enumerate(spread(rows)) if _says(row)]
    width = max((len(row) for _, row in placed), default=0)
    marked = [row for heads, row in placed if heads]
    # A title over the whole table is marked as header by some programs, and the names stand below it.
    if headed and len(marked) < len(placed) and not (marked and all(map(_is_one, marked))):
        return "\n".join(_lines(placed))
    if width <= 2:
        return "\n".join(
            cell_texts(row)[0] if width == 1 or _is_one(row) else f"- {': '.join(filter(None, cell_texts(row)))}"
            for _, row in placed
        )
    return "\n".join(table_lines(row for _, row in placed))


def table_lines(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """One line for each row that says anything, empty cells left out.

    Below a header a row reads ``- header: value; header: value``; without one it is ``| value | value |``. Lines above
    the header, such as a caption, stay lines of their own. White space inside a cell is made single. A cell that
    reaches over several places is given as the same object in each.
    """
    source = (row for row in rows if _says(row))
    top = list(islice(source, _LOOKED_AT))
    places = header_rows(top)
    for row in top[: places.start]:
        yield cell_texts(row)[0] if _is_one(row) else "; ".join(filter(None, cell_texts(row)))
    numbered = enumerate(chain(top[places.start :], source), places.start)
    yield from _lines((number in places, row) for number, row in numbered)


def header_rows(rows: Sequence[Sequence[Cell]]) -> range:
    """Return which of the first rows name the columns; empty if none does.

    A header has different short words, none of them a number, fills as many columns as the widest row below it
    but one, and stands above at least one row. A cell in it that reaches over several columns is divided by the next
    row, and one that reaches down takes that row in.
    """
    width = max((_filled(row) for row in rows), default=0)
    for place, row in enumerate(rows[:-1] if width > 1 else ()):
        if _filled(row) < max(2, width - 1) or _is_one(row):
            continue
        end = place + 1
        while end + 1 < len(rows) and _divided(rows[end - 1], rows[end]) and _names(rows[end], rows[end + 1]):
            end += 1
        names = [
            name for column, name in enumerate(joined_header(rows[place:end])) if not _repeated(rows[end - 1], column)
        ]
        different = len(set(names)) == len(names)
        return range(place, end) if different and _names(row, rows[end]) else range(0)
    return range(0)


def joined_header(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """The name of each column from all rows of a header: ``Outer · Inner``, what repeats once."""
    said = [cell_texts(row) for row in rows]
    names: list[str] = []
    for column in range(max(map(len, said), default=0)):
        parts = dict.fromkeys(row[column] for row in said if column < len(row) and row[column])
        names.append(" · ".join(parts))
    return names


def _divided(row: Sequence[Cell], below: Sequence[Cell]) -> bool:
    """Return whether the row below belongs to the same header."""
    reaches_down = any(isinstance(one, Span) and one.text and one is two for one, two in zip(row, below, strict=False))
    return reaches_down or any(_repeated(row, column) for column, cell in enumerate(row) if _says([cell]))


def _repeated(row: Sequence[Cell], column: int) -> bool:
    """Return whether a place is empty or filled by the cell to its left."""
    cell = row[column] if column < len(row) else ""
    return not cell_texts([cell])[0] or (column > 0 and isinstance(cell, Span) and cell is row[column - 1])


def _names(row: Sequence[Cell], below: Sequence[Cell]) -> bool:
    """Return whether a row holds names of columns: short words, or a word and years above something else."""
    said, under = cell_texts(row), cell_texts(below)
    # First, for a cell of a million digits would keep the expression busy for hours.
    if any(len(cell) > _LONGEST_HEADER for cell in said):
        return False
    numbers = [place for place, cell in enumerate(said) if cell and _NUMBER.fullmatch(cell)]
    if not numbers:
        return True
    years = len(numbers) > 1 and 0 not in numbers and all(_YEAR.fullmatch(said[place]) for place in numbers)
    return years and not all(place < len(under) and _YEAR.fullmatch(under[place]) for place in numbers)


def cell_texts(row: Sequence[Cell]) -> list[str]:
    """The text at each place of a row, white space made single."""
    return [" ".join((cell if isinstance(cell, str) else cell.text or "").split()) for cell in row]


def _says(row: Sequence[Cell]) -> bool:
    return any((cell if isinstance(cell, str) else cell.text or "").strip() for cell in row)


def _filled(row: Sequence[Cell]) -> int:
    return sum(_says([cell]) for cell in row)


def _is_one(row: Sequence[Cell]) -> bool:
    """Return whether one cell spans the whole row: a line between the others rather than a value in each column."""
    return len(row) > 1 and isinstance(row[0], Span) and all(cell is row[0] for cell in row)


def _lines(rows: Iterable[tuple[bool, Sequence[Cell]]]) -> Iterator[str]:
    """Lines of rows, some of them named as headers; what a header names and no row below it has is a row."""
    header, names, filled = list[Sequence[Cell]](), list[str](), set[int]()
    for heads, row in rows:
        if _is_one(row) and (heads or len(row) >= len(names)):
            yield cell_texts(row)[0]
        elif heads:
            yield from _unused(names, filled)
            header, names, filled = [*header, row], [], set()
        else:
            if header:
                header, names = [], joined_header(header)
            cells = cell_texts(row)
            filled.update(column for column, cell in enumerate(cells) if cell)
            yield _line(names, cells)
    yield from (_line([], cell_texts(row)) for row in header)
    yield from _unused(names, filled)


def _unused(names: Sequence[str], filled: Container[int]) -> Iterator[str]:
    used = {name for column, name in enumerate(names) if column in filled}
    if left := [name for name in dict.fromkeys(names) if name and name not in used]:
        yield _line([], left)


def _line(header: Sequence[str], cells: Sequence[str]) -> str:
    if not header:
        shown = list(cells)
        while shown and not shown[-1]:
            shown.pop()
        return f"| {' | '.join(shown)} |"
    pairs: list[str] = []
    for column, cell in enumerate(cells):
        if cell:
            name = header[column] if column < len(header) else ""
            pair = f"{name}: {cell}" if name else cell
            # A cell over two columns of the same name says it once.
            if not pairs or pairs[-1] != pair:
                pairs.append(pair)
    return f"- {'; '.join(pairs)}"
