"""One question through several workflows: when the four-node loop was enough, and what the others added."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model.config import RunConfig, WorkflowName
from engine.model.values import Citation, ModelCall, Outcome, PassageId, RunId, RunRecord
from engine.replay.side_by_side import Enough, shared_time, side_by_side


def record(
    workflow: WorkflowName, outcome: Outcome | None = "answered", cited: tuple[str, ...] = (), calls: int = 1
) -> RunRecord:
    call = ModelCall(role="grader", node="grade", round=0, model="builtin", messages=(), reply="")
    return RunRecord(
        id=RunId(f"run-{workflow}"),
        question="Where is tea grown?",
        config=RunConfig(workflow=workflow),
        started_at="2026-01-01",
        answer="In Yunnan [1]." if cited else "",
        citations=tuple(Citation(n, PassageId(name), f"{name}.md") for n, name in enumerate(cited, start=1)),
        outcome=outcome,
        model_calls=(call,) * calls,
        duration_ms=100.0,
    )


FOUR = record("self_corrective", cited=("a", "b"))
SILENT = record("self_corrective", "abstained")


@pytest.mark.parametrize(
    ("records", "enough", "better"),
    [
        ([FOUR, record("dual_loop", cited=("b",))], "enough", ()),
        ([FOUR, record("dual_loop", cited=("b", "c"))], "others_cite_more", ("dual_loop",)),
        ([SILENT, record("quality_loop", cited=("c",))], "others_answered", ("quality_loop",)),
        ([FOUR, record("dual_loop", "fallback")], "only_it", ()),
        ([SILENT, record("dual_loop", "fallback")], "nobody", ()),
        ([record("dual_loop", cited=("a",))], "no_baseline", ()),
        ([FOUR], "alone", ()),
        ([FOUR, record("dual_loop", "failed", cited=("z",))], "only_it", ()),
    ],
)
def test_the_verdict_follows_from_answers_and_what_they_cite(
    records: list[RunRecord], enough: Enough, better: tuple[WorkflowName, ...]
) -> None:
    found = side_by_side(records)
    assert (found.enough, found.better) == (enough, better)


def test_there_is_no_verdict_while_a_run_is_in_progress() -> None:
    found = side_by_side([FOUR, record("dual_loop", None)])
    assert found.enough is None
    assert found.lanes[1].times_slower is None


def test_costs_are_held_against_the_four_node_loop() -> None:
    slower = replace(record("answer_evaluation", cited=("a",), calls=4), duration_ms=250.0)
    base, other = side_by_side([FOUR, slower]).lanes
    assert (base.times_slower, base.extra_calls) == (None, None)
    assert other.times_slower == pytest.approx(2.5)
    assert other.extra_calls == 3


def test_shared_passages_come_first() -> None:
    found = side_by_side([FOUR, record("dual_loop", cited=("b", "c"))])
    assert next(iter(found.cited)) == "b"
    assert found.cited[PassageId("b")] == ("self_corrective", "dual_loop")
    assert found.cited[PassageId("c")] == ("dual_loop",)


@pytest.mark.parametrize(
    ("starts", "shared"),
    [
        (("00.000", "00.050"), True),
        (("00.000", "00.100"), False),
        (("00.000", "00.050", "00.160"), False),
        (("00.000",), False),
    ],
)
def test_runs_shared_the_machine_only_where_each_overlaps_another(starts: tuple[str, ...], shared: bool) -> None:
    runs = [replace(FOUR, started_at=f"2026-01-01T00:00:{start}+00:00") for start in starts]
    assert shared_time(runs) is shared
