"""The benchmarks run and give figures; how good the figures are is not a test's business."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import main
from tests.benchmarks.catalogue import BENCHMARKS
from tests.benchmarks.harness import TINY, Bench, Benchmark, Row, in_turn, ratio, table

_QUICK = [item for item in BENCHMARKS.values() if not item.slow]


@pytest.mark.parametrize("benchmark_", _QUICK, ids=lambda item: item.name)
def test_every_quick_benchmark_gives_figures(benchmark_: Benchmark, tmp_path: Path) -> None:
    rows = list(benchmark_.measure(Bench(tmp_path, TINY)))
    assert rows
    for row in rows:
        assert row.values, row.name
        assert all(math.isfinite(value) and value >= 0 for value in row.values), row


def test_works_take_turns_and_every_turn_of_each_is_kept() -> None:
    calls: list[str] = []
    first, second = in_turn(lambda: calls.append("a"), lambda: calls.append("b"), repeats=3)
    assert calls == ["a", "b", "a", "b", "b", "a", "a", "b"]
    assert len(first) == len(second) == 3


def test_a_ratio_is_taken_turn_by_turn() -> None:
    assert ratio("r", (2.0, 9.0), (1.0, 3.0)).values == (2.0, 3.0)


def test_the_table_shows_median_extremes_and_budget() -> None:
    shown = table([Row("search", "ms", (1.0, 30.0, 2.0), "< 5 ms"), Row("share", "%", (0.5,))])
    head, search, share = shown.splitlines()
    assert head.split() == ["benchmark", "median", "min", "max", "n", "budget"]
    assert search.split() == ["search", "2.00", "ms", "1.00", "ms", "30.0", "ms", "3", "<", "5", "ms"]
    assert share.split() == ["share", "50.0%", "50.0%", "50.0%", "1"]


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["no-such-benchmark"])
    assert "no-such-benchmark" in capsys.readouterr().err
