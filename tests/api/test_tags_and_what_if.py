"""Lists of runs narrowed and paged, tags, and what-if over HTTP: SC-10, SC-11."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.api.partial_config import config_over
from engine.engine import Engine
from engine.errors import InvalidConfig
from engine.model.config import RoleModel, RoleModels, RunConfig
from tests.api.served import calling, relevant
from tests.support.fakes import FakeRetriever
from tests.support.gates import Gate


def asked(client: TestClient, question: str, **config: Any) -> str:
    run_id: str = client.post("/api/runs", json={"question": question, "config": config}).json()["id"]
    return run_id


def listed(client: TestClient, **query: str | int) -> list[str]:
    return [item["id"] for item in client.get("/api/runs", params=query).json()]


def test_a_tag_is_put_on_a_run_and_taken_away_again(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    run_id = asked(client, "first")
    put = client.put(f"/api/runs/{run_id}/tags/to%20review")
    assert (put.status_code, put.json()) == (200, {"id": run_id, "tags": ["to review"]})
    client.put(f"/api/runs/{run_id}/tags/2025%2F03 阈值")
    assert engine.runs()[0].tags == ("2025/03 阈值", "to review")
    assert client.get("/api/runs").json()[0]["tags"] == ["2025/03 阈值", "to review"]
    gone = client.delete(f"/api/runs/{run_id}/tags/2025%2F03 阈值")
    assert (gone.status_code, gone.json()["tags"]) == (200, ["to review"])
    assert client.delete(f"/api/runs/{run_id}/tags/never there").json()["tags"] == ["to review"]


@pytest.mark.parametrize("method", ["put", "delete"])
@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("{run}/tags/" + "x" * 41, 422, "WB507"),
        ("{run}/tags/a%00b", 422, "WB507"),
        ("{run}/tags/%20", 422, "WB507"),
        ("nothing/tags/x", 404, "WB501"),
        ("demo-rescue-en/tags/x", 403, "WB508"),
    ],
)
def test_a_tag_that_will_not_do_is_refused(
    served: tuple[TestClient, Engine], method: str, path: str, status: int, code: str
) -> None:
    client, engine = served
    run_id = asked(client, "first")
    response = client.request(method, f"/api/runs/{path.format(run=run_id)}")
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert engine.tags() == {}


def test_a_demo_is_not_deleted(served: tuple[TestClient, Engine]) -> None:
    client, _ = served
    response = client.delete("/api/runs/demo-rescue-en")
    assert (response.status_code, response.json()["code"]) == (403, "WB508")
    assert client.get("/api/runs/demo-rescue-en").json()["outcome"] == "answered"


def test_the_list_is_narrowed_by_tag_text_and_collection(served: tuple[TestClient, Engine]) -> None:
    client, _ = served
    first, second, third = (asked(client, question) for question in ("first", "second", "third"))
    for run_id in (first, third):
        client.put(f"/api/runs/{run_id}/tags/batch")
    assert listed(client) == [third, second, first]
    assert listed(client, tag="batch") == [third, first]
    assert listed(client, without_tag="batch") == [second]
    assert listed(client, tag="batch", text="fir") == [first]
    assert listed(client, text=second[:8]) == [second]
    assert listed(client, collection="elsewhere") == []
    assert listed(client, workflow="self_corrective", outcome="answered", limit=2) == [third, second]


def test_pages_follow_the_cursor_of_the_last_run_seen(served: tuple[TestClient, Engine]) -> None:
    client, _ = served
    ids = [asked(client, f"question {number}") for number in range(5)]
    seen: list[str] = []
    query: dict[str, str | int] = {"limit": 2}
    while page := client.get("/api/runs", params=query).json():
        seen += [item["id"] for item in page]
        query["before"] = page[-1]["cursor"]
    assert seen == ids[::-1]
    # Put into an address as it stands, the plus sign of the time means a space.
    raw = client.get(f"/api/runs?before={client.get('/api/runs').json()[1]['cursor']}").json()
    assert [item["id"] for item in raw] == ids[:3][::-1]


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "outcome=eaten", "workflow=none", "tag=" + "x" * 201])
def test_a_filter_out_of_range_is_refused_without_an_echo(served: tuple[TestClient, Engine], query: str) -> None:
    client, _ = served
    response = client.get(f"/api/runs?{query}")
    assert (response.status_code, response.json()["code"]) == (422, "WB705")
    (problem,) = response.json()["errors"]
    assert problem["field"] == query.split("=", maxsplit=1)[0]
    assert "eaten" not in response.text


def test_a_what_if_of_a_run_takes_what_is_left_out_from_the_run(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    run_id = asked(client, "first", top_k=2, max_rewrites=1)
    same = client.post(f"/api/runs/{run_id}/what-if", json={"config": {}}).json()
    assert (same["state"], same["same_path"], same["calls_needed"]["worst"]["calls"]) == ("known", True, 0)
    assert client.post(f"/api/runs/{run_id}/what-if", json={}).json() == same
    record = engine.record(run_id)
    other = client.post(f"/api/runs/{run_id}/what-if", json={"config": {"similarity_threshold": 0.95}})
    expected = engine.what_if(record, config_over(record.config, {"similarity_threshold": 0.95}))
    assert (other.status_code, other.json()) == (200, json.loads(json.dumps(expected.to_dict())))
    assert len(engine.runs()) == 1, "nothing was run"


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("nothing", {"config": {}}, 404, "WB501"),
        ("{run}", {"config": {"top_k": 99}}, 422, "WB100"),
        ("{run}", {"config": {"no_such": 1}}, 422, "WB100"),
        ("{run}", {"config": {"models": {"grader": 7}}}, 422, "WB100"),
        ("{run}", {"config": []}, 422, "WB705"),
        ("{run}", {"settings": {}}, 422, "WB705"),
    ],
)
def test_a_what_if_that_cannot_be_is_refused(
    served: tuple[TestClient, Engine], path: str, body: Any, status: int, code: str
) -> None:
    client, _ = served
    run_id = asked(client, "first")
    response = client.post(f"/api/runs/{path.format(run=run_id)}/what-if", json=body)
    assert (response.status_code, response.json()["code"]) == (status, code)


def test_a_what_if_of_a_run_in_progress_says_how_far_it_is_known(tmp_path: Path) -> None:
    gate = Gate()
    with calling(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as (client, _):
        run_id = client.post("/api/runs", json={"question": "first", "wait": False}).json()["id"]
        gate.wait_until_reached()
        body = client.post(f"/api/runs/{run_id}/what-if", json={}).json()
        gate.open()
    assert (body["state"], body["gap"]) == ("needs_calls", "unrecorded")


def test_part_of_a_config_leaves_the_rest_as_it_was() -> None:
    chat = RoleModel("ollama:a", temperature=0.4, num_ctx=4096)
    own = RunConfig(top_k=7, models=RoleModels(grader=chat))
    assert config_over(own, {}) == own
    changed = config_over(own, {"min_confidence": 0.7, "models": {"grader": "ollama:b", "rewriter": {"seed": 3}}})
    assert (changed.top_k, changed.min_confidence) == (7, 0.7)
    assert changed.models.grader == RoleModel("ollama:b", temperature=0.4, num_ctx=4096)
    assert changed.models.rewriter == RoleModel(seed=3)
    assert changed.models.generator == own.models.generator


@pytest.mark.parametrize("partial", [{"models": "builtin"}, {"models": {"cook": "builtin"}}, {"top_k": "many"}])
def test_part_of_a_config_is_checked_as_a_whole_one_is(partial: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig):
        config_over(RunConfig(), partial)
