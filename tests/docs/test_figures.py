"""The tables of what was measured are those of the files that the benchmarks write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.benchmarks.catalogue import BENCHMARKS
from tests.benchmarks.harness import Row
from tests.benchmarks.recorded import RECORDED, read, write
from tests.docs import PAGES, figures, tables_in, with_tables


def test_a_benchmark_that_says_something_else_changes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = next(item for item in PAGES if "samples" in tables_in(item.read_text(encoding="utf-8")))
    text = page.read_text(encoding="utf-8")
    assert with_tables(text) == text
    other = Row("samples zh: answered", "%", (0.5,), note="1 of 2")
    write("samples", [other], "here", tmp_path)
    monkeypatch.setattr(figures, "read", lambda name: read(name, tmp_path if name == "samples" else _committed()))
    changed = with_tables(text)
    assert "| answerable questions answered |   | 1 of 2 |" in changed


def test_what_no_resample_changes_is_a_count_and_not_certain() -> None:
    page = next(item for item in PAGES if "models.graders" in tables_in(item.read_text(encoding="utf-8")))
    ranges = re.findall(r"\(([\d.%]+)–([\d.%]+)\)", page.read_text(encoding="utf-8"))
    assert len(ranges) > 50 and [(low, high) for low, high in ranges if low == high] == []


def test_what_is_written_reads_back_with_its_median(tmp_path: Path) -> None:
    write("samples", [Row("time", "ms", (3.0, 1.0, 2.0)), Row("share", "%", (0.5,), note="1 of 2")], "here", tmp_path)
    rows = read("samples", tmp_path)
    assert (rows["time"]["median"], rows["time"]["text"], rows["time"]["n"]) == (2.0, "2.00 ms", 3)
    assert (rows["share"]["text"], rows["share"]["note"]) == ("50.0%", "1 of 2")


@pytest.mark.parametrize("name", RECORDED)
def test_every_benchmark_of_the_pages_has_its_file(name: str) -> None:
    assert name in BENCHMARKS
    assert read(name)


def _committed() -> Path:
    from tests.benchmarks.recorded import FOLDER

    return FOLDER
