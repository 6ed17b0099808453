"""Parameters of a run: SC-08."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from engine.errors import InvalidConfig
from engine.model.config import (
    MODEL_PARAMETERS,
    PARAMETERS,
    PRESETS,
    WORKFLOWS,
    Defaults,
    RoleModel,
    RunConfig,
    config_from_dict,
    read_defaults,
)
from engine.settings import Settings
from tests.engine.strategies import configs


def test_the_defaults_are_those_of_the_specification() -> None:
    """SC-08"""
    config = RunConfig()
    assert {name: getattr(config, name) for name in PARAMETERS} == {
        "top_k": 5,
        "similarity_threshold": 0.3,
        "grade_pass_threshold": 0.6,
        "max_rewrites": 3,
        "min_confidence": 0.5,
        "probe_k": 20,
        "min_relevant": 1,
        "cascade_low": 0.2,
        "cascade_high": 0.9,
        "budget_s": 120,
        "sentence_threshold": 0.3,
        "min_support": 0.5,
    }


def config_with(name: str, value: Any) -> RunConfig:
    # Neither cut of a cascade is beyond the other then.
    return RunConfig(**{"cascade_low": 0, "cascade_high": 1, name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_value_out_of_range_is_refused_naming_field_and_range(name: str) -> None:
    """SC-08"""
    limits = PARAMETERS[name]
    for value in (limits.low - 1, limits.high + 1, float("nan"), True, "5", None):
        with pytest.raises(InvalidConfig) as caught:
            config_with(name, value)
        assert caught.value.field == name
        assert f"{limits.low:g} and {limits.high:g}" in caught.value.fact
    assert RunConfig(similarity_threshold=0.123449).similarity_threshold == 0.1234, "rounded to four decimals"
    assert getattr(config_with(name, limits.low), name) == limits.low
    assert getattr(config_with(name, limits.high), name) == limits.high


@pytest.mark.parametrize(("name", "value"), PRESETS.items())
def test_a_preset_lights_up_only_when_its_threshold_matches(name: str, value: float) -> None:
    """SC-08"""
    assert RunConfig(grade_pass_threshold=value).preset == name
    assert RunConfig(grade_pass_threshold=value + 0.01).preset is None


@given(configs)
def test_a_config_survives_the_way_through_json(config: RunConfig) -> None:
    assert config_from_dict(asdict(config)) == config


@pytest.mark.parametrize(
    "plain",
    [
        {"topk": 3},
        {"top_k": 2.5},
        {"models": {"grader": {"modle": "x"}}},
        {"models": {"oracle": "builtin"}},
        {"models": []},
        {"options": {"x": 1}},
        {"gate": "all"},
        {"mode": 3},
        {"collection": ""},
        {"collection": 7},
        {"answer_unverified": "yes"},
        {"models": {"grader": "qwen"}},
        {"models": {"grader": {"model": 5}}},
        {"models": {"grader": {"model": None}}},
        {"models": {"grader": "ollama:"}},
        {"milvus_address": 5},
        {"milvus_address": None},
        {"milvus_address": "http://" + "a" * 200},
    ],
)
def test_unknown_and_unusable_settings_are_refused(plain: dict[str, object]) -> None:
    with pytest.raises(InvalidConfig):
        config_from_dict(plain)


def test_a_model_may_be_named_by_a_plain_string() -> None:
    assert config_from_dict({"models": {"grader": "ollama:qwen3:8b"}}).models.grader == RoleModel("ollama:qwen3:8b")


@pytest.mark.parametrize("name", MODEL_PARAMETERS)
def test_an_unusable_number_of_a_model_is_refused_naming_it_and_its_range(name: str) -> None:
    limits = MODEL_PARAMETERS[name]
    unusable: tuple[Any, ...] = (limits.low - 1, limits.high + 1, float("nan"), float("inf"), True, "5", None, [], {})
    for value in unusable:
        with pytest.raises(InvalidConfig) as caught:
            config_from_dict({"models": {"grader": {"model": "ollama:m", name: value}}})
        assert caught.value.field == name
        assert f"{limits.low:.10g} and {limits.high:.10g}" in caught.value.fact
    for value in (limits.low, limits.high, limits.default):
        assert getattr(config_from_dict({"models": {"grader": {name: value}}}).models.grader, name) == value


@pytest.mark.parametrize("name", ["num_ctx", "seed"])
def test_a_fraction_of_a_token_or_a_seed_is_refused(name: str) -> None:
    with pytest.raises(InvalidConfig, match=f"{name} must be a whole number") as caught:
        config_from_dict({"models": {"grader": {name: 4096.5}}})
    assert caught.value.field == name


def test_an_address_that_is_no_text_or_too_long_is_named() -> None:
    with pytest.raises(InvalidConfig) as caught:
        RunConfig(milvus_address="a" * 201)
    assert caught.value.field == "milvus_address"
    assert "200" in caught.value.fact
    assert RunConfig(milvus_address="a" * 200).milvus_address == "a" * 200


@given(st.text(max_size=30) | st.sampled_from(["ollama:", "ollama: ", ":", ":model", " :model", "qwen3"]))
def test_a_model_without_provider_is_refused(name: str) -> None:
    provider, _, model = name.partition(":")
    if name == "builtin" or (provider.strip() and model.strip()):
        assert RoleModel(name).model == name
    else:
        with pytest.raises(InvalidConfig) as caught:
            RoleModel(name)
        assert caught.value.field == "models"
        assert "`ollama:MODEL`" in caught.value.remedy


def test_an_unusable_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_PORT", "none")
    with pytest.raises(Exception, match="WORKBENCH_PORT"):
        Settings.load()


def test_lists_are_read_from_comma_separated_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_ALLOWED_HOSTS", "localhost, box.example")
    assert Settings.load().allowed_hosts == ("localhost", "box.example")


@pytest.mark.parametrize("role", ["rewriter", "generator", "evaluator", "router", "extractor", "vision"])
@pytest.mark.parametrize("model", ["cross_encoder:owner/name", "rerank:name"])
def test_a_model_that_gives_scores_grades_and_reranks_and_does_nothing_else(role: str, model: str) -> None:
    """GH-04"""
    with pytest.raises(InvalidConfig, match="only gives scores"):
        config_from_dict({"workflow": "graph_hybrid", "models": {role: model}})
    assert config_from_dict({"workflow": "graph_hybrid", "models": {"reranker": model, "grader": model}})


def test_what_one_workflow_had_as_an_option_is_read_as_the_setting_that_it_is_now(tmp_path: Path) -> None:
    old = {"workflow": "graph_hybrid", "options": {"refine": True, "sentence_threshold": 0.4, "hops": 1}}
    config = config_from_dict(old)
    assert (config.refine, config.sentence_threshold) == (True, 0.4)
    assert config == TypeAdapter(RunConfig).validate_python(old) == Defaults().over(old)
    with pytest.raises(InvalidConfig, match="refine"):
        config_from_dict({**old, "workflow": "quality_loop"})
    path = tmp_path / "settings.json"
    path.write_text('{"options": {"refine": true}}')
    defaults = read_defaults(path, {})
    assert [name for name in WORKFLOWS if defaults.of(name).refine] == ["graph_hybrid"]
    path.write_text('{"workflow": "self_corrective", "options": {"refine": true}}')
    assert read_defaults(path, {}).of("graph_hybrid").refine
