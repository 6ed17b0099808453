"""Whole runs that search by words, or by words and vectors, in each of the four loops, over a real embedded store."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from engine.builtin.full_text import SEGMENTING
from engine.engine import Engine
from engine.model.config import RunConfig, SearchMethod, WorkflowName
from engine.model.values import Passage, RunRecord
from engine.records.codec import record_from_dict
from tests.support.dual_fakes import dual

LOOPS: tuple[WorkflowName, ...] = ("self_corrective", "quality_loop", "dual_loop", "answer_evaluation")
QUESTION = "What are the early signs of type 1 diabetes?"


def passages_of(record: RunRecord) -> list[Passage]:
    """What a search by words or by meaning found: a knowledge graph is searched along its entities."""
    candidates = [candidate for round_ in record.rounds for candidate in round_.candidates]
    return [candidate.passage for candidate in candidates if candidate.kind != "graph"]


@pytest.mark.parametrize("workflow", LOOPS)
@pytest.mark.parametrize("method", get_args(SearchMethod))
def test_every_loop_searches_as_its_configuration_says(
    engine: Engine, workflow: WorkflowName, method: SearchMethod
) -> None:
    """SC-02, SC-10: with both places of a passage in the record."""
    config = dual(memory=False) if workflow == "dual_loop" else RunConfig(workflow=workflow)
    record = engine.run(QUESTION, replace(config, search=method))
    assert record.outcome is not None and record.outcome.startswith("answered"), record.error
    assert record.config.search == record.manifest["search"] == method
    passages = passages_of(record)
    assert passages
    by_words = [item for item in passages if item.text_rank is not None]
    by_vector = [item for item in passages if item.vector_rank is not None]
    match method:
        case "vector":
            assert (by_words, by_vector) == ([], [])
        case "full_text":
            assert (by_words, by_vector) == (passages, [])
        case "fused":
            assert by_words and by_vector
            assert record.manifest["query_words"] == SEGMENTING
    assert record_from_dict(record.to_dict()) == record


def test_a_record_made_before_passages_had_places_can_still_be_read(engine: Engine) -> None:
    plain = engine.run(QUESTION, RunConfig(search="vector")).to_dict()
    for round_ in plain["rounds"]:
        for candidate in round_["candidates"]:
            for name in ("vector_rank", "text_rank", "text_score"):
                del candidate["passage"][name]
    del plain["config"]["search"]
    record = record_from_dict(plain)
    assert record.config.search == "vector"
    assert {item.text_rank for item in passages_of(record)} == {None}


def test_a_run_that_cannot_search_by_words_fails_at_its_start_and_says_what_to_do(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.retrieval.search.CollectionRetriever.checked", _refusing)
    record = engine.run(QUESTION, RunConfig(search="fused"))
    assert (record.outcome, record.rounds) == ("failed", ())
    assert record.error is not None and record.error.code == "WB217"
    assert "page Knowledge" in record.error.remedy


def _refusing(*_: object) -> None:
    from engine.errors import FullTextMissing

    raise FullTextMissing.of(collection="samples")
