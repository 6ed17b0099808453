"""The benchmark of growth measures every size, and its table has one column for each."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import numpy as np

from tests.benchmarks.growth import _grown, _texts, _vectors, markdown
from tests.benchmarks.harness import TINY, Bench, Row


def test_every_measure_is_taken_at_every_size(tmp_path: Path) -> None:
    rows = asyncio.run(_grown(Bench(tmp_path, TINY), str(tmp_path / "knowledge.db"), tmp_path, 0.0))
    by_size = {
        size: {row.name.rpartition(" at ")[0] for row in rows if row.name.endswith(f" at {size}")} for size in (60, 120)
    }
    assert by_size[60] == by_size[120]
    assert {"passages put in", "search by vectors", "search by words", "search by both", "disk"} <= by_size[60]
    assert all(math.isfinite(value) for row in rows for value in row.values)


def test_the_table_has_a_line_a_measure_and_a_column_a_size() -> None:
    rows = [Row("Lite: search at 1 000", "ms", (4.0,)), Row("Lite: search at 10 000", "ms", (40.0, 60.0, 41.0))]
    assert markdown(rows, (1_000, 10_000, 100_000)) == (
        "| | 1 000 | 10 000 | 100 000 |\n|---|---:|---:|---:|\n| Lite: search | 4.00 ms | 41.0 ms | – |\n"
    )


def test_vectors_lie_as_near_to_each_other_as_those_of_a_real_model() -> None:
    draw = np.random.default_rng(1)
    same, other = _vectors(draw, 200, 3), _vectors(draw, 200, 4)
    assert 0.7 < float((same @ other.T).mean()) < float((same @ same.T).mean()) < 0.95


def test_texts_repeat_a_few_words_and_hold_many_rare_ones() -> None:
    words = " ".join(_texts(np.random.default_rng(2), 200)).split()
    assert len(words) == 200 * 80
    assert words.count("w1ord") > len(words) / 10
    assert len(set(words)) > 1000
