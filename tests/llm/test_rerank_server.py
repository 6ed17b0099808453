"""A grader behind a rerank server: every known form of answer, and everything that can be wrong with one: SC-03."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.engine import Engine
from engine.errors import ModelError, ModelRefused, ModelTimeout
from engine.llm.rerank_server import ways
from engine.llm.scorers import scorer_of
from engine.llm.scoring import ScoringGrader, ScoringReranker
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.grader_fit import sigmoid
from engine.model.values import Passage, PassageId, Verdict
from engine.settings import Settings
from tests.contracts.scoring_models import tiny_grader, tiny_scores
from tests.contracts.test_grader import QUESTION, RIGHT, WRONG
from tests.support.errors import raises
from tests.support.listening import Listening
from tests.support.rerank_stand_in import KINDS, Kind, RerankStandIn

MODEL = RoleModel("rerank:tiny")
PASSAGES = [
    Passage(PassageId("near"), "a.md", RIGHT, 0.5, 0.5),
    Passage(PassageId("far"), "b.md", WRONG, 0.1, 0.5),
]


def settings(url: str, **more: Any) -> Settings:
    return Settings.load(rerank_url=url, data_dir=Path("unused"), **more)


def grade(with_settings: Settings, trace: Listening | None = None) -> list[Verdict]:
    grader = ScoringGrader(scorer_of(MODEL, with_settings))
    return asyncio.run(grader.grade(QUESTION, PASSAGES, trace or Listening()))


@pytest.mark.parametrize("kind", KINDS)
def test_every_server_gives_the_scores_of_the_model_that_it_runs(kind: Kind) -> None:
    scale = "logit" if kind == "llama.cpp" else "share"
    with RerankStandIn(kind, tiny_scores) as server:
        found = grade(settings(server.url, rerank_scores=scale))
    logits = tiny_scores(QUESTION, [RIGHT, WRONG])
    own = asyncio.run(tiny_grader().grade(QUESTION, PASSAGES))
    assert [item.p_relevant for item in found] == pytest.approx([item.p_relevant for item in own])
    raw = list(logits) if kind == "llama.cpp" else [sigmoid(logit) for logit in logits]
    assert [item.raw for item in found] == pytest.approx(raw)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_server_takes_is_found_at_the_first_call_and_kept(kind: Kind) -> None:
    with RerankStandIn(kind, tiny_scores) as server:
        grader = ScoringGrader(scorer_of(MODEL, settings(server.url, rerank_scores="logit", grader_concurrency=1)))
        asyncio.run(grader.grade(QUESTION, PASSAGES))
    answered = {"llama.cpp": "/v1/rerank", "infinity": "/rerank", "tei": "/rerank"}[kind]
    path, body = server.requests[-1]
    assert path == answered and body["model"] == "tiny" and body["query"] == QUESTION
    tries = {"llama.cpp": 1, "infinity": 2, "tei": 3}[kind]
    assert len(server.requests) == tries + 1, "the second passage is asked for at once"


def test_an_address_may_name_the_path_itself() -> None:
    assert ways("http://h:1/v1") == (("http://h:1/v1/rerank", "documents"),)
    assert [address for address, _ in ways("http://h:1/api/rerank")] == ["http://h:1/api/rerank"] * 2
    assert ways("http://h:1")[0] == ("http://h:1/v1/rerank", "documents")


def test_each_passage_is_a_call_of_its_own_with_its_raw_score() -> None:
    trace = Listening()
    with RerankStandIn("llama.cpp", tiny_scores) as server:
        verdicts = grade(settings(server.url, rerank_scores="logit"), trace)
    assert all(len(body["documents"]) == 1 for _, body in server.requests)
    assert sorted(str(call.passage_id) for call in trace.calls) == ["far", "near"]
    assert not any(call.built_in for call in trace.calls)
    near = next(call for call in trace.calls if call.passage_id == "near")
    assert near.parsed == {"score": verdicts[0].raw, "probability": round(verdicts[0].p_relevant, 4)}


def test_a_logit_where_shares_are_expected_is_refused_with_the_setting_that_helps() -> None:
    with RerankStandIn("llama.cpp", tiny_scores) as server, raises(ModelError.rerank_score_out_of_range) as raised:
        grade(settings(server.url))
    assert "WORKBENCH_RERANK_SCORES" in raised.value.remedy


def test_without_an_address_there_is_a_remedy() -> None:
    with raises(ModelError.rerank_server_unset, match="WORKBENCH_RERANK_URL"):
        grade(settings(""))


def test_a_server_that_is_away_is_named() -> None:
    with RerankStandIn("tei", tiny_scores) as server:
        pass
    with raises(ModelError.ollama_unreachable, match=r"The rerank server at http://127\.0\.0\.1"):
        grade(settings(server.url))


def test_a_key_is_sent_and_one_that_is_refused_names_its_setting() -> None:
    with RerankStandIn("tei", tiny_scores, key="let-me-in") as server:
        assert len(grade(settings(server.url, rerank_api_key="let-me-in"))) == 2
        with raises(ModelError.key_refused) as raised:
            grade(settings(server.url))
    assert "WORKBENCH_RERANK_API_KEY" in raised.value.remedy


@pytest.mark.parametrize(
    "answer",
    [
        "no json",
        "{}",
        '{"results": []}',
        '{"results": [{"index": 0, "relevance_score": "high"}]}',
        '{"results": [{"index": 0, "relevance_score": true}]}',
        '{"results": [{"index": 1, "relevance_score": 0.5}]}',
        '{"results": [{"index": [], "relevance_score": 0.5}]}',
        '[{"index": 0, "score": NaN}]',
        "[null]",
        json.dumps([{"index": 0, "score": 0.5}, {"index": 1, "score": 0.5}]),
    ],
)
def test_an_answer_that_is_no_score_is_no_verdict(answer: str) -> None:
    trace = Listening()
    with RerankStandIn("tei", tiny_scores) as server:
        server.reply = (200, answer.encode())
        with raises(ModelError.rerank_without_score):
            grade(settings(server.url), trace)
    assert trace.verdicts == {} and trace.calls[0].error.startswith("WB346")


@pytest.mark.parametrize(
    ("status", "error"), [(500, ModelRefused), (404, ModelError.not_served), (422, ModelRefused), (413, ModelRefused)]
)
def test_a_refusal_is_said_as_the_server_means_it(status: int, error: type[ModelError]) -> None:
    with RerankStandIn("infinity", tiny_scores) as server:
        server.reply = (status, b'{"error": "no"}')
        with raises(error):
            grade(settings(server.url))


def rerank(url: str) -> list[tuple[str, bool | None]]:
    texts = [Passage(PassageId(f"p{n}"), "a.md", f"text {n}", 0.5, 0.5) for n in range(4)]
    ranked = asyncio.run(ScoringReranker(scorer_of(MODEL, settings(url))).rerank(QUESTION, texts))
    return [(item.id, verdict.relevant) for item, verdict in ranked]


def _shares(*scores: tuple[int, Any]) -> tuple[int, bytes]:
    return 200, json.dumps({"results": [{"index": n, "relevance_score": score} for n, score in scores]}).encode()


def test_texts_that_a_server_leaves_out_come_last() -> None:
    with RerankStandIn("llama.cpp", tiny_scores) as server:
        server.reply = _shares((2, 0.9), (0, 0.2), (1, None))
        assert rerank(server.url) == [("p2", True), ("p0", False), ("p1", None), ("p3", None)]


def test_a_server_is_sent_how_many_scores_are_wanted_unless_it_refuses_the_field() -> None:
    everything = _shares(*((n, n / 10) for n in range(4)))
    with RerankStandIn("llama.cpp", tiny_scores) as server:
        server.answers = lambda body: everything if body.get("top_n") == 4 else _shares((3, 0.3))
        assert [name for name, _ in rerank(server.url)] == ["p3", "p2", "p1", "p0"]
    with RerankStandIn("llama.cpp", tiny_scores) as server:
        server.answers = lambda body: (422, b'{"detail": "top_n: extra"}') if "top_n" in body else everything
        assert [name for name, _ in rerank(server.url)] == ["p3", "p2", "p1", "p0"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"code": 400, "message": "input is too large", "type": "x"}}', "input is too large"),
        (b'{"detail": [{"loc": ["body", "query"], "msg": "too long"}]}', '"msg": "too long"'),
        (b'{"object": "error", "message": "\xe6\xa8\xa1\xe5\x9e\x8b"}', "模型"),
        (b"no such\nmodel", "no such model"),
        (b"", "HTTPStatusError"),
    ],
)
def test_the_reason_of_a_server_is_shown(body: bytes, said: str) -> None:
    with RerankStandIn("llama.cpp", tiny_scores) as server:
        server.reply = (400, body)
        with pytest.raises(ModelRefused) as refused:
            grade(settings(server.url))
    assert said in refused.value.fact


def test_when_the_time_of_the_run_is_over_nobody_waits_for_the_server() -> None:
    class Late(Listening):
        def time_left_s(self) -> float:
            return 0.0

    trace = Late()
    with RerankStandIn("tei", tiny_scores) as server, pytest.raises(TimeoutError):
        grade(settings(server.url), trace)
    assert trace.calls[0].error == "interrupted"


def test_a_silent_server_is_given_up_after_the_limit_of_a_call() -> None:
    def silent(question: str, texts: Any) -> list[float]:
        released.wait(60)
        return [0.0]

    import threading

    released = threading.Event()
    with RerankStandIn("llama.cpp", silent) as server:
        try:
            with pytest.raises(ModelTimeout):
                grade(settings(server.url, call_timeout_s=0.2))
        finally:
            released.set()


def test_a_verdict_says_that_it_is_not_calibrated() -> None:
    (verdict, _) = asyncio.run(tiny_grader().grade(QUESTION, PASSAGES))
    assert verdict.fit == "" and verdict.kind == "score"
    assert verdict.p_relevant == pytest.approx(sigmoid(verdict.raw or 0.0))
    assert replace(verdict, raw=None) != verdict


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_judged_by_a_server_says_so_and_replays_without_it(kind: Kind, tmp_path: Path) -> None:
    """SC-10: the record names address and scale; a what-if needs no server, and another grader needs calls."""
    scale = "logit" if kind == "llama.cpp" else "share"
    config = RunConfig(max_rewrites=0, models=RoleModels(grader=MODEL), grade_probe=True)
    with RerankStandIn(kind, tiny_scores) as server:
        own = Settings.load(
            data_dir=tmp_path, ollama_url="http://127.0.0.1:1", rerank_url=server.url, rerank_scores=scale
        )
        with Engine.open(own) as engine:
            engine.wait_until_ready()
            record = engine.run("Where is insulin injected?", config)
            server.close()
            judged = list(record.rounds[0].verdicts.values())
            assert judged and all(item.raw is not None and item.grader == "rerank:tiny" for item in judged)
            assert (record.manifest["rerank_url"], record.manifest["rerank_scores"]) == (server.url, scale)
            assert "grader_prompt" not in record.manifest
            assert sum(not call.built_in for call in record.model_calls) == len(judged)
            assert engine.what_if(record, config).same_path
            assert engine.what_if(record, replace(config, top_k=3)).path_known
            assert not engine.what_if(record, replace(config, models=RoleModels())).path_known
            assert engine.worst_case_calls(config) == config.fetch_k
            trial = engine.host.try_model("rerank:tiny")
            assert trial.fault is not None and trial.fault.code == "WB401"


def test_a_model_that_gives_scores_can_be_tried_on_the_page(tmp_path: Path) -> None:
    with RerankStandIn("infinity", tiny_scores) as server:
        own = Settings.load(data_dir=tmp_path, ollama_url="http://127.0.0.1:1", rerank_url=server.url)
        with Engine.open(own) as engine:
            trial = engine.host.try_model("rerank:tiny")
    assert trial.fault is None and 0 < float(trial.reply) < 1
