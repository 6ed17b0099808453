"""Excel workbooks: the time of a large sheet, and cells as LibreOffice Calc shows them where it is installed."""

from __future__ import annotations

import io
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import lxml.html
from openpyxl import Workbook, load_workbook

from engine.knowledge.loaders.number_format import shown
from engine.knowledge.loaders.workbook import load_workbook as read
from tests.benchmarks.harness import Bench, Row, ratio
from tests.knowledge.loaders.test_number_format import AS_CALC_SHOWS, OTHERWISE

_ROWS = 20_000


def workbooks(bench: Bench) -> Iterator[Row]:
    """Processor time of a sheet of 20 000 rows against openpyxl's, which joins no merged cells and formats nothing."""
    data = _saved([(n, f"item {n % 977}", n * 1.37, n % 100 / 100) for n in range(_ROWS)], ("0", "@", "#,##0.00", "0%"))
    ours, base = list[float](), list[float]()
    for _ in range(bench.sizes.repeats):
        ours.append(_took(lambda: read("a.xlsx", data)))
        base.append(_took(lambda: list(load_workbook(io.BytesIO(data), read_only=True).worksheets[0].values)))
    yield Row("a sheet of 20 000 rows, processor time", "s", tuple(ours))
    yield ratio("against openpyxl's bare values", ours, base)
    office = shutil.which("soffice")
    if office is None:
        yield Row("formats as Calc shows them", "%", (0.0,), note="LibreOffice is not installed")
        return
    pairs = [*AS_CALC_SHOWS, *OTHERWISE]
    agreed = sum(shown(value, code) == said for (value, code, _), said in zip(pairs, _calc(bench, office), strict=True))
    note = f"{len(OTHERWISE)} are known to differ"
    yield Row(f"{len(pairs)} formats as Calc shows them", "%", (agreed / len(pairs),), note=note)


def _calc(bench: Bench, office: str) -> list[str]:
    """What Calc writes into a web page for each value and format."""
    book = Workbook()
    sheet = book.worksheets[0]
    for number, (value, code, _) in enumerate([*AS_CALC_SHOWS, *OTHERWISE], 1):
        sheet.cell(number, 1, value).number_format = code
        sheet.cell(number, 2, "end")
    book.save(bench.folder / "formats.xlsx")
    own = f"-env:UserInstallation={(bench.folder / 'office').as_uri()}"
    command = [office, own, "--headless", "--convert-to", "html", "--outdir", str(bench.folder)]
    subprocess.run([*command, str(bench.folder / "formats.xlsx")], check=True, capture_output=True)
    page = lxml.html.fromstring(Path(bench.folder / "formats.html").read_bytes())
    return [" ".join(row.find("td").text_content().split()) for row in page.iter("tr")]


def _saved(rows: list[tuple[object, ...]], codes: tuple[str, ...]) -> bytes:
    book = Workbook()
    sheet = book.worksheets[0]
    for row in rows:
        sheet.append(row)
    for cells in sheet.iter_rows():
        for cell, code in zip(cells, codes, strict=True):
            cell.number_format = code
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _took(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
