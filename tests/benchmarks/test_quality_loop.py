"""The report of the quality-control benchmark, on records made by hand: QL-06."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from engine.builtin.quality_rewriter import BuiltinQualityRewriter
from engine.model.config import RunConfig
from engine.model.values import PassageId, RunRecord
from engine.samples import SampleQuestion
from tests.benchmarks.dumbbells import Measure, Pair, chart
from tests.benchmarks.quality_loop import Compared, Measured, gains
from tests.support.loop_fakes import LoopResources, ScriptedReranker, finished


def compared(expected: str) -> Compared:
    item = SampleQuestion("x", "zh", "vague", "图论", (PassageId(expected),))
    before, after = (_run(item.question, rewrites) for rewrites in (0, 2))
    return Compared(item, before, after)


def _run(question: str, rewrites: int) -> RunRecord:
    resources = LoopResources(reranker=ScriptedReranker(otherwise=0.55), rewriter=BuiltinQualityRewriter())
    return finished(resources, RunConfig(workflow="quality_loop", max_rewrites=rewrites), question)


def test_gain_conversion_and_what_became_worse_are_reported_next_to_the_controls() -> None:
    """QL-06: the history pushes the sixth passage of the knowledge base out, and the report says so."""
    vague = [compared("v1"), compared("v6")]
    rows = {row.name: row for row in gains(Measured(vague, vague[:1], vague[1:], 2, 2))}
    assert list(rows)[1] == "expected passages kept: mean gain", "first what no rewrite can talk up"
    assert rows["quality score: mean gain"].values[0] > 0.05
    assert rows["quality score: mean gain beyond the controls"].values == pytest.approx((0.0,)), "the same gain in all"
    assert rows["low became medium or high"].values == (1.0,)
    assert rows["expected passages kept: mean gain"].values == (-0.5,)
    assert rows["expected passages kept: mean gain"].note.endswith("worse for 1 of 2 (50%)")


def test_a_chart_draws_every_pair_and_cannot_be_broken_by_a_label() -> None:
    """QL-06"""
    drawn = chart("Before & after", [Measure("score", (0.5,))], [Pair("<b>", ((0.2, 0.6),)), Pair("x", ((0.6, 0.2),))])
    root = ElementTree.fromstring(drawn)
    circles = [item for item in root.iter() if item.tag.endswith("circle")]
    assert len(circles) == 4
    assert [float(item.get("cx", "")) for item in circles[:2]] == pytest.approx([250.0, 370.0])
    assert len({item.get("fill") for item in circles}) == 3
