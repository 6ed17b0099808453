"""A query that is searched in the language of the collection too: what is recorded of it, and what a what-if knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.engine.forking import forked, routes
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest

QUESTION = "没开封的胰岛素应该怎样保存？"
TRANSLATED = "How should unopened insulin be stored?"
USUAL = RunConfig(models=RoleModels(rewriter=RoleModel("ollama:qwen3:8b")), max_rewrites=1, grade_probe=True)
BOTH = replace(USUAL, translate=True)


def reply(request: RecordedRequest) -> str:
    fields = request.schema["properties"] if request.schema else {}
    return json.dumps({"query": TRANSLATED}) if set(fields) == {"query"} else obedient(request)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("translate")
    with (
        OllamaStandIn(["qwen3:8b"], reply=reply) as ollama,
        Engine.open(Settings.load(data_dir=folder, ollama_url=ollama.url)) as opened,
    ):
        opened.wait_until_ready()
        yield opened


def test_both_queries_are_searched_and_each_passage_says_which_found_it(engine: Engine) -> None:
    record, plain = engine.run(QUESTION, BOTH), engine.run(QUESTION, USUAL)
    first = record.rounds[0]
    assert first.query == QUESTION and first.translation is not None
    assert (first.translation.language, first.translation.query) == ("en", TRANSLATED)
    assert sum(first.translation.counted.values()) >= 50 and set(first.translation.counted) >= {"zh", "en"}
    found = [item.found_by for item in first.candidates]
    assert all(found) and {kind for item in found for kind in item} == {"asked", "translated"}
    alone = {item.passage.id: item.rank for item in plain.rounds[0].candidates}
    ranks = {item.passage.id: item.found_by["asked"] for item in first.candidates if "asked" in item.found_by}
    assert ranks and all(alone[name] == rank for name, rank in ranks.items())
    for item in first.candidates:
        # SC-09: each figure by the query that it belongs to.
        floor = first.floor_of(item)
        assert item.passage.raw_score is not None
        expected = min(1.0, max(0.0, (item.passage.raw_score - floor) / (1 - floor)))
        assert item.passage.similarity == pytest.approx(expected, abs=1e-6)
    (call,) = [item for item in record.model_calls if item.role == "rewriter" and item.node == "retrieve"]
    assert call.round == 0 and TRANSLATED in call.reply
    assert record.manifest["translate_prompt"]
    assert engine.record(record.id).rounds == record.rounds, "as the file has it"
    assert engine.worst_case_calls(BOTH) == engine.worst_case_calls(USUAL) + 2


def test_a_verdict_is_about_the_question_as_asked(engine: Engine) -> None:
    record, plain = engine.run(QUESTION, BOTH), engine.run(QUESTION, USUAL)
    same = record.rounds[0].verdicts.keys() & plain.rounds[0].verdicts.keys()
    assert same
    assert all(record.rounds[0].verdicts[name] == plain.rounds[0].verdicts[name] for name in same)


@pytest.mark.parametrize("changed", [{"min_confidence": 0.99}, {"top_k": 2}, {"similarity_threshold": 0.6}])
def test_a_what_if_over_thresholds_is_the_run_that_it_foretells(engine: Engine, changed: dict[str, float]) -> None:
    """SC-04."""
    record, wanted = engine.run(QUESTION, BOTH), replace(BOTH, **changed)  # type: ignore[arg-type]
    assert engine.what_if(record, BOTH).same_path
    foretold, real = engine.what_if(record, wanted), engine.run(QUESTION, wanted)
    routed = [(item.route, item.reason) for item in foretold.decisions]
    assert routed == routes(real)[: len(routed)] and routed
    assert not foretold.path_known or len(routed) == len(real.decisions)


def test_another_search_is_unknown_and_a_branch_makes_it(engine: Engine) -> None:
    record, plain = engine.run(QUESTION, BOTH), engine.run(QUESTION, USUAL)
    for former, wanted in ((plain, BOTH), (record, USUAL), (record, replace(BOTH, probe_k=40))):
        foretold = engine.what_if(former, wanted)
        assert not foretold.path_known and foretold.gap == "retrieval"
    made = forked(engine, plain, BOTH)
    assert made.rounds[0].candidates == record.rounds[0].candidates
    again = forked(engine, record, BOTH)
    asked = [item for item in again.model_calls if item.role == "rewriter" and item.node == "retrieve"]
    assert again.rounds[0] == record.rounds[0] and asked and all(item.cached for item in asked)


def test_without_a_chat_model_it_says_that_nothing_was_translated(engine: Engine) -> None:
    built_in = replace(BOTH, models=RoleModels())
    record, plain = engine.run(QUESTION, built_in), engine.run(QUESTION, replace(built_in, translate=False))
    assert record.rounds == plain.rounds
    assert [item.code for item in record.warnings] == ["WB123"]
    assert engine.what_if(plain, built_in).same_path
