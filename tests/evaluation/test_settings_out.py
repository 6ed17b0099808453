"""Settings leave the tool as text and read back equal."""

from __future__ import annotations

import json
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import RoleModel, RoleModels, RunConfig
from engine.errors import InvalidConfig
from engine.evaluation.command import read_config
from engine.evaluation.settings_out import as_curl, as_json, as_python, as_toml
from engine.model.config import Options, WorkflowName, config_from_dict, config_from_stored
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions
from tests.engine.whatif.world import settings

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


OPTIONS: tuple[tuple[WorkflowName, Options], ...] = (
    ("self_corrective", Options()),
    ("quality_loop", QualityOptions(0.25, 0.25, 0.25, 0.25, "top3", 0.9, 0.35)),
    ("dual_loop", DualLoopOptions(0, memory=False, web_search=True)),
    ("answer_evaluation", AnswerEvaluationOptions(7)),
)


@st.composite
def configs(draw: st.DrawFn) -> RunConfig:
    model = RoleModel(f"ollama:m{draw(names)}", temperature=draw(st.sampled_from([0, 0.7])), num_ctx=4096)
    models = RoleModels(grader=draw(st.sampled_from([RoleModel(), model])), generator=model)
    workflow, options = draw(st.sampled_from(OPTIONS))
    base: Any = {"collection": draw(names), "models": draw(st.sampled_from([RoleModels(), models]))}
    return replace(draw(settings()), workflow=workflow, options=options, **base)


@given(configs())
def test_json_and_toml_read_back_equal(config: RunConfig) -> None:
    assert config_from_stored(json.loads(as_json(config))) == config
    assert config_from_stored(tomllib.loads(as_toml(config))) == config


@given(configs(), names)
def test_a_curl_command_sends_the_same_config_whatever_the_question(config: RunConfig, question: str) -> None:
    words = shlex.split(as_curl(config, question, "http://127.0.0.1:8501/"))
    assert words[:2] == ["curl", "http://127.0.0.1:8501/api/runs"]
    body = json.loads(words[words.index("-d") + 1])
    assert body["question"] == question
    assert config_from_dict(body["config"]) == config


@given(configs(), names)
def test_the_python_program_makes_the_same_config(config: RunConfig, question: str) -> None:
    program = as_python(config, question)
    head, _, asks = program.partition("with Engine.open")
    made: dict[str, Any] = {}
    exec(head, made)
    assert made["config"] == config
    assert repr(question) in asks
    compile(program, "tuned.py", "exec")


def test_what_is_default_is_written_too_and_what_has_no_meaning_is_not() -> None:
    plain = json.loads(as_json(RunConfig()))
    assert plain["top_k"] == 5
    assert "models" not in plain
    assert "options" not in plain
    assert "milvus_address" not in plain
    assert json.loads(as_json(RunConfig(workflow="dual_loop")))["options"]["max_corrections"] == 2


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        *(("json", text) for text in ("", "[", "[1]", '{"top_k": 99}', '{"nonsense": 1}', "null")),
        *(("toml", text) for text in ("top_k", "top_k = 99", "nonsense = 1", "[models]\ngrader = 3")),
    ],
)
def test_what_is_no_config_is_refused(suffix: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"settings.{suffix}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidConfig):
        read_config(path)
