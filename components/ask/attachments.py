"""Images and tables of a question, as a run had them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from components.common.i18n import Words
from components.common.markup import Node, chip, fold, node
from engine.attachments.admission import MOST_COLUMNS, MOST_ROWS
from engine.builtin.cells import column_letters
from engine.messages import N_
from engine.model.values import Attachment, CellCitation

_BY = {
    "ocr": N_("text recognition"),
    "typed": N_("typed"),
}

_CUT = {
    "rows": N_("Only the first {n} rows are taken."),
    "columns": N_("Only the first {n} columns are taken."),
    "size": N_("Only the first {rows} rows and {columns} columns are taken."),
    "text": N_("What was too long is cut off."),
    "tables": N_("The file has further tables or sheets, which are left out."),
}

_SHORT = 240
"""Characters of an image's text that are shown without unfolding it."""
_ROWS_SHOWN = 6


def attached_nodes(attachments: Sequence[Attachment], cited: Sequence[CellCitation], words: Words) -> list[Node]:
    """A part for each attachment, long ones folded; a table with the names of its rows and columns."""
    parts, tables = [], 0
    for place, item in enumerate(attachments):
        tables += item.kind == "table"
        cells = [cell for cell in cited if item.kind == "table" and cell.table == tables]
        head = [chip("plain", title(item, tables, words)), node("span", "grow own-name", item.name)]
        head += [chip("accent", words.count("1 cell quoted", "{n} cells quoted", len(cells)))] if cells else []
        parts.append(node("div", "head", *head))
        parts.append(node("p", "muted small", facts(item, words)))
        parts.append(_table(item, cells, place, words) if item.kind == "table" else _text(item.text, place))
    return parts


def title(item: Attachment, table: int, words: Words) -> str:
    return words("Table T{n}", n=table) if item.kind == "table" else words("Image")


def facts(item: Attachment, words: Words) -> str:
    """Describe the reader, the amount of text, and the parts left out."""
    if item.kind == "image":
        size = words.count("1 character", "{n} characters", len(item.text))
    else:
        size = words(
            "{rows} rows × {columns} columns", rows=len(item.rows), columns=len(item.rows[0]) if item.rows else 0
        )
    by = words(_BY[item.read_by or "typed"]) if item.read_by in ("", "ocr") else item.read_by
    parts = [by, size]
    if item.edited and item.read_by:
        parts.append(words("corrected by hand"))
    if item.cut in _CUT:
        limit = MOST_ROWS if item.cut == "rows" else MOST_COLUMNS
        parts.append(words(_CUT[item.cut], n=limit, rows=MOST_ROWS, columns=MOST_COLUMNS))
    return " · ".join(parts)


def _text(text: str, place: int) -> Node:
    shown = node("p", "own-text", text)
    if len(text) <= _SHORT:
        return shown
    return fold(f"attached_{place}", f"{' '.join(text[:_SHORT].split())} …", shown)


def _table(item: Attachment, cited: Sequence[CellCitation], place: int, words: Words) -> Node:
    quoted = {cell.cell for cell in cited}
    corner = node("tr", "", node("th", "num", ""), *(node("th", "num", letter) for letter in _letters(item)))
    rows = [_row(item, number, quoted, words) for number in range(1, len(item.rows) + 1)]
    # Rows that the answer quotes stand outside the fold, wherever they are.
    telling = {number for number in range(1, len(rows) + 1) if any(_row_of(cell) == number for cell in quoted)}
    first = [row for number, row in enumerate(rows, start=1) if number <= _ROWS_SHOWN or number in telling]
    shown = node("div", "scroll", node("table", "cells", node("thead", "", corner), node("tbody", "", *first)))
    if len(first) == len(rows):
        return shown
    whole = node("table", "cells", node("thead", "", corner), node("tbody", "", *rows))
    said = words("{rows} rows × {columns} columns", rows=len(rows), columns=len(item.rows[0]))
    return node("div", "", shown, fold(f"attached_{place}", said, node("div", "scroll", whole)))


def _letters(item: Attachment) -> list[str]:
    return [column_letters(number) for number in range(1, 1 + (len(item.rows[0]) if item.rows else 0))]


def _row(item: Attachment, number: int, quoted: Collection[str], words: Words) -> Node:
    tag: Literal["th", "td"] = "th" if item.header and number == 1 else "td"
    cells = [
        node(
            tag,
            "",
            node("mark", "quoted", text, title=words("Quoted in the answer"))
            if f"{letter}{number}" in quoted
            else text,
        )
        for letter, text in zip(_letters(item), item.rows[number - 1], strict=True)
    ]
    return node("tr", "", node("th", "num muted", str(number)), *cells)


def _row_of(cell: str) -> int:
    digits = cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return int(digits) if digits.isdecimal() else 0
