"""What a config says of the loops beyond the four-node one: their options, their defaults, and how they are read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.partial_config import config_over
from engine.errors import InvalidConfig
from engine.model.config import (
    WORKFLOWS,
    Options,
    RoleModel,
    RoleModels,
    RunConfig,
    WorkflowName,
    config_from_dict,
    for_workflow,
)
from engine.model.events import RunStarted
from engine.model.values import RunId
from engine.records.codec import event_from_json, event_to_json
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QUALITY_WEIGHTS, QualityOptions


def test_the_quality_loop_has_defaults_of_its_own() -> None:
    """QL-01, QL-02, QL-05: ten passages, two rewrites, ten seconds, and the weights 0.4, 0.3, 0.2, 0.1."""
    config = RunConfig(workflow="quality_loop")
    assert (config.top_k, config.max_rewrites, config.budget_s) == (10, 2, 10.0)
    assert isinstance(config.options, QualityOptions)
    assert [getattr(config.options, name) for name in QUALITY_WEIGHTS] == [0.4, 0.3, 0.2, 0.1]
    assert (config.options.grade_on, config.options.high_score, config.options.medium_score) == ("weighted", 0.7, 0.5)


def test_what_is_given_wins_over_the_workflow_s_default() -> None:
    config = RunConfig(workflow="quality_loop", top_k=5, budget_s=120)
    assert (config.top_k, config.max_rewrites, config.budget_s) == (5, 2, 120.0)


def test_the_other_loops_have_their_limits() -> None:
    """DL-04: two corrections; AE-01: three generations, at least one; DL-07: no web unless asked for."""
    assert RunConfig(workflow="dual_loop").options == DualLoopOptions(max_corrections=2, memory=True, web_search=False)
    assert RunConfig(workflow="answer_evaluation").options == AnswerEvaluationOptions(gener_epoch=3)


@pytest.mark.parametrize(
    ("workflow", "options", "field"),
    [
        ("answer_evaluation", {"gener_epoch": 0}, "gener_epoch"),
        ("answer_evaluation", {"gener_epoch": 2.5}, "gener_epoch"),
        ("dual_loop", {"max_corrections": -1}, "max_corrections"),
        ("dual_loop", {"memory": "yes"}, "memory"),
        ("dual_loop", {"gener_epoch": 2}, "gener_epoch"),
        ("self_corrective", {"memory": True}, "memory"),
        ("quality_loop", {"grade_on": "median"}, "grade_on"),
        ("quality_loop", {"coverage_weight": math.nan}, "coverage_weight"),
        ("quality_loop", {"coverage_weight": 0.5}, "coverage_weight"),
        ("quality_loop", {"medium_score": 0.8}, "high_score"),
    ],
)
def test_an_option_out_of_range_or_of_another_workflow_is_refused_by_name(
    workflow: str, options: dict[str, Any], field: str
) -> None:
    """QL-01, AE-01"""
    with pytest.raises(InvalidConfig) as refused:
        config_from_dict({"workflow": workflow, "options": options})
    assert refused.value.field == field


@pytest.mark.parametrize("workflow", [["dual_loop"], None, "other"])
def test_a_workflow_that_is_none_is_refused(workflow: Any) -> None:
    with pytest.raises(InvalidConfig):
        config_from_dict({"workflow": workflow})


def test_options_of_one_workflow_do_not_fit_another() -> None:
    with pytest.raises(InvalidConfig):
        RunConfig(workflow="dual_loop", options=AnswerEvaluationOptions())
    assert replace(RunConfig(), workflow="dual_loop").options == DualLoopOptions()


@given(st.tuples(*[st.integers(0, 20)] * 4).filter(lambda parts: sum(parts) > 0))
def test_weights_must_sum_to_one(parts: tuple[int, ...]) -> None:
    """QL-01"""
    shares: dict[str, Any] = {name: part / sum(parts) for name, part in zip(QUALITY_WEIGHTS, parts, strict=True)}
    assert sum(getattr(QualityOptions(**shares), name) for name in QUALITY_WEIGHTS) == pytest.approx(1, abs=1e-3)
    halved = {name: share / 2 for name, share in shares.items()}
    with pytest.raises(InvalidConfig):
        QualityOptions(**halved)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_config_survives_its_record(workflow: WorkflowName) -> None:
    """SC-10: options of every workflow are read back as what they were."""
    config = RunConfig(workflow=workflow)
    begun = RunStarted(seq=1, run_id=RunId("a"), question="q", config=config, started_at="2026-01-01")
    read = event_from_json(event_to_json(begun))
    assert isinstance(read, RunStarted)
    assert read.config == config


def test_changing_the_workflow_moves_what_stood_at_its_default() -> None:
    config = RunConfig(similarity_threshold=0.4)
    moved = for_workflow(config, "quality_loop")
    assert (moved.top_k, moved.similarity_threshold, moved.budget_s) == (10, 0.4, 10.0)
    assert for_workflow(moved, "self_corrective") == config
    assert for_workflow(RunConfig(top_k=7), "quality_loop").top_k == 7


def test_the_warmth_of_the_quality_rewriter_stays_in_its_loop() -> None:
    """QL-04: temperature 0.3 unless another one is given, and looking at that loop leaves nothing behind."""
    config = RunConfig(models=RoleModels(rewriter=RoleModel("ollama:m")))
    moved = for_workflow(config, "quality_loop")
    assert moved.models.rewriter.temperature == 0.3
    assert for_workflow(moved, "self_corrective") == config
    own = RunConfig(workflow="quality_loop", models=RoleModels(rewriter=RoleModel("ollama:m", temperature=0.7)))
    assert own.models.rewriter.temperature == 0.7
    assert for_workflow(own, "dual_loop").models.rewriter.temperature == 0.7


def test_part_of_a_config_keeps_the_other_options_of_the_run() -> None:
    own = RunConfig(workflow="dual_loop", options=DualLoopOptions(memory=False))
    assert config_over(own, {"options": {"max_corrections": 1}}).options == DualLoopOptions(1, memory=False)
    other = config_over(own, {"workflow": "quality_loop"})
    assert (other.workflow, other.top_k, other.options) == ("quality_loop", 10, QualityOptions())
    assert isinstance(config_over(own, {"workflow": "self_corrective"}).options, Options)
