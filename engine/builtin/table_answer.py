"""Quoting cells of a table without a model: what is in the row and column that a question names (GH-05)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.builtin.cells import column_letters
from engine.builtin.evidence import Question, read_question, weigh
from engine.model.values import Attachment, Language
from engine.roles import TableGiven

MOST_CELLS = 4
MOST_LABELS = 3
"""Cells of a row that its sentence names next to the one it quotes."""
_LEAST = 0.25
"""Share of the question's weight that row and column together must cover for a cell to be quoted."""
_WORTH = 0.7
"""Share of the best cell's score that a further one needs."""
_LONGEST = 200
"""Characters of one cell that are quoted."""
_NUMBER = re.compile(r"[-−+]?\d[\d,\s]*(?:\.\d+)?")
_MOST = re.compile(
    r"\b(?:most|highest|largest|biggest|greatest|longest|maximum|max|top|best)\b|最高|最大|最多|最长|最重|最强|第一",
    re.I,
)
_LEAST_OF = re.compile(r"\b(?:least|lowest|smallest|fewest|shortest|minimum|min)\b|最低|最小|最少|最短|最轻|最弱", re.I)
_FEWEST_NUMBERS = 2


@dataclass(frozen=True, slots=True)
class _Scored:
    table: TableGiven
    column: int
    row: int
    value: str
    score: float
    labels: tuple[str, ...]
    """Cells of its row that say which row it is."""
    covered: frozenset[str] = frozenset()
    """Words of the question that row and column name."""

    @property
    def order(self) -> tuple[float, int, int, int]:
        return -self.score, self.table.number, self.row, self.column


def table_sentences(question: str, tables: Sequence[TableGiven], language: Language) -> list[str]:
    """Sentences that quote the cells a question asks for, each with its marker; none where no cell is near it."""
    asked = read_question(question)
    best = _extremes(asked, question, tables) or _nearest(asked, tables)
    return [_sentence(item, language) for item in best]


@lru_cache(maxsize=32)
def table_coverage(question: str, tables: tuple[Attachment, ...]) -> float:
    """Share of the question, in [0, 1], that row and column of the best cell name; 0 without a table."""
    given = [_whole(number, table) for number, table in enumerate(tables, 1) if table.rows]
    asked = read_question(question)
    best = _extremes(asked, question, given) or _nearest(asked, given)
    return round(max((item.score for item in best), default=0.0), 6)


def _whole(number: int, table: Attachment) -> TableGiven:
    rows = tuple(enumerate(table.rows, start=1))
    return TableGiven(number, table.name, rows[0][1] if table.header else (), rows[table.header :])


def _nearest(asked: Question, tables: Sequence[TableGiven]) -> list[_Scored]:
    scored = sorted((item for table in tables for item in _cells(asked, table)), key=lambda item: item.order)
    if not scored or scored[0].score < _LEAST:
        return []
    near = [item for item in scored if item.score >= max(_LEAST, _WORTH * scored[0].score)]
    # "Units of the Heron 5 in Spain": its units in other places name a part of that, and would pass for another answer.
    return [item for item in near if not any(item.covered < other.covered for other in near)][:MOST_CELLS]


def _cells(asked: Question, table: TableGiven) -> Iterator[_Scored]:
    """Cells with the names of their row, and the share of the question that row and column name together.

    A cell that repeats the question's own words names, and answers nothing.
    """
    for number, cells in table.rows:
        own = [_covered(asked, cell) for cell in cells]
        for column, cell in enumerate(cells):
            if not cell.strip() or (own[column] and not any(char.isdigit() for char in cell)):
                continue
            others = [own[other] for other in range(len(cells)) if other != column]
            row = frozenset[str]().union(*others)
            head = _covered(asked, table.header[column]) if column < len(table.header) else frozenset()
            if row and (head or not table.header or len(cells) == len(("label", "value"))):
                labels = tuple(cells[other] for other in range(len(cells)) if other != column and own[other])
                yield _Scored(table, column + 1, number, cell, _share(asked, row | head), labels, row | head)


def _extremes(asked: Question, question: str, tables: Sequence[TableGiven]) -> list[_Scored]:
    """The greatest or least number of the column that the question names, where it asks for one."""
    most, least = _MOST.search(question), _LEAST_OF.search(question)
    if (most is None) == (least is None):
        return []
    named = [
        (len(_covered(asked, head)), -table.number, -column, table)
        for table in tables
        # Of rows that were left out no one knows whether they have a greater number.
        if not table.left_out
        for column, head in enumerate(table.header)
        if len(_numbered(table, column)) >= _FEWEST_NUMBERS
    ]
    covered, _, place, table = max(named, key=lambda item: item[:3], default=(0, 0, 0, None))
    if not covered or table is None:
        return []
    known = _numbered(table, -place)
    bound = (max if most else min)(value for value, _, _ in known)
    first = {row: cells[:1] if place else () for row, cells in table.rows}
    found = [_Scored(table, -place + 1, row, cell, 1.0, first[row]) for value, row, cell in known if value == bound]
    return found[:MOST_CELLS]


def _numbered(table: TableGiven, column: int) -> list[tuple[float, int, str]]:
    """Numbers of a column with the row and cell that each stands in."""
    cells = [(row, cells[column]) for row, cells in table.rows if column < len(cells)]
    return [(number, row, cell) for row, cell in cells if (number := number_in(cell)) is not None]


def number_in(cell: str) -> float | None:
    """The number that a cell begins with or consists of; None where it has none."""
    found = _NUMBER.search(cell)
    if found is None or any(char.isalpha() for char in cell[: found.start()]):
        return None
    return float(re.sub(r"[,\s]", "", found.group()).replace("−", "-"))


def _sentence(item: _Scored, language: Language) -> str:
    head = _short(item.table.header[item.column - 1]) if item.column <= len(item.table.header) else ""
    labels = map(_short, item.labels[:MOST_LABELS])
    named = ("、" if language == "zh" else ", ").join(filter(None, (*labels, head)))
    value, number = _short(item.value), item.table.number
    marker = f"[T{number}:{column_letters(item.column)}{item.row}]"
    if language == "zh":
        return f"表 {number} 中，{named}：{value}{marker}。" if named else f"表 {number} 中：{value}{marker}。"
    return f"Table {number} says: {named}: {value} {marker}." if named else f"Table {number} says: {value} {marker}."


def _short(cell: str) -> str:
    # Brackets before digits get a space, as in quoted passages: a cell must not be able to pass for a marker.
    plain = re.sub(r"([\[【［])(?=[\dTt])", r"\1 ", " ".join(cell.split()))
    return plain if len(plain) <= _LONGEST else plain[:_LONGEST].rstrip() + "…"


def _covered(asked: Question, text: str) -> frozenset[str]:
    return frozenset(weigh(asked, text, 0.0).covered) if text.strip() else frozenset()


def _share(asked: Question, covered: frozenset[str]) -> float:
    total = sum(asked.weights)
    pairs = zip(asked.forms.values(), asked.weights, strict=True)
    return sum(weight for form, weight in pairs if form in covered) / total if total else 0.0
