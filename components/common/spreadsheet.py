"""Tables for spreadsheets: cells that no program runs as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

# Excel in Chinese and Japanese reads the wide signs as the narrow ones.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def table_csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """UTF-8 with a byte order mark; cells that begin like a formula are defused."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(head)
    for row in rows:
        table.writerow([_inert(cell) for cell in row])
    # Half a surrogate pair, as broken PDFs bring it, has no UTF-8 form.
    return written.getvalue().encode("utf-8-sig", "replace")


def _inert(cell: str) -> str:
    # Numbers of our own may begin with a minus sign.
    number = cell[1:].replace(".", "", 1).isdigit()
    return f"'{cell}" if cell.startswith(_FORMULA) and not number else cell
