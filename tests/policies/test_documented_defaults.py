"""Defaults are those of the requirements: SC-08, QL-01, QL-02, QL-05, DL-04, AE-01, GH-01."""

from __future__ import annotations

from engine.model.config import RunConfig
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions


def test_numbers_of_every_run() -> None:
    """SC-08"""
    config = RunConfig()
    assert (config.top_k, config.probe_k, config.max_rewrites, config.min_relevant) == (5, 20, 3, 1)
    assert (config.similarity_threshold, config.grade_pass_threshold, config.min_confidence) == (0.3, 0.6, 0.5)
    assert config.budget_s == 120


def test_numbers_of_single_workflows() -> None:
    """QL-01, QL-02, QL-05, DL-04, AE-01, GH-01"""
    quality = QualityOptions()
    weights = (quality.coverage_weight, quality.relevance_weight, quality.diversity_weight, quality.count_weight)
    assert weights == (0.4, 0.3, 0.2, 0.1)
    assert (quality.high_score, quality.medium_score) == (0.7, 0.5)
    looped = RunConfig(workflow="quality_loop")
    assert (looped.top_k, looped.max_rewrites, looped.budget_s) == (10, 2, 10)
    assert (DualLoopOptions().max_corrections, AnswerEvaluationOptions().gener_epoch) == (2, 3)
    assert RunConfig(workflow="graph_hybrid").max_rewrites == 3
