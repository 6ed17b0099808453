"""Runs of the other loops over HTTP, by name and with their options: QL-02, QL-05, AE-01, SC-11."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from engine.records.codec import record_from_dict
from tests.api.served import FakeCollections, calling
from tests.support.answer_fakes import FAILED, AnswerResources, FakeEvaluator
from tests.support.fakes import FakeResources
from tests.support.loop_fakes import FakeKinds, LoopResources, ScriptedReranker, a_list


def started(client: TestClient, workflow: str, **config: Any) -> dict[str, Any]:
    response = client.post("/api/runs", json={"question": "first", "workflow": workflow, "config": config})
    body: dict[str, Any] = response.json()
    assert response.status_code == 200, body
    return body


def test_the_quality_loop_is_called_by_its_name_with_its_own_defaults_and_options(tmp_path: Path) -> None:
    """QL-01, QL-02, QL-05"""
    fakes = LoopResources(reranker=ScriptedReranker(otherwise=0.8), knowledge=FakeCollections())
    with calling(tmp_path, cast(FakeResources, fakes)) as (client, engine):
        body = started(client, "quality_loop", options={"grade_on": "top3", "medium_score": 0.6})
        assert (body["workflow"], body["outcome"], body["reason"]) == ("quality_loop", "answered", "quality_met")
        assert [body["config"][name] for name in ("top_k", "max_rewrites", "budget_s")] == [10, 2, 10]
        assert body["decisions"][0]["inequality"] == "relevance of the best three 0.80 >= 0.60"
        assert body["rounds"][0]["quality"]["top3_grade"] == "high"
        assert record_from_dict(client.get(f"/api/runs/{body['id']}").json()) == engine.record(body["id"])


def test_a_bar_out_of_reach_is_warned_of_before_the_run_and_to_who_does_not_wait(tmp_path: Path) -> None:
    """QL-08"""
    fakes = LoopResources(
        kinds=FakeKinds({"vector": a_list("vector")}), reranker=ScriptedReranker(), knowledge=FakeCollections()
    )
    asked = {"question": "first", "workflow": "quality_loop"}
    with calling(tmp_path, cast(FakeResources, fakes)) as (client, engine):
        (warning,) = client.post("/api/runs/check", json=asked).json()["warnings"]
        assert (warning["code"], engine.runs()) == ("WB602", [])
        assert "at most 0.42 here, below the 0.50" in warning["fact"]
        body = client.post("/api/runs", json={**asked, "wait": False}).json()
        assert body["warnings"] == [warning]
        reachable = {**asked, "config": {"options": {"medium_score": 0.4}}}
        assert client.post("/api/runs/check", json=reachable).json() == {"warnings": []}
        assert client.post("/api/runs/check", json={"question": "first"}).json() == {"warnings": []}
        elsewhere = {**asked, "config": {"milvus_address": "http://10.0.0.1:19530"}}
        assert client.post("/api/runs/check", json=elsewhere).status_code == 403


def test_a_model_that_would_judge_its_own_answers_is_reported_before_the_run(tmp_path: Path) -> None:
    """AE-05"""
    fakes = AnswerResources(evaluator=FakeEvaluator([]), knowledge=FakeCollections())
    models = {"generator": "ollama:m", "evaluator": "ollama:m"}
    asked = {"question": "first", "workflow": "answer_evaluation", "config": {"models": models}}
    with calling(tmp_path, fakes) as (client, engine):
        (warning,) = client.post("/api/runs/check", json=asked).json()["warnings"]
        assert (warning["code"], warning["fact"]) == ("WB420", "ollama:m judges answers that it wrote itself.")
        assert engine.runs() == []


def test_the_answer_evaluation_loop_is_called_by_its_name_with_its_limit(tmp_path: Path) -> None:
    """AE-01, AE-03"""
    fakes = AnswerResources(evaluator=FakeEvaluator([FAILED] * 9), knowledge=FakeCollections())
    with calling(tmp_path, fakes) as (client, engine):
        body = started(client, "answer_evaluation", options={"gener_epoch": 2})
        assert (body["outcome"], body["reason"], len(body["drafts"])) == ("answered_forced", "max_epochs", 2)
        assert body["decisions"][-1]["inequality"] == "suggestions 2 >= 1 and answers written 2 >= 2"
        assert [item["evaluation"]["passed"] for item in body["drafts"]] == [False, False]
        assert record_from_dict(client.get(f"/api/runs/{body['id']}").json()) == engine.record(body["id"])


@pytest.mark.parametrize(
    ("workflow", "options", "field"),
    [
        ("quality_loop", {"gener_epoch": 2}, "gener_epoch"),
        ("quality_loop", {"grade_on": "sesame"}, "grade_on"),
        ("quality_loop", {"grade_on": ["sesame"]}, "grade_on"),
        ("quality_loop", {"coverage_weight": 1}, "coverage_weight"),
        ("quality_loop", {"high_score": 0.2}, "high_score"),
        ("quality_loop", [], "options"),
        ("quality_loop", None, "options"),
        ("answer_evaluation", {"gener_epoch": 0}, "gener_epoch"),
        ("answer_evaluation", {"gener_epoch": 11}, "gener_epoch"),
        ("answer_evaluation", {"gener_epoch": 1.5}, "gener_epoch"),
        ("answer_evaluation", {"gener_epoch": True}, "gener_epoch"),
        ("self_corrective", {"gener_epoch": 2}, "gener_epoch"),
    ],
)
def test_options_that_a_workflow_does_not_have_or_cannot_use_are_refused_by_name(
    tmp_path: Path, workflow: str, options: Any, field: str
) -> None:
    """QL-01, QL-02, AE-01, SC-11"""
    with calling(tmp_path) as (client, engine):
        body = {"question": "first", "workflow": workflow, "config": {"options": options}}
        response = client.post("/api/runs", json=body)
        assert (response.status_code, response.json()["field"]) == (422, field)
        assert "sesame" not in response.text
        assert engine.runs() == []
