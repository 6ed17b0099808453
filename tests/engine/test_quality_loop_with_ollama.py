"""Runs of the quality-control loop on chat models, over Ollama's wire protocol and a real store: QL-03 to QL-05."""

from __future__ import annotations

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from tests.support.ollama_stand_in import Hangs, OllamaStandIn, Reply

CHAT = RoleModel("ollama:qwen3:8b")
MODELS = RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT, router=CHAT)
QUESTION = "离散数学"


def test_every_role_can_be_a_chat_model(engine: Engine) -> None:
    """QL-03, QL-04, SC-10"""
    record = engine.run(QUESTION, RunConfig(workflow="quality_loop", models=MODELS, max_rewrites=1, budget_s=60))
    assert record.outcome in ("answered", "answered_forced"), record.error
    assert {"router", "grader", "rewriter", "generator"} == {call.role for call in record.model_calls}
    assert not any(call.built_in for call in record.model_calls)
    assert record.manifest["router_prompt"] and record.manifest["rewriter_prompt"]
    assert record.decisions[0].inequality.startswith("quality score ")
    assert record.decisions[0].inequality.endswith(" < 0.50 and rewrites 0 < 1")


def test_the_samples_have_all_three_kinds_and_every_round_searches_them(engine: Engine) -> None:
    """QL-03"""
    record = engine.run(QUESTION, RunConfig(workflow="quality_loop"))
    for current in record.rounds:
        assert {item.kind for item in current.candidates} == {"vector", "graph", "temporal"}


def test_a_router_that_talks_nonsense_costs_a_warning_and_no_answer(engine: Engine, ollama: OllamaStandIn) -> None:
    """QL-03, SC-13"""
    ollama.script("chat", Reply("I would look everywhere."), Reply("Everywhere!"))
    config = RunConfig(workflow="quality_loop", models=RoleModels(router=CHAT), max_rewrites=0)
    record = engine.run("图论", config)
    assert [item.node for item in record.warnings][:1] == ["question_router"]
    assert record.rounds[0].routing is not None and record.rounds[0].routing.code == "plain"
    assert record.outcome == "answered_forced"


def test_a_model_server_that_never_answers_ends_with_the_budget(engine: Engine, ollama: OllamaStandIn) -> None:
    """QL-05, SC-13"""
    ollama.script("chat", *[Hangs()] * 20)
    config = RunConfig(workflow="quality_loop", models=RoleModels(rewriter=CHAT), budget_s=6)
    record = engine.run("图论", config)
    assert (record.outcome, record.reason) == ("answered_forced", "deadline")
    assert record.duration_ms < 60_000, "less than the time limit of a call"
