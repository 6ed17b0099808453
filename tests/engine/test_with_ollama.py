"""Whole runs with chat models, over Ollama's wire protocol and a real embedded store: SC-03, SC-07, SC-10, SC-13."""

from __future__ import annotations

import socket
from pathlib import Path

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from tests.support.ollama_stand_in import Hangs, OllamaStandIn, Reply, Slow

CHAT = RoleModel("ollama:qwen3:8b")
MODELS = RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT)
QUESTION = "How many rows does a truth table with five variables need?"


def test_a_run_on_chat_models_keeps_every_prompt_reply_and_token_count(engine: Engine) -> None:
    """SC-10"""
    record = engine.run(QUESTION, RunConfig(models=MODELS, max_rewrites=0))
    assert record.outcome in ("answered", "answered_forced")
    assert {call.role for call in record.model_calls} == {"grader", "generator"}
    assert record.calls == len(record.model_calls) == 1 + len(record.rounds[0].verdicts)
    for call in record.model_calls:
        assert QUESTION in call.messages[-1].content
        assert call.reply
        assert call.prompt_tokens
        assert call.reply_tokens
        assert not call.built_in
    assert record.manifest["grader"].startswith("ollama:qwen3:8b@")
    assert record.manifest["generator_prompt"]


def test_a_second_run_takes_its_verdicts_from_the_cache_and_shows_it(engine: Engine, ollama: OllamaStandIn) -> None:
    """SC-10: calls are counted as if uncached, cached ones apart."""
    config = RunConfig(models=MODELS, max_rewrites=0)
    first = engine.run(QUESTION, config)
    asked = len(ollama.requests_to("chat"))
    again = engine.run(QUESTION, config)
    assert len(ollama.requests_to("chat")) == asked + 1, "the generator alone is asked again"
    assert again.calls == first.calls
    assert again.cached_calls == len(again.rounds[0].verdicts)
    assert again.rounds[0].verdicts == first.rounds[0].verdicts


def test_a_model_that_is_not_pulled_is_answered_with_the_exact_command(engine: Engine) -> None:
    record = engine.run(QUESTION, RunConfig(models=RoleModels(grader=RoleModel("ollama:llama9:70b"))))
    assert record.error is not None
    assert record.error.params["command"] == "ollama pull llama9:70b"


def test_a_wrong_address_is_said_and_the_built_in_roles_still_answer(tmp_path: Path) -> None:
    with Engine.open(Settings.load(data_dir=tmp_path, ollama_url="http://127.0.0.1:9")) as engine:
        failed = engine.run(QUESTION, RunConfig(models=RoleModels(grader=CHAT)))
        assert failed.error is not None
        assert "http://127.0.0.1:9" in failed.error.fact
        assert engine.run(QUESTION).outcome == "answered"
        assert not engine.ollama().reachable


def test_an_answer_cut_at_its_limit_is_kept_and_marked(engine: Engine, ollama: OllamaStandIn) -> None:
    """SC-07: half an answer must not pass for a whole one."""
    ollama.script("chat", Reply("A table of five variables has 32 ro", done_reason="length"))
    record = engine.run(QUESTION, RunConfig(models=RoleModels(generator=CHAT), max_rewrites=0))
    assert record.answer == "A table of five variables has 32 ro"
    assert [item.code for item in record.warnings] == ["WB414", "WB418"]
    assert record.model_calls[-1].truncated


def test_a_model_that_only_repeats_itself_is_stopped(engine: Engine, ollama: OllamaStandIn) -> None:
    """Small models do until their limit: minutes, and a page of copies for an answer."""
    ollama.script("chat", Reply("A table has 32 rows [1]. " + "Five variables give that many rows [1]. " * 300))
    record = engine.run(QUESTION, RunConfig(models=RoleModels(generator=CHAT), max_rewrites=0))
    assert record.answer == "A table has 32 rows [1]. Five variables give that many rows [1]."
    assert next((item.code, "repeated itself" in item.fact) for item in record.warnings) == ("WB414", True)
    call = record.model_calls[-1]
    assert call.truncated and 4 <= call.reply.count("Five variables") < 10
    ollama.wait_for(lambda seen: seen.requests_to("chat")[-1].aborted)


def test_a_slow_model_that_keeps_talking_is_heard_out(ollama: OllamaStandIn, tmp_path: Path) -> None:
    """SC-13: the call's limit is the longest silence of a stream, the run's budget the whole."""
    ollama.script("chat", Slow(per_token_s=0.05, reply=Reply(" ".join(["row"] * 30) + " [1].")))
    settings = Settings.load(data_dir=tmp_path, ollama_url=ollama.url, call_timeout_s=0.8)
    with Engine.open(settings) as engine:
        record = engine.run(QUESTION, RunConfig(models=RoleModels(generator=CHAT), max_rewrites=0))
    assert record.error is None
    assert record.answer.count("row") == 30
    assert record.model_calls[-1].duration_ms > 800


def test_a_hanging_grader_is_cut_off_by_the_budget_and_its_connection_dropped(
    engine: Engine, ollama: OllamaStandIn
) -> None:
    """SC-13"""
    ollama.script("chat", *[Hangs()] * 8)
    asked = len(ollama.requests_to("chat"))
    record = engine.run(QUESTION, RunConfig(models=RoleModels(grader=CHAT), budget_s=1, ignore_cache=True))
    assert record.decisions[0].reason == "deadline"
    assert record.outcome == "abstained"
    ollama.wait_for(lambda seen: all(item.aborted for item in seen.requests_to("chat")[asked:]))


def test_a_collection_embedded_by_ollama_is_searched_with_the_same_model(ollama: OllamaStandIn, tmp_path: Path) -> None:
    """SC-02, SC-09"""
    from engine.knowledge.ingest import IngestItem

    settings = Settings.load(data_dir=tmp_path, ollama_url=ollama.url, embedding_model="ollama:nomic-embed-text")
    text = b"# Tea\n\n## Green\nGreen tea is brewed at 80 degrees for two minutes.\n"
    with Engine.open(settings) as engine:
        report = engine.ingest([IngestItem("tea.md", data=text)], "tea")
        assert report.passages == 1
        info = engine.describe("tea")
        assert (info.embedding_model, info.query_prefix) == ("ollama:nomic-embed-text", "search_query: ")
        record = engine.run("How hot is green tea brewed?", RunConfig(collection="tea", similarity_threshold=0))
        assert record.rounds[0].candidates[0].passage.id == "tea.md#1"
        assert record.manifest["embedding_model"] == "ollama:nomic-embed-text"


def test_a_page_is_not_held_up_by_an_address_that_never_answers(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Engine.open(Settings.load(data_dir=tmp_path, ollama_url=url)) as engine:
            # It takes connections and says nothing: a look takes seconds, and what is known so far comes at once.
            status = engine.ollama()
            assert (status.looking, status.reachable, status.fault) == (True, False, None)
            looked = engine.ollama(fresh=True)
            assert not looked.looking and looked.fault is not None
