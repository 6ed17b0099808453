"""Runs of the quality-control loop on chat models, over Ollama's wire protocol and a real store: QL-03 to QL-05."""

from __future__ import annotations

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig

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
