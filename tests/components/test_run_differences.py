"""Runs of one question in a list: each says in what it differs from the others, and no more."""

from __future__ import annotations

from components.common.i18n import words_for
from components.runs.run_list import distinguishing_settings
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import RunId
from engine.workflows.quality_loop.options import QualityOptions

EN, ZH = words_for("en"), words_for("zh")


def apart(**configs: RunConfig) -> dict[str, str]:
    asked = [(RunId(name), "What is a set?") for name in configs]
    return {
        str(name): said
        for name, said in distinguishing_settings(asked, {RunId(k): v for k, v in configs.items()}, EN).items()
    }


def test_runs_of_one_question_name_the_settings_in_which_they_differ() -> None:
    found = apart(a=RunConfig(top_k=5), b=RunConfig(top_k=9, collection="wiki"))
    assert found == {"a": "Collection Samples · Top-k 5", "b": "Collection wiki · Top-k 9"}


def test_equal_runs_and_single_ones_say_nothing() -> None:
    assert apart(a=RunConfig(), b=RunConfig()) == {}
    assert apart(a=RunConfig(top_k=9)) == {}
    asked = [(RunId("a"), "one"), (RunId("b"), "another")]
    assert distinguishing_settings(asked, {RunId("a"): RunConfig(), RunId("b"): RunConfig(top_k=9)}, EN) == {}


def test_a_number_that_its_gate_does_not_read_counts_for_nothing() -> None:
    idle = apart(a=RunConfig(gate="pass_rate", min_relevant=1), b=RunConfig(gate="pass_rate", min_relevant=3))
    assert idle == {}
    read = apart(a=RunConfig(gate="min_relevant", min_relevant=1), b=RunConfig(gate="min_relevant", min_relevant=3))
    assert all("1" in read["a"] and "3" in read["b"] for _ in read)


def test_options_and_models_count_and_other_workflows_do_not() -> None:
    loop = RunConfig(workflow="quality_loop")
    other = RunConfig(workflow="quality_loop", options=QualityOptions(medium_score=0.4))
    chat = RunConfig(models=RoleModels(grader=RoleModel("ollama:qwen3:8b")))
    assert set(apart(a=loop, b=other)) == {"a", "b"}
    assert "ollama:qwen3:8b" in apart(a=RunConfig(), b=chat)["b"]
    assert apart(a=loop, b=RunConfig()) == {}


def test_questions_that_differ_in_spaces_and_case_alone_are_one() -> None:
    asked = [(RunId("a"), "What is a set?"), (RunId("b"), "what is  a set?")]
    found = distinguishing_settings(asked, {RunId("a"): RunConfig(top_k=1), RunId("b"): RunConfig(top_k=2)}, ZH)
    assert set(found) == {"a", "b"}
