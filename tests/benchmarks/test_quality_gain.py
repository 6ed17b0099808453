"""The twenty vague questions, really asked: built-in roles are deterministic, so their gain is a test's business."""

from __future__ import annotations

import pytest

from engine.knowledge.samples import sample_sources
from engine.model.values import SOURCE_KINDS
from tests.benchmarks.harness import TINY, Bench
from tests.benchmarks.quality_loop import REWRITES, VAGUE, Measured, gains, measured, times
from tests.benchmarks.vague import MORE_VAGUE


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return measured(tmp_path_factory.mktemp("vague"), vague=8, controls=3)


def test_the_vague_group_is_chosen_by_its_measured_grade_and_has_twenty(found: Measured) -> None:
    """QL-06: enough of the pool grades low in the first round, in both languages, with passages that are there."""
    assert found.low >= VAGUE and len(found.vague) == 8
    assert {item.item.language for item in found.vague} == {"en", "zh"}
    known = {passage.id for source in sample_sources() for passage in source.passages}
    assert all(set(item.expected) <= known for item in MORE_VAGUE)


def test_a_gain_counts_only_beyond_what_the_control_groups_gain(found: Measured) -> None:
    """QL-06: plain and unanswerable questions go through the same loop; the targets are reported, not asserted."""
    assert [len(group) for group in (found.plain, found.unanswerable)] == [3, 3]
    assert any(item.after.rewrites for item in found.plain)
    assert any(item.after.rewrites for item in found.unanswerable)
    rows = {row.name: row for row in gains(found)}
    vague = rows["quality score: mean gain"].values[0]
    controls = [rows[f"quality score, {name} (control): mean gain"].values[0] for name in ("plain", "unanswerable")]
    beyond = rows["quality score: mean gain beyond the controls"]
    assert beyond.values[0] == pytest.approx(vague - max(controls))
    assert beyond.budget == "≥ +0.15"
    assert "worse for" in rows["expected passages kept: mean gain"].note


def test_no_run_goes_beyond_its_rewrites_and_its_calls(found: Measured) -> None:
    """QL-05, QL-06"""
    for item in (*found.vague, *found.plain, *found.unanswerable):
        assert not item.before.rewrites
        assert len(item.after.rewrites) <= REWRITES
        assert len(item.after.rounds) == len(item.after.rewrites) + 1
        assert item.before.rounds[0].candidates == item.after.rounds[0].candidates
        assert set(item.after.rounds[0].routing.shares) == set(SOURCE_KINDS)  # type: ignore[union-attr]


def test_every_budget_of_the_loop_is_measured(found: Measured, tmp_path_factory: pytest.TempPathFactory) -> None:
    """QL-07"""
    rows = {row.name: row for row in times(Bench(tmp_path_factory.mktemp("times"), TINY), found.vague)}
    budgets = {
        "time of a quality check": "< 10 ms",
        "time of a rewrite": "< 2 s",
        "time of one loop": "< 3 s",
        "time of a run": "< 10 s",
    }
    assert {name: row.budget for name, row in rows.items()} == budgets
    assert all(min(row.values) > 0 for row in rows.values())
