"""Work on the tables of a question alone: sums, averages, counts, extremes, orders and differences of cells (GH-01).

Exact, and the same with every model. What cannot be read as a number is left out and said; what cannot be worked out is
said as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from engine.builtin.cells import column_letters
from engine.builtin.phrases import Phrases
from engine.model.values import Attachment, Language

Work = Literal["sum", "average", "difference", "most", "least", "sort", "count", "other"]
_WORKS: tuple[tuple[Work, str], ...] = (
    (
        "other",
        r"\btranslate\b|\b(?:summari[sz]e|describe|explain|show|list) (?:the|this|my) (?:attached )?table\b"
        r"|翻译|(?:概括|总结|描述|说明)这?(?:张|个)?表",
    ),
    ("average", r"\b(?:average|mean)\b|平均"),
    (
        "difference",
        r"\b(?:difference|compare|how much (?:more|less|higher|lower|larger|smaller))\b"
        r"|相差|差(?:多少|额|值)|比较|对比",
    ),
    ("sort", r"\b(?:sort|order|rank|arrange)(?:ed)?\b|排序|排列|排名|从[高大多小低少]到[高大多小低少]"),
    (
        "sum",
        r"\b(?:sum|total|add(?:ed)? up|altogether|in all)\b"
        r"|总和|总[计额数]|合计|求和|加起来|一共(?:是|花|有)?多少(?!行|条|项)",
    ),
    (
        "count",
        r"\bhow many\b|\bcount\b|\bnumber of (?:rows|entries|records|lines)\b"
        r"|多少[行条项个]|几[行条项个]|行数|条数|计数",
    ),
    ("most", r"\b(?:most|highest|largest|biggest|greatest|maximum|max|top)\b|最[高大多长贵]"),
    ("least", r"\b(?:least|lowest|smallest|fewest|minimum|min|cheapest)\b|最[低小少短便]"),
)
_TABLE = re.compile(r"\b(?:table|rows?|columns?|attach(?:ed|ment)|spreadsheet|csv)\b|表|附件|[行列]", re.IGNORECASE)
_DOWN = re.compile(r"\b(?:descending|high(?:est)? to low|(?:larg|high)est first)\b|降序|从[高大多]到", re.IGNORECASE)
_BOUND = re.compile(
    r"(?P<more>\b(?:over|above|more than|greater than|exceed(?:s|ing)?)\b|大于|超过|高于|多于)?"
    r"(?P<least>\b(?:at least|no less than)\b|至少|不少于|不低于)?"
    r"(?P<less>\b(?:below|under|less than|smaller than)\b|小于|低于|少于|不到|不足)?"
    r"(?P<most>\b(?:at most|no more than|up to)\b|至多|最多|不超过)?\s*[$€£¥￥]?\s*(?P<value>\d[\d,]*(?:\.\d+)?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?P<before>[^\d\s.,+-]{0,4})\s*(?P<sign>[-+−(]?)\s*(?P<inner>[^\d\s.,]?)(?P<digits>\d[\d.,\s]*)\)?"
    r"\s*(?P<after>[^\d\s]{0,6})"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?: \d{3})+(?:\.\d+)?")
_ROWS = re.compile(r"\b(?:rows|entries|records|lines)\b|[行条项]|table|表", re.IGNORECASE)
_MOST_ROWS = 20
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}年.*")


@dataclass(frozen=True, slots=True)
class Worked:
    """Result of a computation; ``known`` if it could be computed."""

    text: str
    known: bool = True


@dataclass(frozen=True, slots=True)
class _Value:
    row: int
    """As spreadsheets count, from 1."""
    label: str
    number: Decimal
    unit: str
    written: str


@dataclass(frozen=True, slots=True)
class _Column:
    table: int
    place: int
    name: str
    values: tuple[_Value, ...]
    blank: int
    unread: tuple[str, ...]


def on_tables_alone(question: str, tables: Sequence[Attachment]) -> bool:
    """Return whether a question asks only for work on its tables: it names the work, and a table or column."""
    folded = unicodedata.normalize("NFKC", question)
    if _work_of(folded) is None:
        return False
    return bool(_TABLE.search(folded)) or any(_named(folded, table) for table in tables)


def worked_out(question: str, tables: Sequence[Attachment], language: Language) -> Worked | None:
    """The result in a sentence, or why there is none; None where it is no work with numbers, such as a translation."""
    folded = unicodedata.normalize("NFKC", question)
    work, say = _work_of(folded), Phrases("table", language)
    if work is None or work == "other" or not tables:
        return None
    number, table = max(enumerate(tables, 1), key=lambda item: (len(_named(folded, item[1])), -item[0]))
    rows, filters = _filtered(folded, table, say)
    if table.cut:
        return Worked(say("cut", table=table.name), known=False)
    if work == "count":
        return _counted(folded, table, rows, filters, say)
    column = _column(folded, number, table, rows)
    if (column is None or not column.values) and work in ("most", "least"):
        return None
    if column is None or not column.values:
        return Worked(say("columnless"), known=False)
    units = sorted({item.unit for item in column.values})
    if len(units) > 1:
        return Worked(say("mixed", column=column.name, units=say.listed([unit or "–" for unit in units])), known=False)
    made = _WORKERS[work](folded, column, say)
    if made is None:
        return Worked(say("columnless"), known=False)
    return Worked(say.gap.join([made, *_left_out(column, say), *filters]))


def _work_of(folded: str) -> Work | None:
    return next((work for work, pattern in _WORKS if re.search(pattern, folded, re.IGNORECASE)), None)


def _words(text: str) -> set[str]:
    return {word.casefold().rstrip("s") for word in re.findall(r"[A-Za-z][A-Za-z-]*", text)}


def _says(folded: str, name: str) -> bool:
    """Return whether a question says the name of a column, or a cell."""
    plain = " ".join(unicodedata.normalize("NFKC", name).split())
    if not plain:
        return False
    if re.search(r"[\u3400-\u9fff]", plain):
        return re.split(r"[(（\s]", plain)[0] in folded
    wanted = _words(re.split(r"[(（]", plain)[0])
    return bool(wanted) and wanted <= _words(folded)


def _named(folded: str, table: Attachment) -> tuple[int, ...]:
    """Columns that a question names."""
    header = table.rows[0] if table.header and table.rows else ()
    return tuple(place for place, name in enumerate(header) if _says(folded, name))


def _body(table: Attachment) -> list[tuple[int, tuple[str, ...]]]:
    return list(enumerate(table.rows, start=1))[1 if table.header else 0 :]


def _filtered(folded: str, table: Attachment, say: Phrases) -> tuple[list[tuple[int, tuple[str, ...]]], list[str]]:
    """The rows that the question speaks of, by the cells and bounds that it names, and what that was."""
    rows, said = _body(table), []
    header = table.rows[0] if table.header and table.rows else ()
    for place, name in enumerate(header):
        cells = {row[place] for _, row in rows if place < len(row)}
        wanted = {cell for cell in cells if _number(cell) is None and _says(folded, cell) and not _says(cell, name)}
        # Where rows are held against each other, their names are no condition.
        if wanted and len(wanted) < len(cells) and _work_of(folded) != "difference":
            rows = [(at, row) for at, row in rows if place < len(row) and row[place] in wanted]
            said.append(say("only", column=name, value=say.listed(sorted(wanted))))
    bound = next((item for item in _BOUND.finditer(folded) if any(item[name] for name in _TESTS)), None)
    places = [place for place in _named(folded, table) if _numbers(rows, place)]
    if bound is not None and places:
        kind = next(name for name in _TESTS if bound[name])
        limit = Decimal(bound["value"].replace(",", ""))
        kept = {item.row for item in _numbers(rows, places[0]) if _TESTS[kind](item.number, limit)}
        rows = [(at, row) for at, row in rows if at in kept]
        said.append(say("only", column=header[places[0]], value=" ".join(bound.group().split())))
    return rows, said


_TESTS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "more": lambda value, limit: value > limit,
    "least": lambda value, limit: value >= limit,
    "less": lambda value, limit: value < limit,
    "most": lambda value, limit: value <= limit,
}


def _numbers(rows: Sequence[tuple[int, tuple[str, ...]]], place: int) -> list[_Value]:
    found = []
    for at, row in rows:
        cell = row[place] if place < len(row) else ""
        if (read := _number(cell)) is not None:
            label = next((text for other, text in enumerate(row) if other != place and text.strip()), "")
            found.append(_Value(at, label, *read, cell.strip()))
    return found


def _column(folded: str, number: int, table: Attachment, rows: Sequence[tuple[int, tuple[str, ...]]]) -> _Column | None:
    """The column of numbers that a question names; the only one where it names none."""
    header = table.rows[0] if table.header and table.rows else ()
    width = max((len(row) for _, row in _body(table)), default=0)
    numeric = [place for place in range(width) if 2 * len(_numbers(rows, place)) >= max(1, len(rows))]
    named = [place for place in _named(folded, table) if place in numeric]
    if not named and len(numeric) != 1:
        return None
    place = named[0] if named else numeric[0]
    values = tuple(_numbers(rows, place))
    cells = [row[place].strip() if place < len(row) else "" for _, row in rows]
    unread = tuple(cell for cell in cells if cell and _number(cell) is None)
    name = header[place] if place < len(header) else column_letters(place + 1)
    return _Column(number, place, name, values, sum(not cell for cell in cells), unread)


def _number(cell: str) -> tuple[Decimal, str] | None:
    """The number of a cell and its unit; None for a text, a date, and what could be two numbers."""
    plain = unicodedata.normalize("NFKC", cell).strip()
    match = _NUMBER.fullmatch(plain)
    if match is None or _DATE.fullmatch(plain):
        return None
    digits = match["digits"].strip()
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "").replace(" ", "")
    elif re.fullmatch(r"\d+,\d{1,2}", digits):
        digits = digits.replace(",", ".")
    elif not re.fullmatch(r"\d+(?:\.\d+)?", digits):
        return None
    sign = -1 if match["sign"] in ("-", "−", "(") else 1
    return sign * Decimal(digits), (match["before"] + match["inner"] + match["after"]).strip()


def _counted(folded: str, table: Attachment, rows: Sequence[object], filters: list[str], say: Phrases) -> Worked | None:
    """None where the question names neither rows nor anything of the table: it may ask for a cell."""
    if not filters and not _ROWS.search(folded):
        return None
    counted = say("count", table=table.name, count=len(rows), all=len(_body(table)))
    return Worked(say.gap.join([counted, *filters]))


def _written(number: Decimal, unit: str) -> str:
    text = f"{number.normalize():f}" if number == number.to_integral() else f"{number:f}".rstrip("0")
    return f"{unit}{text}" if unit in ("$", "€", "£", "¥", "US$") else f"{text} {unit}".strip()


def _summed(_: str, column: _Column, say: Phrases) -> str:
    total = sum((item.number for item in column.values), Decimal(0))
    return say("sum", column=column.name, value=_written(total, column.values[0].unit), rows=len(column.values))


def _averaged(_: str, column: _Column, say: Phrases) -> str:
    mean = sum((item.number for item in column.values), Decimal(0)) / len(column.values)
    value = _written(round(mean, 6), column.values[0].unit)
    return say("average", column=column.name, value=value, rows=len(column.values))


def _cell(item: _Value, column: _Column) -> str:
    return f"{item.label}: {item.written} [T{column.table}:{column_letters(column.place + 1)}{item.row}]"


def _extreme(sign: int, name: str) -> Callable[[str, _Column, Phrases], str]:
    def made(_: str, column: _Column, say: Phrases) -> str:
        best = max(sign * item.number for item in column.values)
        found = [_cell(item, column) for item in column.values if sign * item.number == best]
        return say(name, column=column.name, cells=say.listed(found[:_MOST_ROWS]))

    return made


def _sorted(folded: str, column: _Column, say: Phrases) -> str:
    ordered = sorted(column.values, key=lambda item: item.number, reverse=bool(_DOWN.search(folded)))
    shown = "\n".join(f"{place}. {_cell(item, column)}" for place, item in enumerate(ordered, 1))
    return f"{say('sorted', column=column.name)}\n{shown}\n"


def _difference(folded: str, column: _Column, say: Phrases) -> str | None:
    named = [item for item in column.values if _says(folded, item.label)]
    if len(named) != 2:
        return None
    first, second = named
    gap = _written(abs(first.number - second.number), first.unit)
    cells = say.listed([_cell(first, column), _cell(second, column)])
    return say("difference", column=column.name, cells=cells, value=gap)


def _left_out(column: _Column, say: Phrases) -> list[str]:
    said = [say("blank", count=column.blank)] if column.blank else []
    commas = [item for item in column.values if "," in item.written and not _THOUSANDS.search(item.written)]
    said += [say("comma", cell=item.written, number=f"{item.number:f}") for item in commas[:1]]
    shown = say.listed([f"“{cell[:40]}”" for cell in column.unread[:3]])
    return [*said, say("unread", count=len(column.unread), cells=shown)] if column.unread else said


_WORKERS: dict[Work, Callable[[str, _Column, Phrases], str | None]] = {
    "sum": _summed,
    "average": _averaged,
    "difference": _difference,
    "sort": _sorted,
    "most": _extreme(1, "most"),
    "least": _extreme(-1, "least"),
}
