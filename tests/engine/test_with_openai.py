"""Whole runs on a server that speaks OpenAI's protocol, as LM Studio, vLLM and llama.cpp do."""

from __future__ import annotations

import json
from collections.abc import Iterator

# Imported at collection: the first import takes seconds, which would count against the budget of a run.
import langchain_openai
import pytest

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.support.openai_stand_in import Hangs, OpenAIStandIn, Status
from tests.system.hosting import until

MODEL = RoleModel("openai:local-model")
ON_OPENAI = RunConfig(top_k=3, models=RoleModels(grader=MODEL, rewriter=MODEL, generator=MODEL))
assert callable(langchain_openai.ChatOpenAI)


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIStandIn]:
    with OpenAIStandIn(["local-model"], reply=obedient, key="sk-PLANTED-openai-key") as running:
        yield running


@pytest.fixture(scope="module")
def engine(server: OpenAIStandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings.load(
        data_dir=tmp_path_factory.mktemp("openai"),
        ollama_url="http://127.0.0.1:1",
        openai_url=server.url,
        openai_api_key="sk-PLANTED-openai-key",
        call_timeout_s=5.0,
    )
    with Engine.open(settings) as opened:
        opened.wait_until_ready()
        yield opened


def test_a_run_grades_and_answers_with_it_and_records_every_call(engine: Engine) -> None:
    """SC-10, QL-04"""
    record = engine.run("What is a truth table?", ON_OPENAI)
    assert record.outcome in ("answered", "answered_forced")
    assert record.answer and record.citations
    calls = record.model_calls
    assert {call.role for call in calls} >= {"grader", "generator"}
    assert all(call.model == "openai:local-model" and call.prompt_tokens and call.reply_tokens for call in calls)
    assert record.manifest["grader"] == "openai:local-model"
    assert "PLANTED" not in json.dumps(record.to_dict(), default=str)


def test_a_rewrite_is_asked_of_it_too(engine: Engine) -> None:
    record = engine.run("hydraulic zebra umbrella", ON_OPENAI)
    assert any(call.role == "rewriter" and not call.error for call in record.model_calls)
    assert record.outcome in ("abstained", "answered", "answered_forced")


def test_a_server_that_fails_ends_the_run_with_its_fault_and_no_key(engine: Engine, server: OpenAIStandIn) -> None:
    server.script(*[Status(500, "the key sk-x was fine, the model was not")] * 12)
    record = engine.run("How is insulin stored?", RunConfig(top_k=2, models=RoleModels(grader=MODEL)))
    server.forget_script()
    assert record.outcome == "failed"
    assert record.error is not None and record.error.code == "WB405"


def test_a_run_that_is_cancelled_leaves_the_server(engine: Engine, server: OpenAIStandIn) -> None:
    server.script(*[Hangs()] * 3)
    asked = len(server.requests)
    run_id = engine.start("What is an Euler circuit?", ON_OPENAI)
    until(lambda: len(server.requests), lambda now: now > asked)
    assert engine.cancel(run_id)
    assert engine.wait(run_id, 60)
    server.forget_script()
    assert engine.record(run_id).outcome == "cancelled"
