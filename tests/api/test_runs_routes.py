"""Runs, their events, collections and health over HTTP: SC-10, SC-11, SC-13."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.api import waiting
from engine.engine import Engine
from engine.errors import StoreError
from engine.model.events import Event, RunFinished
from engine.records.codec import event_from_json, event_to_json, record_from_dict
from tests.api.served import (
    FakeCollections,
    app_of,
    calling,
    dial,
    engine_of,
    raw,
    received,
    relevant,
    serving,
)
from tests.support.fakes import FakeGenerator, FakeRetriever
from tests.support.gates import PATIENCE_S, Gate

LAST_PIECE = b"0\r\n\r\n"
"""How a chunked answer ends."""


def streamed(text: str) -> list[Event]:
    """The events of a stream; each says its number and kind outside of its data too."""
    events = []
    for block in text.split("\n\n"):
        if not block or block.startswith(":"):
            continue
        number, kind, data = block.split("\n")
        event = event_from_json(data.removeprefix("data: "))
        assert (number, kind) == (f"id: {event.seq}", f"event: {event.kind}")
        events.append(event)
    return events


def test_a_waiting_start_answers_with_the_record(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    response = client.post("/api/runs", json={"question": "first", "config": {"top_k": 2}})
    body = response.json()
    assert response.status_code == 200
    assert body["outcome"] == "answered"
    assert body["config"]["top_k"] == 2
    assert body["workflow"] == "self_corrective"
    assert body["calls"] == {"chat": 3, "cached": 0, "built_in": 0}
    assert {**engine.record(body["id"]).to_dict(), "link": f"/?run={body['id']}"} == body
    assert client.get(f"/api/runs/{body['id']}").json() == body
    assert [item["link"] for item in client.get("/api/runs").json()] == [body["link"]]


@pytest.mark.parametrize("path", ["/api/runs", "/api/self-corrective-rag"])
def test_an_answer_with_200_is_on_the_disk(tmp_path: Path, path: str) -> None:
    with calling(tmp_path) as (client, _):
        for _ in range(20):
            response = client.post(path, json={"question" if path == "/api/runs" else "query": "first"})
            assert response.status_code == 200
            run = response.json().get("id") or response.json()["runId"]
            with closing(sqlite3.connect(tmp_path / "runs.db")) as other:
                assert other.execute("SELECT outcome FROM runs WHERE id = ?", (run,)).fetchall() == [("answered",)]


def test_an_answer_that_the_disk_does_not_take_in_time_is_not_reported_with_200(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "COMMIT_S", 0.01)
    with calling(tmp_path) as (client, engine), closing(sqlite3.connect(tmp_path / "runs.db")) as other:
        assert engine.flush()
        other.execute("BEGIN IMMEDIATE")
        run = client.post("/api/runs", json={"question": "first"})
        seed = client.post("/api/self-corrective-rag", json={"query": "first"})
        branch = client.post(f"/api/runs/{run.json()['id']}/fork", json={"config": {"top_k": 2}})
        other.execute("ROLLBACK")
    assert [run.status_code, seed.status_code, branch.status_code] == [202, 202, 202]
    assert (run.json()["outcome"], seed.json()["success"], branch.json()["outcome"]) == ("answered", True, "answered")


def test_a_start_that_does_not_wait_answers_with_where_the_events_are(tmp_path: Path) -> None:
    gate = Gate()
    with calling(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as (client, _):
        response = client.post("/api/runs", json={"question": "first", "wait": False})
        body = response.json()
        assert (response.status_code, set(body)) == (202, {"id", "events", "link"})
        assert client.get(f"/api/runs/{body['id']}").json()["outcome"] is None
        gate.wait_until_reached()
        gate.open()
        assert streamed(client.get(body["events"]).text)[-1].kind == "run_finished"
        assert client.get(f"/api/runs/{body['id']}").json()["outcome"] == "answered"


@pytest.mark.parametrize(("path", "more"), [("/api/runs", {"wait": False}), ("/api/runs/check", {})])
def test_a_gate_that_cannot_be_met_is_a_warning_before_the_run(
    served: tuple[TestClient, Engine], path: str, more: dict[str, Any]
) -> None:
    """SC-05"""
    body = {"question": "first", "config": {"gate": "min_relevant", "min_relevant": 6, "top_k": 5}, **more}
    (warning,) = served[0].post(path, json=body).json()["warnings"]
    assert warning["code"] == "WB121"
    assert "asks for 6 passages" in warning["fact"]


def test_a_start_that_does_not_wait_still_refuses_an_unknown_collection(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    body = {"question": "first", "wait": False, "config": {"collection": "nowhere"}}
    response = client.post("/api/runs", json=body)
    assert (response.status_code, response.json()["code"]) == (404, "WB203")
    assert engine.runs() == []


def test_the_config_of_a_record_may_be_sent_back_as_it_is(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    first = client.post("/api/runs", json={"question": "first", "config": {"max_rewrites": 1}}).json()
    second = client.post("/api/runs", json={"question": "first", "config": first["config"]}).json()
    assert second["config"] == first["config"]
    record = engine.record(second["id"])
    assert record_from_dict({name: value for name, value in second.items() if name in record.__slots__})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"question": " "}, "question"),
        ({"question": "x" * 2001}, "question"),
        ({"question": "first", "config": {"top_k": 21}}, "top_k"),
        ({"question": "first", "config": {"top_k": True}}, "top_k"),
        ({"question": "first", "config": {"budget_s": "sesame"}}, "budget_s"),
        ({"question": "first", "config": {"mode": "sesame"}}, "mode"),
        ({"question": "first", "config": {"workflow": "sesame"}}, "workflow"),
        ({"question": "first", "config": {"models": {"grader": {"temperature": 9}}}}, "temperature"),
    ],
)
def test_a_setting_out_of_its_range_is_refused_by_name(
    served: tuple[TestClient, Engine], body: dict[str, Any], field: str
) -> None:
    client, engine = served
    response = client.post("/api/runs", json=body)
    assert (response.status_code, response.json()["field"]) == (422, field)
    assert "sesame" not in response.text
    assert engine.runs() == []


def test_an_unlisted_address_is_refused_in_a_config_too(tmp_path: Path) -> None:
    with calling(tmp_path, milvus_uri="http://milvus:19530") as (client, engine):
        for address, status in (("http://elsewhere:19530", 403), ("milvus:19530", 200)):
            body = {"question": "first", "config": {"milvus_address": address}}
            assert client.post("/api/runs", json=body).status_code == status
        assert engine.record(engine.runs()[0].id).config.milvus_address == "http://milvus:19530"


def test_runs_are_listed_newest_first_and_filtered(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    ids = [engine.run(question).id for question in ("alpha", "beta", "alphabet")]
    assert {item["id"] for item in client.get("/api/runs").json()} == set(ids)
    times = [item["started_at"] for item in client.get("/api/runs").json()]
    assert times == sorted(times, reverse=True)
    assert len(client.get("/api/runs", params={"limit": 2}).json()) == 2
    found = client.get("/api/runs", params={"text": "ALPHA", "outcome": "answered"}).json()
    assert {item["question"] for item in found} == {"alpha", "alphabet"}
    assert client.get("/api/runs", params={"outcome": "failed"}).json() == []


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("limit=0", {"field": "limit", "problem": "must be at least 1"}),
        ("limit=501", {"field": "limit", "problem": "must be at most 500"}),
        ("limit=sesame", {"field": "limit", "problem": "wrong type"}),
        ("limit=" + "9" * 5000, {"field": "limit", "problem": "wrong type"}),
    ],
)
def test_a_listing_out_of_range_is_refused(
    served: tuple[TestClient, Engine], query: str, problem: dict[str, str]
) -> None:
    response = served[0].get(f"/api/runs?{query}")
    assert response.status_code == 422
    assert response.json()["errors"] == [problem]


def test_an_outcome_that_does_not_exist_is_refused_with_those_that_do(served: tuple[TestClient, Engine]) -> None:
    response = served[0].get("/api/runs", params={"outcome": "sesame"})
    assert response.status_code == 422
    assert "abstained" in response.json()["errors"][0]["problem"]
    assert "sesame" not in response.text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/runs/nothing"),
        ("GET", "/api/runs/nothing/events"),
        ("POST", "/api/runs/nothing/cancel"),
        ("DELETE", "/api/runs/nothing"),
    ],
)
def test_a_run_that_does_not_exist_is_not_found(served: tuple[TestClient, Engine], method: str, path: str) -> None:
    response = served[0].request(method, path)
    assert (response.status_code, response.json()["code"]) == (404, "WB501")


def test_events_are_replayed_from_the_first_or_after_the_last_one_seen(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    record = engine.run("first")
    path = f"/api/runs/{record.id}/events"
    whole = client.get(path)
    assert whole.headers["content-type"].startswith("text/event-stream")
    assert whole.headers["cache-control"] == "no-store"
    events = streamed(whole.text)
    assert [event.seq for event in events] == list(range(1, record.last_seq + 1))
    assert events == list(engine.events(record.id))
    assert streamed(client.get(path, headers={"last-event-id": "7"}).text) == events[7:]
    assert streamed(client.get(path, params={"after": 7}).text) == events[7:]
    # A browser that reconnects asks under its first address again; what it saw since stands in the header.
    assert streamed(client.get(path, params={"after": 2}, headers={"last-event-id": "7"}).text) == events[7:]


@pytest.mark.parametrize("seen", ["x", "", "-3", "9" * 4999, "1.5"])
def test_a_last_event_id_that_is_no_number_of_ours_is_left_aside(served: tuple[TestClient, Engine], seen: str) -> None:
    client, engine = served
    record = engine.run("first")
    events = streamed(client.get(f"/api/runs/{record.id}/events", headers={"last-event-id": seen}).text)
    assert len(events) == record.last_seq


def test_whoever_has_seen_the_end_is_asked_not_to_come_again(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    record = engine.run("first")
    response = client.get(f"/api/runs/{record.id}/events", headers={"last-event-id": str(record.last_seq)})
    assert (response.status_code, response.content) == (204, b"")
    assert client.get(f"/api/runs/{record.id}/events", params={"after": -1}).status_code == 422


def test_events_of_a_run_of_an_earlier_engine_come_from_its_record(tmp_path: Path) -> None:
    with engine_of(tmp_path) as engine:
        record = engine.run("first")
    with calling(tmp_path) as (client, _):
        events = streamed(client.get(f"/api/runs/{record.id}/events").text)
        assert isinstance(events[-1], RunFinished)
        assert client.get(f"/api/runs/{record.id}").json()["answer"] == record.answer


def test_a_live_stream_brings_events_as_they_happen_and_ends_with_the_last(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(generator=FakeGenerator(gate=lambda: gate))) as engine:
        run_id = engine.start("first")
        with serving(app_of(engine)) as port, dial(port) as connection:
            connection.sendall(raw("GET", f"/api/runs/{run_id}/events"))
            begun = received(connection, b"event: context_assembled\n")
            assert b"content-security-policy" in begun
            assert b"run_finished" not in begun
            gate.wait_until_reached()
            gate.open()
            rest = received(connection, LAST_PIECE)
    assert rest.count(b"event: token_streamed") == 4
    assert b"event: run_finished" in rest


def test_a_silent_stream_sends_heartbeats_and_loses_nothing_over_them(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine:
        run_id = engine.start("first")
        with serving(app_of(engine, heartbeat_s=0.02)) as port, dial(port) as connection:
            connection.sendall(raw("GET", f"/api/runs/{run_id}/events"))
            begun = received(connection, b": waiting")
            gate.open()
            whole = begun + received(connection, LAST_PIECE)
    numbers = [int(found) for found in re.findall(rb"^id: (\d+)", whole, re.MULTILINE)]
    assert numbers == list(range(1, engine.record(run_id).last_seq + 1))


def test_a_reader_that_leaves_is_forgotten_and_the_run_continues(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine:
        run_id = engine.start("first")
        run = engine._runs.named(run_id)
        freed = threading.Event()

        class Listeners(set[Any]):
            def discard(self, item: Any) -> None:
                super().discard(item)
                freed.set()

        run._listeners = Listeners()
        with serving(app_of(engine)) as port:
            with dial(port) as connection:
                connection.sendall(raw("GET", f"/api/runs/{run_id}/events"))
                received(connection, b"event: run_started")
                assert len(run._listeners) == 1
            assert freed.wait(PATIENCE_S)
            assert not run._listeners
            gate.wait_until_reached()
            gate.open()
            assert engine.wait(run_id, PATIENCE_S)
    assert run.record.outcome == "answered"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/self-corrective-rag", {"query": "first"}),
        ("/api/runs", {"question": "first", "wait": True}),
    ],
)
def test_a_caller_that_hangs_up_stops_its_run(tmp_path: Path, path: str, body: dict[str, Any]) -> None:
    """SC-13"""
    gate = Gate()
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine:
        with serving(app_of(engine)) as port:
            with dial(port) as connection:
                connection.sendall(raw("POST", path, json.dumps(body).encode()))
                gate.wait_until_reached()
            run_id = engine.runs()[0].id
            assert engine.wait(run_id, PATIENCE_S)
        assert engine.record(run_id).outcome == "cancelled"


def test_a_caller_that_does_not_wait_may_hang_up(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine, serving(app_of(engine)) as port:
        with dial(port) as connection:
            connection.sendall(raw("POST", "/api/runs", b'{"question": "first", "wait": false}'))
            run_id = json.loads(received(connection, b'"}').split(b"\r\n\r\n")[1])["id"]
        gate.wait_until_reached()
        gate.open()
        assert engine.wait(run_id, PATIENCE_S)
        assert engine.record(run_id).outcome == "answered"


def test_a_real_server_answers_the_seeds_request(tmp_path: Path) -> None:
    """SC-11: one whole answer on one kept connection after another."""
    with engine_of(tmp_path) as engine, serving(app_of(engine)) as port, dial(port) as connection:
        for _ in range(2):
            connection.sendall(raw("POST", "/api/self-corrective-rag", b'{"query": "first"}'))
            head, _, begun = received(connection, b"\r\n\r\n").partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            length = int(re.findall(rb"content-length: (\d+)", head)[0])
            while len(begun) < length:
                begun += connection.recv(65536)
            assert json.loads(begun)["outcome"] == "answered"


def test_a_run_is_stopped_once(tmp_path: Path) -> None:
    """SC-13"""
    gate = Gate()
    with calling(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as (client, engine):
        run_id = engine.start("first")
        gate.wait_until_reached()
        assert client.post(f"/api/runs/{run_id}/cancel").json() == {"id": run_id, "cancelled": True}
        assert engine.wait(run_id, PATIENCE_S)
        assert client.post(f"/api/runs/{run_id}/cancel").json() == {"id": run_id, "cancelled": False}
        assert client.get(f"/api/runs/{run_id}").json()["outcome"] == "cancelled"


def test_a_record_is_deleted_only_when_its_run_has_ended(tmp_path: Path) -> None:
    gate = Gate()
    with calling(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as (client, engine):
        run_id = engine.start("first")
        refused = client.delete(f"/api/runs/{run_id}")
        assert (refused.status_code, refused.json()["code"]) == (409, "WB502")
        engine.cancel(run_id)
        assert engine.wait(run_id, PATIENCE_S)
        deleted = client.delete(f"/api/runs/{run_id}")
        assert (deleted.status_code, deleted.content) == (204, b"")
        assert client.delete(f"/api/runs/{run_id}").status_code == 404
        assert client.get(f"/api/runs/{run_id}").status_code == 404


def test_health_says_what_is_going_on(tmp_path: Path) -> None:
    gate = Gate()
    with calling(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as (client, engine):
        engine.start("first")
        engine._faults.note(StoreError.locked(path="knowledge.db"))
        body = client.get("/api/health").json()
    assert (body["status"], body["ready"], body["active_runs"]) == ("ok", True, 1)
    assert body["version"]
    assert [set(item) for item in body["faults"]] == [{"code", "fact", "remedy", "since", "over_since"}]


def test_collections_are_listed_with_what_they_were_built_with(served: tuple[TestClient, Engine]) -> None:
    listed = served[0].get("/api/collections").json()
    assert [(item["name"], item["dim"], item["passages"]) for item in listed] == [("samples", 3, 5)]


def test_a_file_is_put_into_a_collection(tmp_path: Path) -> None:
    knowledge = FakeCollections()
    content = "# Title\n你好".encode()
    body = {"name": "notes.md", "content_base64": base64.b64encode(content).decode()}
    with calling(tmp_path, relevant(knowledge=knowledge)) as (client, _):
        response = client.post("/api/collections/mine/sources", json=body)
    assert response.status_code == 200
    assert response.json()["added"] == ["notes.md"]
    assert [(name, item.name, item.read()) for name, [item] in knowledge.given] == [("mine", "notes.md", content)]


@pytest.mark.parametrize("content", ["sesame!", "abc", "=", "你好"])
def test_a_file_that_is_not_base64_is_refused(served: tuple[TestClient, Engine], content: str) -> None:
    body = {"name": "notes.md", "content_base64": content}
    response = served[0].post("/api/collections/mine/sources", json=body)
    assert (response.status_code, response.json()["field"]) == (422, "content_base64")
    assert "sesame" not in response.text


def test_a_caller_that_hangs_up_stops_its_ingestion(tmp_path: Path) -> None:
    gate, stopped = Gate(), threading.Event()

    class Watched(FakeCollections):
        async def ingest(self, *arguments: Any, **options: Any) -> Any:
            try:
                return await super().ingest(*arguments, **options)
            finally:
                stopped.set()

    knowledge = Watched(gate=lambda: gate)
    with engine_of(tmp_path, relevant(knowledge=knowledge)) as engine, serving(app_of(engine)) as port:
        with dial(port) as connection:
            body = b'{"name": "a.md", "content_base64": "YQ=="}'
            connection.sendall(raw("POST", "/api/collections/mine/sources", body))
            gate.wait_until_reached()
        assert stopped.wait(PATIENCE_S)
    assert knowledge.given == []


def test_a_stream_survives_text_that_has_no_utf8_form(tmp_path: Path) -> None:
    resources = relevant(generator=FakeGenerator(text="half \ud83d pair"))
    with calling(tmp_path, resources) as (client, engine):
        record = engine.run("first")
        text = client.get(f"/api/runs/{record.id}/events").text
        assert client.get(f"/api/runs/{record.id}").json()["answer"] == "half ? pair"
    assert "event: run_finished" in text
    with pytest.raises(ValueError, match="surrogates not allowed"):
        event_to_json(next(event for event in engine.events(record.id) if event.kind == "answer_completed"))
