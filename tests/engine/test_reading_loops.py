"""What is read from the records of the other loops: worst cases, differences, scorecards, and what a gate wasted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.flow import workflow
from engine.model.config import WORKFLOWS, RoleModel, RoleModels, RunConfig, WorkflowName
from engine.model.settings_difference import settings_difference
from engine.model.values import RunRecord
from engine.replay.difference import difference
from engine.replay.gate_cost import gate_cost
from engine.replay.pinned import pinned_effect
from engine.replay.scorecard import scorecard
from engine.running.budget import measured_costs, worst_case
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions
from tests.engine.whatif.loops import LoopWorld, run_in

LOOPS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation")
_CHAT = RoleModel("ollama:m")
CHAT = RoleModels(_CHAT, _CHAT, _CHAT, _CHAT, _CHAT)


def first(name: WorkflowName, wanted: object, **settings: object) -> RunRecord:
    """The first run of a loop of which ``wanted`` holds."""
    config = RunConfig(workflow=name, **settings)  # type: ignore[arg-type]
    records = (run_in(LoopWorld(seed, strict=0.7), config) for seed in range(300))
    return next(item for item in records if wanted(item))  # type: ignore[operator]


@pytest.mark.parametrize(
    "config",
    [
        *(RunConfig(workflow=name, models=models) for name in WORKFLOWS for models in (RoleModels(), CHAT)),
        RunConfig(models=CHAT, grade_probe=True, max_rewrites=5),
        RunConfig(workflow="quality_loop", models=CHAT, max_rewrites=5, grade_probe=True),
        RunConfig(workflow="dual_loop", models=CHAT, options=DualLoopOptions(4, web_search=True)),
        RunConfig(workflow="answer_evaluation", models=CHAT, options=AnswerEvaluationOptions(7)),
    ],
)
def test_the_worst_case_counts_the_calls_that_the_workflow_counts(config: RunConfig) -> None:
    """SC-13"""
    price = worst_case(measured_costs((), config), config)
    assert price.calls == workflow(config.workflow).worst_case_calls(config)
    assert price.seconds is None
    assert (price.built_in_calls == 0) is not config.models.grader.built_in


@pytest.mark.parametrize("name", LOOPS)
def test_no_run_costs_more_than_the_worst_case_and_seconds_come_from_runs_of_the_same_loop(name: WorkflowName) -> None:
    """SC-13"""
    config = RunConfig(workflow=name, gate="pass_rate")
    records = [run_in(LoopWorld(seed, strict=0.9), config) for seed in range(8)]
    most = worst_case(measured_costs(records, records[0].config), records[0].config)
    assert most.seconds is not None and most.seconds >= 0
    for record in records:
        assert record.built_in_calls <= most.built_in_calls
    other = RunConfig()
    assert worst_case(measured_costs(records, other), other).seconds is None


def test_options_differ_by_name_and_those_of_other_workflows_have_nothing_in_common() -> None:
    a = RunConfig(workflow="quality_loop", options=QualityOptions(medium_score=0.4))
    b = RunConfig(workflow="quality_loop", top_k=3)
    assert [(item.name, item.a, item.b) for item in settings_difference(a, b)] == [
        ("top_k", 10, 3),
        ("medium_score", 0.4, 0.5),
    ]
    names = [item.name for item in settings_difference(b, RunConfig(workflow="dual_loop", top_k=3))]
    assert names == ["workflow", "max_rewrites", "budget_s"]


def test_runs_that_part_only_after_their_answer_part_in_its_round() -> None:
    """AE-01"""
    long = first("answer_evaluation", lambda item: len(item.drafts) == 3)
    config = replace(long.config, options=AnswerEvaluationOptions(1))
    seed = next(seed for seed in range(300) if run_in(LoopWorld(seed, strict=0.7), long.config).drafts == long.drafts)
    short = run_in(LoopWorld(seed, strict=0.7), config)
    found = difference(long, short)
    last = found.path[-1]
    assert found.parting == last.index and last.differs == ("route", "reason")
    assert last.decision_a is not None and last.decision_b is not None
    assert (last.decision_a.reason, last.decision_b.reason) == ("revise", "max_epochs")
    assert difference(long, long).equal


def test_the_initial_rewrite_has_no_round_before_it_and_a_correction_has() -> None:
    """DL-05"""
    record = first("dual_loop", lambda item: len(item.rewrites) > 1 and not item.drafts[0].direct)
    initial, correction, *_ = scorecard(record)
    assert (initial.rewrite.round, initial.effect, initial.pass_rate) == (-1, None, None)
    assert (initial.gained, initial.lost, initial.similarity) == ((), (), None)
    assert correction.rewrite.round >= 0 and correction.pass_rate is not None
    graded = {item.round: item.pass_rate for item in record.decisions if item.node == "grade_documents"}
    before, after = graded[correction.rewrite.round], graded[correction.rewrite.round + 1]
    assert correction.pass_rate == (before, after)


def test_a_gate_wastes_rounds_and_never_answers() -> None:
    """SC-05, AE-01"""

    def revised(item: RunRecord) -> bool:
        return gate_cost(item) is not None and len(item.drafts) > 1

    record = first("answer_evaluation", revised, gate="pass_rate")
    cost = gate_cost(record)
    assert cost is not None
    later = [call for call in record.model_calls if call.role in ("generator", "evaluator")]
    assert later and cost.built_in_calls <= record.built_in_calls - len(later)
    assert cost.rewrites == len(record.rewrites) - cost.round


def test_pinned_runs_of_every_loop_are_replayed() -> None:
    records = [
        first("quality_loop", lambda item: item.outcome == "answered_forced"),
        first("answer_evaluation", lambda item: item.outcome == "answered"),
        first("dual_loop", lambda item: item.outcome == "answered"),
    ]
    same = pinned_effect(records, lambda item: item.config, lambda item: item.config)
    assert (same.changes, same.unknown, same.total) == ((), (), 3)
    lenient = replace(records[0].config, options=QualityOptions(medium_score=0.0))
    better = pinned_effect(records[:1], lambda item: item.config, lambda item: lenient)
    assert better.count("better") == 1
