"""One file of settings holds the defaults of runs on this machine, for every way to ask: BE-07."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.cli import main as cli
from engine.errors import InvalidSettings
from engine.evaluation.command import read_config
from engine.evaluation.settings_out import as_json, as_toml
from engine.model.config import WORKFLOWS, Defaults, RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from engine.system.setting_values import setting_values
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.quality_loop.options import QualityOptions
from tests.api.served import ADDRESS, app_of, engine_of


def written(folder: Path, plain: dict[str, Any]) -> str:
    path = folder / "defaults.json"
    path.write_text(json.dumps(plain))
    return str(path)


def defaults(folder: Path, plain: dict[str, Any]) -> Defaults:
    return Settings.load(defaults=written(folder, plain)).defaults_of_runs


def test_without_a_file_they_are_those_of_the_program() -> None:
    usual = Settings.load(role_models="grader=ollama:m").defaults_of_runs
    models = RoleModels(grader=RoleModel("ollama:m"))
    for workflow in WORKFLOWS:
        assert usual.of(workflow) == usual.over({"workflow": workflow}) == RunConfig(workflow=workflow, models=models)
    assert usual.of() == RunConfig(models=models)
    assert usual.over({"grade_pass_threshold": 0.4}).gate == "pass_rate"


def test_a_file_without_a_workflow_counts_for_each_that_has_the_setting(tmp_path: Path) -> None:
    """BE-07: GENER_EPOCH, too."""
    found = defaults(tmp_path, {"top_k": 7, "options": {"gener_epoch": 2, "medium_score": 0.4}})
    assert found.of() == RunConfig(top_k=7)
    assert found.of("answer_evaluation").options == AnswerEvaluationOptions(2)
    assert found.of("quality_loop").options == QualityOptions(medium_score=0.4)
    assert {found.of(workflow).top_k for workflow in WORKFLOWS} == {7}


def test_a_file_saved_for_one_workflow_leaves_the_defaults_of_others_alone(tmp_path: Path) -> None:
    saved = RunConfig(workflow="answer_evaluation", similarity_threshold=0.42, options=AnswerEvaluationOptions(5))
    for name, text in (("saved.json", as_json(saved)), ("saved.toml", as_toml(saved))):
        (tmp_path / name).write_text(text)
        found = Settings.load(defaults=str(tmp_path / name)).defaults_of_runs
        assert found.of() == found.over({}) == saved
        other = found.of("quality_loop")
        assert (other.similarity_threshold, other.top_k) == (0.42, RunConfig(workflow="quality_loop").top_k)


def test_what_a_run_names_comes_before_the_file(tmp_path: Path) -> None:
    found = defaults(tmp_path, {"top_k": 7, "gate": "min_relevant", "min_relevant": 2, "options": {"gener_epoch": 2}})
    assert found.over({"top_k": 3}) == RunConfig(top_k=3, min_relevant=2)
    assert found.over({"grade_pass_threshold": 0.4}).gate == "pass_rate"
    assert found.over(
        {"workflow": "answer_evaluation", "options": {"gener_epoch": 4}}
    ).options == AnswerEvaluationOptions(4)


def test_a_model_named_by_a_variable_comes_before_that_of_the_file(tmp_path: Path) -> None:
    models = {"grader": {"model": "ollama:a", "num_ctx": 4096}, "rewriter": "ollama:b"}
    settings = Settings.load(defaults=written(tmp_path, {"models": models}), role_models="rewriter=builtin")
    assert settings.models == RoleModels(grader=RoleModel("ollama:a", num_ctx=4096))
    assert settings.defaults_of_runs.of().models == settings.models
    (row,) = [item for item in setting_values(settings) if item.name == "defaults"]
    assert row.value.endswith("defaults.json: grader ollama:a")


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ({"top_k": 99}, "top_k"),
        ({"options": {"gener_epoch": 11}}, "gener_epoch"),
        ({"options": {"gener_epochs": 2}}, "gener_epochs"),
        ({"workflow": "other"}, "workflow"),
        ({"milvus_address": "http://elsewhere:1"}, "address"),
        ({"models": {"grader": "nothing:"}}, "nothing:"),
    ],
)
def test_what_no_run_could_use_ends_the_start_with_its_name(plain: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings) as caught:
        defaults(tmp_path, plain)
    assert "WORKBENCH_DEFAULTS cannot be used" in caught.value.fact
    assert said in caught.value.fact


def test_a_range_is_said_and_a_file_that_is_missing_too(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"1.*10"):
        defaults(tmp_path, {"options": {"gener_epoch": 11}})
    with pytest.raises(InvalidSettings, match="No such file"):
        Settings.load(defaults=str(tmp_path / "nowhere.json"))


def test_every_way_to_ask_begins_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BE-07; the endpoint of the seed document keeps the defaults of its own form (SC-11)."""
    path = written(tmp_path, {"top_k": 4, "budget_s": 77, "options": {"gener_epoch": 2}})
    monkeypatch.setenv("WORKBENCH_DEFAULTS", path)
    asked = cli._parser().parse_args(["ask", "hi", "--workflow", "answer_evaluation"])
    assert cli._config(asked).options == AnswerEvaluationOptions(2)
    assert read_config(None, Settings.load().defaults_of_runs).top_k == 4
    with engine_of(tmp_path / "data", defaults=path) as engine, TestClient(app_of(engine), base_url=ADDRESS) as client:
        assert engine.run("first").config.top_k == 4
        run = client.post("/api/runs", json={"question": "first"}).json()
        assert (run["config"]["top_k"], run["config"]["budget_s"]) == (4, 77)
        seed = client.post("/api/self-corrective-rag", json={"query": "first"}).json()
        config = engine.record(seed["runId"]).config
        assert (config.top_k, config.gate, config.budget_s) == (5, "pass_rate", 77)
        (row,) = [item for item in setting_values(engine.settings) if item.name == "defaults"]
        assert row.value == f"{path}: top_k 4, budget_s 77, gener_epoch 2"
