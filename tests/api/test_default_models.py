"""The models of this machine, where a request or a command names none (SC-11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from engine.cli import main as cli
from engine.errors import InvalidSettings
from engine.evaluation.command import read_config
from engine.model.config import RoleModel, RoleModels, RoleName, RunConfig, config_from_dict
from engine.settings import Settings
from tests.api.served import calling

OWN: dict[str, Any] = {"role_models": ("grader=ollama:small", "generator=ollama:large")}
SEED = "/api/self-corrective-rag"


def models_of(tmp_path: Path, path: str, body: dict[str, Any]) -> RoleModels:
    """The models in the record of the run that a request made."""
    with calling(tmp_path, **OWN) as (client, engine):
        answered = client.post(path, json=body)
        assert answered.status_code == 200, answered.text
        found = answered.json()
        models = engine.record(found.get("runId") or found["id"]).config.models
        assert isinstance(models, RoleModels)
        return models


@pytest.mark.parametrize(
    ("path", "body"), [(SEED, {"query": "first"}), ("/api/runs", {"question": "first"})], ids=["seed", "runs"]
)
def test_a_request_without_models_has_those_of_the_settings(tmp_path: Path, path: str, body: dict[str, Any]) -> None:
    models = models_of(tmp_path, path, body)
    assert models == RoleModels(grader=RoleModel("ollama:small"), generator=RoleModel("ollama:large"))


def test_a_request_of_the_seeds_shape_may_name_models(tmp_path: Path) -> None:
    named = {"grader": "builtin", "generator": {"temperature": 0.5}, "rewriter": "openai:mine"}
    models = models_of(tmp_path, SEED, {"query": "first", "models": named})
    assert models.grader.built_in
    assert models.generator == RoleModel("ollama:large", temperature=0.5)
    assert models.rewriter == RoleModel("openai:mine")


def test_a_run_from_python_without_a_config_has_them_too(tmp_path: Path) -> None:
    with calling(tmp_path, **OWN) as (_, engine):
        assert engine.run("first").config.models.grader == RoleModel("ollama:small")
        assert engine.run("first", RunConfig()).config.models.grader.built_in, "a whole config is taken as it is"


def test_models_that_cannot_be_are_refused_with_their_field(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, _):
        bad: tuple[Any, ...] = ({"judge": "builtin"}, {"grader": "half"}, {"grader": 3}, [])
        for models in bad:
            answered = client.post(SEED, json={"query": "first", "models": models})
            assert answered.status_code == 422, models


def test_the_command_line_takes_them_and_a_flag_counts_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WORKBENCH_ROLE_MODELS", "grader=ollama:small, router=ollama:small")

    def asked(*flags: str) -> RoleModels:
        models = cli._config(cli._parser().parse_args(["ask", "hi", *flags])).models
        assert isinstance(models, RoleModels)
        return models

    assert asked("--num-ctx", "2048").grader == RoleModel("ollama:small", num_ctx=2048)
    assert asked("--grader", "builtin") == RoleModels(router=RoleModel("ollama:small"))
    (tmp_path / "c.json").write_text('{"models": {"grader": "builtin"}}', encoding="utf-8")
    read = read_config(tmp_path / "c.json", Settings.load().defaults_of_runs)
    assert read.models == RoleModels(router=RoleModel("ollama:small"))
    assert read_config(None, Settings.load().defaults_of_runs).models.grader == RoleModel("ollama:small")


def test_a_stored_config_keeps_its_built_in_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_ROLE_MODELS", "grader=ollama:small")
    assert config_from_dict({"top_k": 3}).models == RoleModels()


def test_every_role_may_have_a_model_and_a_bad_one_is_named() -> None:
    for role in get_args(RoleName):
        model = RoleModel("cross_encoder:m" if role == "screener" else "ollama:m")
        assert Settings.load(role_models=f" {role} = {model.model} ,").models.of(role) == model
        assert Settings.load(role_models="").models.of(role).built_in
    assert Settings.load(role_models="judge=ollama:m").judge_model == "ollama:m"
    for bad, said in {
        "grader=half": "grader: .*half",
        "generator=cross_encoder:x": "generator: ",
        "screener=ollama:m": "screener: ollama:m is a chat model",
        "judge=builtin": "judge: it must be a chat model",
        "grader": "one of the roles grader, ",
        "reader=ollama:m": "reader=ollama:m: it must be ROLE=MODEL",
    }.items():
        with pytest.raises(InvalidSettings, match=f"WORKBENCH_ROLE_MODELS cannot be used: .*{said}"):
            Settings.load(role_models=bad)
    assert Settings.load(role_models="reranker=cross_encoder:x").models.reranker.model == "cross_encoder:x"
    assert Settings.load(role_models="grader=rerank:x").models.grader.model == "rerank:x"


def test_a_variable_of_a_single_role_says_what_replaces_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WORKBENCH_GRADER_MODEL", "ollama:small")
    with pytest.raises(InvalidSettings, match="write `WORKBENCH_ROLE_MODELS=grader=MODEL`"):
        Settings.load()
    monkeypatch.delenv("WORKBENCH_GRADER_MODEL")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "workbench.toml").write_text('judge_model = "ollama:m"', encoding="utf-8")
    with pytest.raises(InvalidSettings, match='write `role_models = "judge=MODEL"`'):
        Settings.load()
