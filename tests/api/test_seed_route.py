"""``POST /api/self-corrective-rag``: SC-11."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.errors import ModelError, ModelInterrupted, ModelTimeout, StoreError, UnknownCollection, WorkbenchError
from engine.model.config import RunConfig
from engine.model.decide import gated
from engine.model.values import Round, RunId, RunRecord
from engine.running.seed_response import seed_response
from tests.api.served import ALL, calling, relevant
from tests.support.fakes import FakeGenerator, FakeGrader, FakeResources, FakeRetriever, FakeRewriter
from tests.support.gates import Gate
from tests.support.loop_fakes import passage

PATH = "/api/self-corrective-rag"
RESPONSE = {
    "checks",
    "success",
    "answer",
    "query",
    "rewriteHistory",
    "retrieval",
    "graderResult",
    "workflow",
    "runId",
    "link",
    "outcome",
    "reason",
    "answerNote",
    "support",
    "unsupportedSentences",
    "citations",
    "warnings",
}
DOCUMENT = {
    "id",
    "source",
    "text",
    "similarity",
    "rawScore",
    "round",
    "dropped",
    "relevant",
    "confidence",
    "reasoning",
}
RANGES = {
    "topK": (1, 20, "a whole number from 1 to 20"),
    "similarityThreshold": (0, 1, "a number from 0 to 1"),
    "maxRewriteAttempts": (0, 5, "a whole number from 0 to 5"),
    "gradePassThreshold": (0, 1, "a number from 0 to 1"),
}
SECRET = "sesame-8431"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with calling(tmp_path) as (client, _):
        yield client


def asked(folder: Path, resources: FakeResources, **body: Any) -> Any:
    with calling(folder, resources) as (client, _):
        return client.post(PATH, json={"query": "first", **body})


def problems(client: TestClient, body: Any) -> list[dict[str, str]]:
    """The problems of a refused body, which must not say anything that was sent."""
    text = body if isinstance(body, str) else json.dumps(body)
    response = client.post(PATH, content=text, headers={"content-type": "application/json"})
    assert response.status_code == 422, response.text
    plain = response.json()
    assert plain["success"] is False
    assert plain["code"] == "WB705"
    assert plain["fact"] and plain["remedy"]
    assert SECRET not in response.text
    assert "input" not in plain["errors"][0]
    errors: list[dict[str, str]] = plain["errors"]
    return errors


def test_an_answer_has_every_field_and_no_other(client: TestClient) -> None:
    response = client.post(PATH, json={"query": "first"})
    body = response.json()
    assert response.status_code == 200
    assert set(body) == RESPONSE
    assert set(body["query"]) == {"original", "final", "wasRewritten", "rewriteCount"}
    assert set(body["retrieval"]) == {"totalDocuments", "filteredDocuments", "documents"}
    assert set(body["graderResult"]) == {"passRate", "passCount", "totalCount", "shouldRewrite", "reasoning"}
    assert set(body["workflow"]) == {"nodeExecutions", "decisionPath", "totalDuration"}
    assert all(set(item) == DOCUMENT for item in body["retrieval"]["documents"])
    for item in body["workflow"]["nodeExecutions"]:
        assert set(item) == {"node", "round", "startMs", "durationMs", "modelCalls"}


def test_a_question_that_passes_at_once_is_reported_whole(client: TestClient) -> None:
    body = client.post(PATH, json={"query": "  first "}).json()
    assert body["success"] is True
    assert (body["outcome"], body["reason"]) == ("answered", "passed")
    assert body["answer"] == "It is so [1][2][3][4][5]."
    assert body["query"] == {"original": "first", "final": "first", "wasRewritten": False, "rewriteCount": 0}
    assert body["rewriteHistory"] == []
    assert body["retrieval"]["totalDocuments"] == body["retrieval"]["filteredDocuments"] == 5
    assert body["retrieval"]["documents"][0] == {
        "id": "p1",
        "source": "p1.md",
        "text": "The text of p1.",
        "similarity": 0.9,
        "rawScore": 0.9,
        "round": 0,
        "dropped": False,
        "relevant": True,
        "confidence": 0.9,
        "reasoning": "about p1",
    }
    assert body["graderResult"] == {
        "passRate": 1.0,
        "passCount": 5,
        "totalCount": 5,
        "shouldRewrite": False,
        "reasoning": "pass rate 1.00 >= 0.60",
    }
    assert [item["node"] for item in body["workflow"]["nodeExecutions"]] == ["retrieve", "grade", "generate"]
    assert [item["modelCalls"] for item in body["workflow"]["nodeExecutions"]] == [0, 5, 1]
    assert body["workflow"]["decisionPath"] == ["round 0: pass rate 1.00 >= 0.60 → generate (passed)"]
    assert body["workflow"]["totalDuration"] > 0
    assert body["citations"][0] == {"marker": 1, "id": "p1", "source": "p1.md", "section": ""}
    assert [item["code"] for item in body["warnings"]] == ["WB121"], "one right passage cannot meet its gate"


def test_omitted_fields_take_the_defaults(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, engine):
        config = engine.record(client.post(PATH, json={"query": "first"}).json()["runId"]).config
    assert (config.top_k, config.similarity_threshold, config.max_rewrites) == (5, 0.3, 3)
    assert (config.grade_pass_threshold, config.collection, config.milvus_address) == (0.6, "samples", "")


@pytest.mark.parametrize("end", [0, 1])
def test_both_ends_of_every_range_are_accepted(tmp_path: Path, end: int) -> None:
    body: dict[str, Any] = {name: limits[end] for name, limits in RANGES.items()}
    with calling(tmp_path) as (client, engine):
        response = client.post(PATH, json={"query": "first", **body})
        config = engine.record(response.json()["runId"]).config
    assert response.status_code == 200
    assert config.top_k == body["topK"]
    assert config.similarity_threshold == body["similarityThreshold"]
    assert config.max_rewrites == body["maxRewriteAttempts"]
    assert config.grade_pass_threshold == body["gradePassThreshold"]


@pytest.mark.parametrize("name", sorted(RANGES))
@pytest.mark.parametrize(
    "value", ["-1", "21", "1.0001", "true", "null", f'"{SECRET}"', "NaN", "Infinity", "1e999", "[1]", "{}", "9" * 4000]
)
def test_whatever_is_no_number_of_the_range_is_refused_with_field_and_range(
    client: TestClient, name: str, value: str
) -> None:
    errors = problems(client, f'{{"query": "first", "{name}": {value}}}')
    assert errors[0] == {"field": name, "problem": f"must be {RANGES[name][2]}"}
    assert "9" * 20 not in str(errors)


@pytest.mark.parametrize(
    ("body", "field", "problem"),
    [
        ({}, "query", "required"),
        ({"query": 5}, "query", "wrong type"),
        ({"query": ""}, "query", "must not be blank"),
        ({"query": "first", "topk": SECRET}, "topk", "unknown field"),
        ({"query": "first", f"<b>{SECRET}</b>": 1}, "body", "unknown field"),
        ({"query": "first", "milvusConfig": SECRET}, "milvusConfig", "wrong type"),
        ({"query": "first", "milvusConfig": {"port": SECRET}}, "milvusConfig.port", "unknown field"),
        ({"query": "first", "milvusConfig": {"address": 7}}, "milvusConfig.address", "wrong type"),
        (
            {"query": "first", "milvusConfig": {"address": SECRET * 30}},
            "milvusConfig.address",
            "must have at most 200 characters",
        ),
        (
            {"query": "first", "milvusConfig": {"collectionName": ""}},
            "milvusConfig.collectionName",
            "must not be blank",
        ),
        (
            {"query": "first", "milvusConfig": {"collectionName": SECRET * 10}},
            "milvusConfig.collectionName",
            "must have at most 60 characters",
        ),
        ([SECRET], "body", "not an object"),
        (f'{{"query": "{SECRET}"', "body", "not valid JSON"),
        ("", "body", "not an object"),
    ],
)
def test_a_body_of_another_form_is_refused_without_an_echo(
    client: TestClient, body: Any, field: str, problem: str
) -> None:
    assert {"field": field, "problem": problem} in problems(client, body)


@pytest.mark.parametrize(("query", "fact"), [(" \n\t", "empty"), ("x" * 2001, "2001 characters; the limit is 2000")])
def test_a_blank_or_over_long_question_is_refused_by_its_field(client: TestClient, query: str, fact: str) -> None:
    response = client.post(PATH, json={"query": query})
    assert response.status_code == 422
    assert response.json()["code"] == "WB101"
    assert response.json()["field"] == "query"
    assert fact in response.json()["fact"]
    assert "xxx" not in response.text


@pytest.mark.parametrize("address", ["127.0.0.1:19530", "http://169.254.169.254", " "])
def test_an_address_that_the_settings_do_not_list_is_refused(tmp_path: Path, address: str) -> None:
    with calling(tmp_path, milvus_addresses=("http://milvus:19530",)) as (client, engine):
        response = client.post(PATH, json={"query": "first", "milvusConfig": {"address": address}})
        assert engine.runs() == []
    assert response.status_code == 403
    assert response.json()["code"] == "WB704"
    assert response.json()["field"] == "milvusConfig.address"
    assert address.strip() == "" or address not in response.text


@pytest.mark.parametrize("listed", ["http://milvus:19530", "milvus:19530", "http://Milvus/", "root:secret@milvus"])
@pytest.mark.parametrize("address", ["milvus:19530", "http://MILVUS:19530/", "milvus"])
def test_a_listed_address_is_accepted_in_any_spelling_and_used_in_that_of_the_settings(
    tmp_path: Path, address: str, listed: str
) -> None:
    """SC-11: on either side without scheme or usual port, as the seed document writes it."""
    with calling(tmp_path, milvus_addresses=(listed,)) as (client, engine):
        response = client.post(PATH, json={"query": "first", "milvusConfig": {"address": address}})
        assert response.status_code == 200
        assert engine.record(response.json()["runId"]).config.milvus_address == engine.settings.known_addresses[0]


def test_a_rewritten_question_is_reported_with_its_history(tmp_path: Path) -> None:
    retriever = FakeRetriever(hits={"second": {"p5": 0.9, "x1": 0.8, "x2": 0.1}})
    grader = FakeGrader(relevant=frozenset({"p5", "x1"}))
    body = asked(tmp_path, FakeResources(retriever=retriever, grader=grader), topK=4).json()
    assert body["query"] == {"original": "first", "final": "second", "wasRewritten": True, "rewriteCount": 1}
    assert body["rewriteHistory"] == [
        {
            "round": 0,
            "query": "first",
            "rewrittenQuery": "second",
            "rewriteReason": "other words",
            "keywords": ["word"],
        }
    ]
    documents = {item["id"]: item for item in body["retrieval"]["documents"]}
    # p5 was beyond top_k in round 0, so round 1 was the first that saw it; x2 is below the threshold.
    assert {name: item["round"] for name, item in documents.items()} == {
        "p1": 0,
        "p2": 0,
        "p3": 0,
        "p4": 0,
        "p5": 1,
        "x1": 1,
        "x2": 1,
    }
    assert body["retrieval"]["totalDocuments"] == len(documents)
    assert body["retrieval"]["filteredDocuments"] == 2
    assert sorted(name for name, item in documents.items() if not item["dropped"]) == ["p5", "x1"]
    assert [documents[name]["relevant"] for name in ("p1", "x1", "x2")] == [False, True, None]
    assert documents["x2"]["confidence"] is documents["x2"]["reasoning"] is None
    assert body["graderResult"]["totalCount"] == 2
    assert len(body["workflow"]["decisionPath"]) == 2


def test_the_last_rounds_gate_decides_should_rewrite_whatever_the_budget(tmp_path: Path) -> None:
    body = asked(tmp_path, relevant(grader=FakeGrader(relevant=frozenset({"p1"}))), maxRewriteAttempts=0).json()
    assert body["graderResult"]["shouldRewrite"] is True
    assert body["graderResult"]["passRate"] == 0.2
    assert (body["success"], body["outcome"], body["reason"]) == (True, "answered_forced", "max_rewrites")


def test_an_abstention_is_a_success_without_documents_given(tmp_path: Path) -> None:
    response = asked(tmp_path, FakeResources(), maxRewriteAttempts=0)
    body = response.json()
    assert (response.status_code, body["success"], body["outcome"]) == (200, True, "abstained")
    assert body["answer"]
    assert body["retrieval"]["filteredDocuments"] == 0
    assert all(item["dropped"] for item in body["retrieval"]["documents"])


def test_a_verdict_read_at_the_second_asking_is_the_one_reported(tmp_path: Path) -> None:
    class SecondTime(FakeGrader):
        async def grade(self, *arguments: Any) -> Any:
            self.unreadable = frozenset({"p1"}) if not self.asked else frozenset()
            return await super().grade(*arguments)

    body = asked(tmp_path, relevant(grader=SecondTime(relevant=frozenset({"p1"}))), maxRewriteAttempts=1).json()
    assert body["retrieval"]["documents"][0]["relevant"] is True


def test_a_rewriter_that_failed_rewrote_nothing_and_is_a_warning(tmp_path: Path) -> None:
    rewriter = FakeRewriter(error=ModelError.ollama_unreachable(address="http://127.0.0.1:1"))
    response = asked(tmp_path, relevant(grader=FakeGrader(relevant=frozenset({"p1"})), rewriter=rewriter))
    body = response.json()
    assert (response.status_code, body["reason"]) == (200, "rewriter_failed")
    assert body["query"]["wasRewritten"] is False
    assert body["rewriteHistory"] == []
    assert body["warnings"][0]["code"] == "WB401"
    assert set(body["warnings"][0]) == {"code", "fact", "remedy"}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownCollection(name="nowhere"), 404),
        (StoreError.embedding_mismatch(collection="a", built_with="b", offered="c"), 409),
        (StoreError.unreachable(address="http://milvus:1"), 503),
        (StoreError.locked(path="knowledge.db"), 503),
        (ModelError.ollama_unreachable(address="http://127.0.0.1:1"), 503),
        (ModelTimeout(model="m", seconds=60), 504),
        (ModelError.not_pulled(model="m", command="ollama pull m"), 502),
        (ModelError.restored("It broke.", "Mend it."), 502),
        (RuntimeError(SECRET), 502),
    ],
)
def test_a_run_in_which_nothing_was_graded_is_a_fault_of_the_server_with_fact_and_remedy(
    tmp_path: Path, error: Exception, status: int
) -> None:
    with calling(tmp_path, FakeResources(error=error)) as (client, engine):
        response = client.post(PATH, json={"query": "first"})
        assert engine.record(response.json()["runId"]).outcome == "failed"
    body = response.json()
    assert response.status_code == status
    assert body["success"] is False
    assert set(body) == {"success", "code", "fact", "remedy", "runId"}
    assert body["code"] == (error.code if isinstance(error, WorkbenchError) else "WB000")
    assert SECRET not in response.text


def test_verdicts_none_of_which_could_be_read_are_a_fault_of_the_server(tmp_path: Path) -> None:
    response = asked(tmp_path, relevant(grader=FakeGrader(unreadable=ALL)))
    assert (response.status_code, response.json()["code"]) == (502, "WB409")


@pytest.mark.parametrize(("after", "status"), [(0, 504), (2, 200)])
def test_a_generation_that_broke_off_is_a_fault_only_where_it_had_produced_nothing(
    tmp_path: Path, after: int, status: int
) -> None:
    generator = FakeGenerator(error=ModelTimeout(model="m", seconds=60), error_after=after)
    response = asked(tmp_path, relevant(generator=generator))
    body = response.json()
    assert response.status_code == status
    assert body["success"] is False
    if status == 200:
        assert (body["outcome"], body["answer"], body["error"]["code"]) == ("failed", "It is", "WB403")
        assert body["graderResult"]["passCount"] == 5


def test_a_round_graded_before_a_model_died_mid_reply_is_reported(tmp_path: Path) -> None:
    generator = FakeGenerator(error=ModelInterrupted.mid_reply(model="m"), error_after=1)
    body = asked(tmp_path, relevant(generator=generator)).json()
    assert (body["reason"], body["retrieval"]["totalDocuments"]) == ("WB404", 5)


def test_a_run_that_another_person_stopped_is_reported_with_its_outcome(tmp_path: Path) -> None:
    gate = Gate()

    class Stopping(FakeRetriever):
        async def search(self, query: str, limit: int) -> Any:
            engine.cancel(engine.runs()[0].id)
            return await super().search(query, limit)

    with calling(tmp_path, relevant(retriever=Stopping(gate=gate))) as (client, engine):
        response = client.post(PATH, json={"query": "first"})
    body = response.json()
    assert (response.status_code, body["success"], body["outcome"]) == (200, False, "cancelled")
    assert body["graderResult"] is None
    assert body["retrieval"] == {"totalDocuments": 0, "filteredDocuments": 0, "documents": []}


def test_more_runs_than_the_limit_are_asked_to_come_later(tmp_path: Path) -> None:
    gate = Gate()
    resources = relevant(retriever=FakeRetriever(gate=gate))
    with calling(tmp_path, resources, max_concurrent_runs=1) as (client, engine):
        engine.start("first")
        response = client.post(PATH, json={"query": "second"})
    assert (response.status_code, response.json()["code"]) == (503, "WB503")


def test_text_that_has_no_utf8_form_does_not_break_the_answer(tmp_path: Path) -> None:
    response = asked(tmp_path, relevant(generator=FakeGenerator(text="half \ud83d pair [1]")))
    assert (response.status_code, response.json()["answer"]) == (200, "half ? pair [1]")


def test_a_search_by_words_adds_both_ranks_to_each_document() -> None:
    """SC-11: fields may be added; those of a search by meaning alone stay as they were."""
    found = replace(passage("p1", 0.5), text_rank=2, text_score=7.25)
    config = RunConfig(search="fused")
    record = RunRecord(RunId("r"), "q", config, "", rounds=(Round(0, "q", gated((found,), config)),))
    document = seed_response(record)["retrieval"]["documents"][0]
    assert (document["vectorRank"], document["textRank"], document["textScore"]) == (None, 2, 7.25)
    assert set(document) == DOCUMENT | {"vectorRank", "textRank", "textScore"}
