"""Branching off over HTTP: SC-03, SC-04, SC-10."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.engine import Engine
from tests.api.served import calling, relevant
from tests.support.fakes import FakeGrader, FakeRetriever
from tests.support.gates import Gate

MODELS = dict.fromkeys(("grader", "rewriter", "generator"), "ollama:fake")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[TestClient, Engine]]:
    with calling(tmp_path, relevant(grader=FakeGrader(relevant=frozenset({"p1"})))) as pair:
        yield pair


@pytest.fixture
def parent(served: tuple[TestClient, Engine]) -> dict[str, Any]:
    body = {"question": "first", "config": {"gate": "pass_rate", "max_rewrites": 1, "models": MODELS}}
    record: dict[str, Any] = served[0].post("/api/runs", json=body).json()
    assert len(record["rounds"]) == 2
    return record


def test_a_branch_answers_with_its_record_and_names_what_it_parted_from(
    served: tuple[TestClient, Engine], parent: dict[str, Any]
) -> None:
    """SC-04, SC-10: settings that are left out are the run's own."""
    client, engine = served
    path = f"/api/runs/{parent['id']}/fork"
    response = client.post(path, json={"config": {"grade_pass_threshold": 0.2}})
    body = response.json()
    assert response.status_code == 200
    assert body["fork"] == {
        "parent": parent["id"],
        "round": 0,
        "settings": ["grade_pass_threshold"],
        "query": "",
        "verdicts": {},
    }
    assert (body["config"]["max_rewrites"], body["config"]["grade_pass_threshold"]) == (1, 0.2)
    assert body["decisions"][0]["reason"] == "passed"
    assert body["calls"] == {"chat": 6, "cached": 6, "built_in": 0}
    assert {**engine.record(body["id"]).to_dict(), "link": f"/?run={body['id']}"} == body


def test_query_verdicts_and_round_are_taken_and_their_price_is_reported(
    served: tuple[TestClient, Engine], parent: dict[str, Any]
) -> None:
    """SC-03, SC-06"""
    client, _ = served
    path = f"/api/runs/{parent['id']}/fork"
    asked = {"round": 1, "query": "other", "verdicts": {"p2": True}}
    price = client.post(f"{path}/price", json=asked).json()
    assert set(price) == {"next", "worst"}
    assert price["next"]["calls"] == 5
    body = client.post(path, json=asked).json()
    assert body["rounds"][1]["query"] == "other"
    assert body["rounds"][1]["verdicts"]["p2"]["grader"] == "by_hand"
    free = client.post(f"{path}/price", json={}).json()
    assert free == {side: {"calls": 0, "built_in_calls": 0, "seconds": 0.0} for side in ("next", "worst")}


def test_a_branch_that_is_not_waited_for_answers_with_where_its_events_are(
    served: tuple[TestClient, Engine], parent: dict[str, Any]
) -> None:
    client, engine = served
    response = client.post(f"/api/runs/{parent['id']}/fork", json={"wait": False})
    body = response.json()
    assert (response.status_code, body["events"]) == (202, f"/api/runs/{body['id']}/events")
    assert engine.wait(body["id"], 60)
    assert engine.record(body["id"]).answer == parent["answer"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"round": 2}, "round"),
        ({"verdicts": {"p99": True}}, "verdicts"),
        ({"config": {"collection": "other"}}, "collection"),
        ({"config": {"top_k": 0}}, "top_k"),
        ({"query": "x" * 9_000}, "query"),
    ],
)
def test_what_cannot_be_branched_off_is_reported_by_field(
    served: tuple[TestClient, Engine], parent: dict[str, Any], asked: dict[str, Any], field: str
) -> None:
    """SC-11: nothing of the input is echoed but names that the run itself has."""
    client, _ = served
    response = client.post(f"/api/runs/{parent['id']}/fork", json=asked)
    body = response.json()
    assert (response.status_code, body["field"]) == (422, field)
    assert "xxx" not in response.text


@pytest.mark.parametrize("asked", [{"round": -1}, {"round": "1"}, {"verdicts": {"p1": "yes"}}, {"rounds": 1}])
def test_a_body_of_another_shape_is_refused(
    served: tuple[TestClient, Engine], parent: dict[str, Any], asked: dict[str, Any]
) -> None:
    """SC-11"""
    assert served[0].post(f"/api/runs/{parent['id']}/fork", json=asked).status_code == 422


def test_a_run_in_progress_or_without_a_record_cannot_be_branched_off(tmp_path: Path) -> None:
    gate = Gate()
    with calling(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as (client, engine):
        run_id = engine.start("first")
        gate.wait_until_reached()
        response = client.post(f"/api/runs/{run_id}/fork", json={})
        assert (response.status_code, response.json()["code"]) == (409, "WB511")
        gate.open()
        assert client.post(f"/api/runs/{'0' * 32}/fork", json={}).status_code == 404


def test_the_description_of_the_api_names_both_routes(served: tuple[TestClient, Engine]) -> None:
    paths = served[0].get("/api/openapi.json").json()["paths"]
    for path in ("/runs/{run_id}/fork", "/runs/{run_id}/fork/price"):
        found = next(item for name, item in paths.items() if name.endswith(path))
        assert "requestBody" in found["post"]
