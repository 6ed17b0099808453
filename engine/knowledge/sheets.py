"""Lists that people keep in a spreadsheet, such as questions and judgements: separated values, or a workbook."""

from __future__ import annotations

import csv
import io
import zipfile

from engine.builtin.apart import READERS, TIME_LIMIT_S
from engine.knowledge.loaders.encoding import decode


def is_workbook(data: bytes) -> bool:
    """Return whether an archive is that of an Excel workbook."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def listed(name: str, data: bytes) -> tuple[str, bool]:
    """A text as it is; of a workbook the first sheet with anything in it, hidden rows too, as CSV.

    And whether other sheets were left out. Blocks; raises the ``SourceError`` that fits.
    """
    if not is_workbook(data):
        return decode(name, data), False
    rows, others = READERS.call(name, data, TIME_LIMIT_S, kind="engine.knowledge.sheets:first_rows")
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue(), bool(others)


def first_rows(name: str, data: bytes) -> tuple[list[list[str]], bool]:
    """Texts of the first sheet of a workbook, hidden rows too, and whether there are others; runs apart."""
    from engine.knowledge.loaders.tables import cell_texts
    from engine.knowledge.loaders.workbook import MOST_ROWS, first_sheet

    rows, others = first_sheet(name, data, MOST_ROWS)
    return [cell_texts(row) for row in rows], others
