"""What-if of the other loops on the workbench: their own sliders move the card, and nothing is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from components.common.i18n import words_for
from components.common.run_link import settings_in_url
from engine.engine import Engine
from engine.model.config import RoleModel, RunConfig, WorkflowName
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions
from pages.parts.ask.what_if import tried
from tests.pages.driving import inline, opened, setting, visible

EN = words_for("en")
LOOPS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation")
_SLIDERS: Mapping[WorkflowName, tuple[str, float]] = {
    "quality_loop": ("medium_score", 0.05),
    "dual_loop": ("max_corrections", 0),
    "answer_evaluation": ("gener_epoch", 1),
}


@pytest.mark.parametrize("workflow", LOOPS)
def test_a_slider_of_the_loop_changes_the_card_and_starts_no_run(engine: Engine, workflow: WorkflowName) -> None:
    """QL-02, DL-04, AE-01"""
    words = words_for("zh")
    record = engine.run("离散数学", RunConfig(workflow=workflow))
    before = [item.id for item in engine.runs(50)]
    app = opened(language="zh", run=record.id, **settings_in_url(record.config))
    hint = words("Move a setting: its effect shows here.")
    assert hint in inline(app)
    name, value = _SLIDERS[workflow]
    setting(app, name).set_value(value).run()
    assert not app.exception
    assert hint not in inline(app) and words("What if") in inline(app)
    setting(app, "similarity_threshold").set_value(0.6).run()
    assert not app.exception
    assert [item.id for item in engine.runs(50)] == before


def test_the_offer_to_draw_the_map_goes_once_it_is_drawn(engine: Engine) -> None:
    record = engine.run("What is a truth table?", RunConfig(workflow="answer_evaluation"))
    app = opened(run=record.id, workflow="answer_evaluation", state={"tab": "map"})
    label = words_for("en")("Draw the map")
    assert label in visible(app)
    next(item for item in app.button if item.key == "draw_map").click().run(timeout=60)
    assert not app.exception
    assert not any(item.key == "draw_map" for item in app.button)


def test_options_are_tried_where_the_panel_stands_at_the_runs_workflow() -> None:
    """The panel of another workflow leaves the run's own options, and everything that it has no control for."""
    run = RunConfig(workflow="answer_evaluation", top_k=4, options=AnswerEvaluationOptions(2))
    chosen = replace(run, options=AnswerEvaluationOptions(5), similarity_threshold=0.4)
    assert tried(chosen, run) == chosen
    other = RunConfig(workflow="quality_loop", top_k=7, options=QualityOptions(medium_score=0.3))
    moved = tried(other, run)
    assert (moved.workflow, moved.options, moved.top_k) == ("answer_evaluation", run.options, 7)
    assert (moved.max_rewrites, moved.budget_s) == (3, 120), "its defaults are those of the run's workflow"


def test_models_of_every_role_of_the_workflow_are_tried_and_hidden_settings_stay() -> None:
    run = RunConfig(workflow="dual_loop", gate="min_relevant", options=DualLoopOptions(1))
    models = replace(run.models, evaluator=RoleModel("ollama:a", seed=1), router=RoleModel("ollama:b"))
    chosen = RunConfig(workflow="dual_loop", models=models)
    config = tried(chosen, run)
    assert config.gate == "min_relevant", "the panel of this loop has no control for it"
    assert (config.models.evaluator.model, config.models.router.model) == ("ollama:a", "ollama:b")
    assert config.models.evaluator.seed == run.models.evaluator.seed
    four_nodes = tried(RunConfig(models=models), RunConfig())
    assert four_nodes.models == RunConfig().models, "this loop asks neither"
