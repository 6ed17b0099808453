"""What a live run is waiting for just now: model calls that have begun, and the time until now."""

from __future__ import annotations

import pytest

from components.common.i18n import words_for
from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from pages.parts.ask.path import counts_of
from tests.support.ollama_stand_in import Gate, OllamaStandIn, Slow

QUESTION = "How many rows does a truth table with five variables need?"
CHAT = RoleModel("ollama:qwen3:8b")


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_call_is_under_way_until_it_has_ended(engine: Engine, ollama: OllamaStandIn, cancelled: bool) -> None:
    gate = Gate()
    asked = len(ollama.requests_to("chat"))
    ollama.script("chat", Slow(gate=gate))
    run_id = engine.start(QUESTION, RunConfig(models=RoleModels(generator=CHAT)))
    ollama.wait_for(lambda seen: len(seen.requests_to("chat")) > asked)
    record, (elapsed_ms, waiting) = engine.record(run_id), engine.under_way(run_id)
    assert (record.calls, waiting) == (0, 1)
    assert elapsed_ms > record.duration_ms
    words = words_for("en")
    text, _ = counts_of(record, words, waiting=waiting)
    assert text.startswith(words("{n} done, {running} running", n=0, running=1))
    if cancelled:
        engine.cancel(run_id)
    gate.open()
    assert engine.wait(run_id, 60.0)
    assert engine.record(run_id).calls == 1
    assert engine.under_way(run_id) == (0.0, 0)
