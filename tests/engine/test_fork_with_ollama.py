"""Branches of runs on chat models, counted by what reaches Ollama: SC-03, SC-10."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.replay.fork import fork_price
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.engine.forking import forked
from tests.support.ollama_stand_in import OllamaStandIn

CHAT = RoleModel("ollama:qwen3:8b")
QUESTION = "How many rows does a truth table with five variables need?"
# Without the cache of verdicts: what is saved is saved by the branch.
CONFIG = RunConfig(
    models=RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT),
    max_rewrites=0,
    ignore_cache=True,
    similarity_threshold=0.0,
)


def test_only_what_is_missing_is_asked_of_ollama(engine: Engine, ollama: OllamaStandIn) -> None:
    """SC-10"""
    parent = engine.run(QUESTION, CONFIG)
    asked = len(ollama.requests_to("chat"))
    config = replace(CONFIG, top_k=7)
    price = fork_price(parent, config)
    branch = forked(engine, parent, config)
    assert len(ollama.requests_to("chat")) - asked == 2
    assert [call.role for call in branch.model_calls if not call.cached] == ["grader", "grader"]
    # The two new passages did not pass, so that the answer stands; beforehand no one could know.
    assert price.next.calls == 3
    assert branch.answer == parent.answer
    assert branch.calls == 8, "as if nothing had been reused"
    assert branch.cached_calls == 6
    reused = next(call for call in branch.model_calls if call.cached)
    assert reused.messages
    assert reused.prompt_tokens


def test_a_dead_server_hinders_no_branch_that_needs_no_call(tmp_path: Path) -> None:
    """SC-10"""
    with OllamaStandIn(["qwen3:8b"], reply=obedient) as ollama:
        settings = Settings.load(data_dir=tmp_path, ollama_url=ollama.url)
        with Engine.open(settings) as engine:
            parent = engine.run(QUESTION, CONFIG)
    with Engine.open(settings) as engine:
        branch = forked(engine, engine.record(parent.id), replace(CONFIG, grade_pass_threshold=0.0))
        assert (branch.outcome, branch.answer) == ("answered", parent.answer)
        assert all(call.cached for call in branch.model_calls)
        lost = forked(engine, parent, replace(CONFIG, top_k=7))
        assert (lost.outcome, lost.reason) == ("failed", "WB401")
        assert len(lost.rounds[0].verdicts) == 5, "what was reused stays in the record"
        assert engine.record(parent.id) == parent
