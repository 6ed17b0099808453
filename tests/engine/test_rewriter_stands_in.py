"""A chat model that proposes the question again, twice: the built-in rewriter stands in, and the record says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from components.common.i18n import words_for
from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from pages.parts.ask.rewrites import history_nodes
from tests.contracts.chat_models import fenced
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest

CHAT = RoleModel("ollama:qwen3:8b")
QUESTION = "main symptoms of diabetes"
CONFIG = RunConfig(grade_pass_threshold=1.0, max_rewrites=1, models=RoleModels(rewriter=CHAT))


def parrot(request: RecordedRequest) -> str:
    """The question as the query, with the placeholder of a prompt as its reason."""
    question = fenced("question", str(request.messages[1]["content"]))[0]
    reason = "one short sentence: what went wrong and what you changed"
    return json.dumps({"query": question, "reason": reason, "keywords": [], "strategy": "split"})


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b"], reply=parrot) as running:
        yield running


def test_the_built_in_rewriter_proposes_instead_and_the_page_says_so(engine: Engine, server: OllamaStandIn) -> None:
    record = engine.run(QUESTION, CONFIG)
    (made,) = record.rewrites
    assert (made.by, made.repeated, made.refused) == ("builtin", False, (QUESTION, QUESTION))
    assert made.rewritten_query == record.query != QUESTION
    shown = str(history_nodes(record, words_for("en")))
    assert (
        words_for("en")("Every query that it proposed had been tried already.") in shown
        and "one short sentence" not in shown
    )
    first, second = server.requests_to("chat")[-2:]
    assert second.options["temperature"] > first.options["temperature"]


def test_what_if_and_a_branch_know_the_same_rewrite(engine: Engine) -> None:
    parent = engine.run(QUESTION, CONFIG)
    found = engine.what_if(parent, CONFIG)
    assert (found.outcome, found.same_path) == (parent.outcome, True)
    child_id = engine.fork(parent, replace(CONFIG, min_confidence=0.45))
    engine.wait(child_id)
    assert engine.record(child_id).rewrites == parent.rewrites
