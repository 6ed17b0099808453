"""The stream that a page follows: what is derived of a run, whole at first and then what changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.model.values import RunRecord
from tests.api.served import app_of, calling, dial, engine_of, raw, received, relevant, serving
from tests.support.fakes import FakeGenerator, FakeRetriever
from tests.support.gates import PATIENCE_S, Gate

LAST_PIECE = b"0\r\n\r\n"
WHOLE = b'"grown":{}}\n\n'
"""The end of a message in which nothing grew, as the first one is."""


def view(record: RunRecord, asked: Mapping[str, str]) -> dict[str, Any]:
    return {
        "answer": record.answer,
        "outcome": record.outcome or "",
        "nodes": [item.node for item in record.nodes],
        "language": asked.get("language", ""),
        "question": record.question,
    }


def messages(text: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


def put_together(given: list[dict[str, Any]]) -> dict[str, Any]:
    """What a browser has after these messages."""
    whole: dict[str, Any] = {}
    for message in given:
        whole |= message["now"]
        whole |= {name: whole[name] + added for name, added in message["grown"].items()}
    return whole


def test_a_run_that_has_ended_is_one_message_in_the_words_that_the_address_asks_for(tmp_path: Path) -> None:
    with calling(tmp_path, options={"views": view}) as (client, engine):
        record = engine.run("first")
        response = client.get(f"/api/runs/{record.id}/view", params={"language": "zh"})
        assert response.headers["content-type"].startswith("text/event-stream")
        assert messages(response.text) == [{"now": view(record, {"language": "zh"}), "grown": {}}]
        seen = client.get(f"/api/runs/{record.id}/view", headers={"last-event-id": str(record.last_seq)})
        # Anything but 204 makes a browser connect again and again.
        assert seen.status_code == 204


def test_a_record_of_an_earlier_engine_is_viewed_too(tmp_path: Path) -> None:
    with engine_of(tmp_path) as engine:
        record = engine.run("first")
    with calling(tmp_path, options={"views": view}) as (client, _):
        (message,) = messages(client.get(f"/api/runs/{record.id}/view").text)
        assert message["now"]["answer"] == record.answer


def test_without_a_view_there_is_no_stream_of_it_and_the_description_never_names_it(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, engine):
        assert client.get(f"/api/runs/{engine.run('first').id}/view").status_code == 404
    with calling(tmp_path / "other", options={"views": view}) as (client, _):
        assert client.get("/api/runs/nothing/view").status_code == 404
        assert not [path for path in client.get("/api/openapi.json").json()["paths"] if path.endswith("/view")]


def test_a_live_view_is_whole_then_grows_and_no_token_is_lost_or_sent_twice(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(generator=FakeGenerator(gate=lambda: gate))) as engine:
        run_id = engine.start("first")
        gate.wait_until_reached()
        with serving(app_of(engine, views=view)) as port, dial(port) as connection:
            connection.sendall(raw("GET", f"/api/runs/{run_id}/view"))
            begun = received(connection, WHOLE)
            gate.open()
            sent = messages((begun + received(connection, LAST_PIECE)).decode())
        record = engine.record(run_id)
    assert put_together(sent) == view(record, {})
    assert [message["now"].get("question") for message in sent] == ["first", *[None] * (len(sent) - 1)]
    grown = sum(len(message["grown"].get("answer", "")) for message in sent)
    assert grown + len(sent[0]["now"]["answer"]) <= len(record.answer)


def test_who_connects_again_in_the_middle_gets_the_newest_view_whole(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(generator=FakeGenerator(gate=lambda: gate))) as engine:
        run_id = engine.start("first")
        gate.wait_until_reached()
        with serving(app_of(engine, views=view)) as port:
            for last in ("0", "5", "999999"):
                with dial(port) as connection:
                    connection.sendall(raw("GET", f"/api/runs/{run_id}/view", headers=[f"Last-Event-ID: {last}"]))
                    (message,) = messages(received(connection, WHOLE).decode())
                assert message["now"] == view(engine.record(run_id), {})
            gate.open()


def test_a_burst_of_events_is_few_messages_of_the_newest_view(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine:
        run_id = engine.start("first")
        gate.wait_until_reached()
        with serving(app_of(engine, views=view)) as port, dial(port) as connection:
            connection.sendall(raw("GET", f"/api/runs/{run_id}/view"))
            begun = received(connection, WHOLE)
            gate.open()
            assert engine.wait(run_id, PATIENCE_S)
            sent = messages((begun + received(connection, LAST_PIECE)).decode())
        record = engine.record(run_id)
    assert put_together(sent) == view(record, {})
    assert 1 < len(sent) < record.last_seq / 2


def test_a_view_of_a_silent_run_sends_heartbeats_and_loses_nothing_over_them(tmp_path: Path) -> None:
    gate = Gate()
    with engine_of(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as engine:
        run_id = engine.start("first")
        with serving(app_of(engine, views=view, heartbeat_s=0.02)) as port, dial(port) as connection:
            connection.sendall(raw("GET", f"/api/runs/{run_id}/view"))
            begun = received(connection, b": waiting")
            gate.open()
            sent = messages((begun + received(connection, LAST_PIECE)).decode())
        assert put_together(sent) == view(engine.record(run_id), {})


@pytest.mark.parametrize("path", ["view", "events"])
def test_an_interrupted_run_is_sent_to_a_reader_that_saw_a_later_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Its end was made up when it was read, and numbered then."""
    with calling(tmp_path, options={"views": view}) as (client, engine):
        record = engine.run("first")
        monkeypatch.setattr(engine, "record", lambda _run_id: replace(record, outcome="interrupted"))
        seen = {"last-event-id": str(record.last_seq + 1)}
        assert client.get(f"/api/runs/{record.id}/{path}", headers=seen).status_code == 200
