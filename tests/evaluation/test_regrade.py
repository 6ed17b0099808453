"""Judging again: what the noise of a grader is measured with must neither read nor change what later runs see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.evaluation.noise import judged_passages, noise
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn

QUESTION = "How many rows does a truth table with five variables need?"
CONFIG = RunConfig(models=RoleModels(grader=RoleModel("ollama:qwen3:8b")), max_rewrites=0)
_PATIENCE_S = 60.0


@pytest.fixture
def ollama() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b"], reply=obedient) as server:
        yield server


@pytest.fixture
def engine(ollama: OllamaStandIn, tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(Settings.load(data_dir=tmp_path, ollama_url=ollama.url)) as opened:
        opened.wait_until_ready()
        yield opened


def test_every_passage_is_asked_for_again_and_the_cache_keeps_what_it_had(
    engine: Engine, ollama: OllamaStandIn
) -> None:
    """SC-10"""
    record = engine.run(QUESTION, CONFIG)
    judged = judged_passages(record)
    asked = len(ollama.requests_to("chat"))
    progress: list[int] = []
    found = engine.start_regrade([record], 3, progress.append).result(_PATIENCE_S)
    assert len(ollama.requests_to("chat")) - asked == 3 * len(judged)
    assert progress == [1, 2, 3]
    assert {name: len(verdicts) for name, verdicts in found.verdicts[record.id].items()} == {
        passage.id: 3 for passage in judged
    }
    asked = len(ollama.requests_to("chat"))
    again = engine.run(QUESTION, CONFIG)
    assert len(ollama.requests_to("chat")) == asked, "the cache still holds the verdicts of the run"
    assert again.rounds[0].verdicts == record.rounds[0].verdicts


def test_a_server_that_dies_in_between_loses_nothing_that_was_judged(engine: Engine, ollama: OllamaStandIn) -> None:
    record = engine.run(QUESTION, CONFIG)

    def die_after_the_first(done: int) -> None:
        if done == 1:
            ollama.close()

    found = engine.start_regrade([record], 3, die_after_the_first).result(_PATIENCE_S)
    assert found.fault is not None and found.fault.code.startswith("WB4")
    assert all(len(verdicts) == 1 for verdicts in found.verdicts[record.id].values())


def test_built_in_verdicts_never_scatter(engine: Engine) -> None:
    """SC-03: the built-in grader is deterministic, so its band is nothing and no verdict is a coin flip."""
    record = engine.run(QUESTION, RunConfig())
    found = engine.start_regrade([record], 3).result(_PATIENCE_S)
    scattered = noise(found.verdicts[record.id])
    assert scattered.flipping_n == 0
    assert scattered.sd == 0
