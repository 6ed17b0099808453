"""Branches of runs on chat models, counted by what reaches Ollama: SC-03, SC-10."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import RunRecord
from engine.replay.fork import fork_price
from engine.settings import Settings
from tests.contracts.chat_models import obedient
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


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b"], reply=obedient) as running:
        yield running


@pytest.fixture
def ollama(server: OllamaStandIn) -> Iterator[OllamaStandIn]:
    yield server
    server.forget_script("chat")


@pytest.fixture(scope="module")
def engine(server: OllamaStandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("ollama")
    with Engine.open(Settings.load(data_dir=folder, ollama_url=server.url)) as opened:
        opened.wait_until_ready()
        yield opened


def forked(engine: Engine, parent: RunRecord, config: RunConfig, **changes: object) -> RunRecord:
    run_id = engine.fork(parent, config, **changes)  # type: ignore[arg-type]
    assert engine.wait(run_id, 60)
    return engine.record(run_id)


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


def test_a_verdict_set_by_hand_costs_one_answer(engine: Engine, ollama: OllamaStandIn) -> None:
    """SC-03, SC-10"""
    parent = engine.run(QUESTION, CONFIG)
    assert parent.context is not None
    asked = len(ollama.requests_to("chat"))
    branch = forked(engine, parent, CONFIG, verdicts={parent.context.passages[0].id: False})
    assert len(ollama.requests_to("chat")) == asked + 1
    assert branch.context is not None
    assert branch.context.passages == parent.context.passages[1:]


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
