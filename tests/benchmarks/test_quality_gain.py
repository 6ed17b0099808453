"""The twenty vague questions, really asked: built-in roles are deterministic, so their gain is a test's business."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.benchmarks.harness import TINY, Bench
from tests.benchmarks.quality_loop import Compared, expected_kept_ever, grade, measured, score, times


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Compared]:
    return measured(tmp_path_factory.mktemp("vague"))


def test_the_vague_questions_gain_what_is_asked_for(compared: Sequence[Compared]) -> None:
    """QL-06: all grade low without a rewrite; mean gain at least +0.15, and at least 60 % become medium or high."""
    assert len(compared) == 20
    assert all(grade(item.before) == "low" for item in compared)
    pairs = [item.pair(score) for item in compared]
    assert sum(after - before for before, after in pairs) / len(pairs) >= 0.15
    assert sum(grade(item.after) != "low" for item in compared) >= 12
    assert not any(after < before for before, after in pairs)


def test_what_the_score_gains_is_not_lost_in_passages(compared: Sequence[Compared]) -> None:
    """QL-06: by a measure that the grader cannot game, the answer has no fewer expected passages to draw on."""
    pairs = [item.pair(expected_kept_ever) for item in compared]
    assert all(after >= before for before, after in pairs)
    assert sum(after for _, after in pairs) > sum(before for before, _ in pairs)


def test_every_budget_of_the_loop_is_measured(
    compared: Sequence[Compared], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """QL-07"""
    rows = {row.name: row for row in times(Bench(tmp_path_factory.mktemp("times"), TINY), compared)}
    budgets = {
        "time of a quality check": "< 10 ms",
        "time of a rewrite": "< 2 s",
        "time of one loop": "< 3 s",
        "time of a run": "< 10 s",
    }
    assert {name: row.budget for name, row in rows.items()} == budgets
    assert all(min(row.values) > 0 for row in rows.values())
