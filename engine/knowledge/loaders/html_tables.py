"""Tables of HTML: which hold data, and their rows and cells, those of tables inside them left out."""

from __future__ import annotations

from typing import Any

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LISTS = ("ul", "ol", "dir")
_CELLS = ("td", "th")


def is_data(table: Any) -> bool:
    """Return whether a table holds data, rather than laying out a page."""
    own = (row for row in (*table.findall("tr"), *table.findall("*/tr")) if row.find("th") is not None)
    if table.find(".//table") is not None and next(own, None) is None:
        return False
    inside = {element.tag for element in table.iter("th", *LISTS, *HEADINGS)}
    if inside & set(HEADINGS) or not any(len(row_cells(row)) > 1 for row in table_rows(table)):
        return False
    if inside and "th" not in inside:
        return False
    around = table.iter("table", "thead", "tbody", "tfoot", "tr")
    return not any((part.text or "").strip() or any((child.tail or "").strip() for child in part) for part in around)


def table_rows(table: Any) -> list[Any]:
    return [row for row in table.iter("tr") if next(row.iterancestors("table"), None) is table]


def row_cells(row: Any) -> list[Any]:
    cells = list(row)
    if all(cell.tag in _CELLS for cell in cells):
        return cells
    return [cell for cell in row.iter(*_CELLS) if next(cell.iterancestors("tr")) is row]


def reach(cell: Any, name: str, most: int) -> int:
    """Return the span of a cell, at most ``most``; 0 rows mean the rest of the group."""
    stated = (cell.get(name) or "").strip()
    if not (stated.isdecimal() and stated.isascii() and len(stated) < 10):
        return 1
    places = int(stated)
    return min(most, places) or (most if name == "rowspan" else 1)
