"""Images and tables over HTTP: read where a file is sent, taken as typed where not, refused with a remedy (GH-05)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import Attachment
from engine.records.codec import record_from_dict
from engine.running.running_app import RunningApp
from tests.api.served import calling

CSV = b"drug,dose\nmetformin,500 mg\n"
READ = (("drug", "dose"), ("metformin", "500 mg"))


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Engine]]:
    with calling(tmp_path_factory.mktemp("attached"), max_upload_mb=1) as made:
        yield made


def asked(client: TestClient, attachments: list[dict[str, Any]], workflow: str = "graph_hybrid") -> Any:
    body = {"question": "What dose?", "workflow": workflow, "attachments": attachments, "wait": False}
    return client.post("/api/runs", json=body)


def attached(engine: Engine, reply: Any) -> tuple[Attachment, ...]:
    """What the run was begun with, as its stored record says it."""
    run_id = reply.json()["id"]
    engine.wait(run_id)
    return engine.record(run_id).attachments


def test_a_file_of_a_request_is_read_and_stays_in_the_record(served: tuple[TestClient, Engine]) -> None:
    """GH-05"""
    client, engine = served
    reply = asked(client, [{"name": "doses.csv", "data": encoded(CSV)}])
    assert reply.status_code == 202
    (table,) = attached(engine, reply)
    assert (table.kind, table.name, table.rows, table.read_by) == ("table", "doses.csv", READ, "csv")
    plain = client.get(f"/api/runs/{reply.json()['id']}").json()
    assert plain["attachments"][0]["rows"] == [list(row) for row in READ]
    kept = {key: value for key, value in plain.items() if key not in ("workflow", "calls")}
    assert record_from_dict(kept).attachments == (table,)


def test_what_was_read_can_be_corrected_and_sent_back(served: tuple[TestClient, Engine]) -> None:
    """GH-05"""
    client, engine = served
    read = client.post("/api/attachments", json={"name": "doses.csv", "data": encoded(CSV)}).json()
    assert read["rows"] == [list(row) for row in READ]
    read["rows"][1][1] = "850 mg"
    (table,) = attached(engine, asked(client, [{**read, "edited": True}]))
    assert (table.rows[1], table.edited, table.read_by) == (("metformin", "850 mg"), True, "csv")


def test_a_description_and_rows_need_no_file(served: tuple[TestClient, Engine]) -> None:
    client, engine = served
    typed: list[dict[str, Any]] = [
        {"name": "sketch", "kind": "image", "text": "A kidney."},
        {"name": "t", "rows": [["a", 1], [None, 2.5]]},
        {"name": "pasted", "kind": "table", "text": "a | b\n--|--\n1 | 2\n"},
    ]
    image, table, pasted = attached(engine, asked(client, typed))
    assert (image.kind, image.text, image.edited) == ("image", "A kidney.", True)
    assert table.rows == (("a", "1"), ("", "2.5"))
    assert (pasted.rows, pasted.read_by) == ((("a", "b"), ("1", "2")), "markdown")


@pytest.mark.parametrize(
    ("attachments", "workflow", "status", "code"),
    [
        ([{"name": "a.csv", "data": encoded(CSV)}], "dual_loop", 422, "WB358"),
        ([{"name": "a", "text": "x"}] * 7, "graph_hybrid", 422, "WB357"),
        ([{"name": "a.csv", "data": "no base64!"}], "graph_hybrid", 422, "WB362"),
        ([{"name": "a.csv"}], "graph_hybrid", 422, "WB362"),
        ([{"name": "a.csv", "text": "x", "rows": [["y"]]}], "graph_hybrid", 422, "WB362"),
        ([{"name": "a.csv", "text": "x", "size": 3}], "graph_hybrid", 422, "WB705"),
        ([{"name": "a.pdf", "data": encoded(b"%PDF-1.7")}], "graph_hybrid", 415, "WB353"),
        ([{"name": "a.png", "text": " "}], "graph_hybrid", 422, "WB356"),
        ([{"name": "a.csv", "data": encoded(bytes(1_300_000))}], "graph_hybrid", 413, "WB702"),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_run_begins(
    served: tuple[TestClient, Engine], attachments: list[dict[str, Any]], workflow: str, status: int, code: str
) -> None:
    """GH-05"""
    client, engine = served
    before = len(engine.runs())
    reply = asked(client, attachments, workflow)
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.json()["remedy"]
    assert len(engine.runs()) == before


@pytest.mark.parametrize("rows", ["x", [{}], [[1]] * 10_001, [[1] * 1001], [[{}] * 900] * 90, [["ok", ["SECRET"]]]])
def test_rows_that_are_none_are_refused_with_one_fault_however_many_cells_they_have(
    served: tuple[TestClient, Engine], rows: object
) -> None:
    """GH-05: a fault noted for each cell would turn a small request into gigabytes."""
    reply = asked(served[0], [{"name": "a.csv", "rows": rows}])
    assert (reply.status_code, reply.json()["code"]) == (422, "WB705")
    assert [item["field"] for item in reply.json()["errors"]] == ["attachments"]
    assert "SECRET" not in reply.text


def test_the_command_line_hands_files_over_to_a_running_app(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    def post(_: RunningApp, path: str, body: Any) -> Any:
        sent.append((path, body))
        return {"id": "r1"}

    monkeypatch.setattr(RunningApp, "post", post)
    RunningApp("http://127.0.0.1:1").start("What?", RunConfig(workflow="graph_hybrid"), [("doses.csv", CSV)])
    ((path, body),) = sent
    assert path == "/api/runs"
    assert body["attachments"] == [{"name": "doses.csv", "content_base64": encoded(CSV)}]


@pytest.mark.parametrize("name", ["content_base64", "data"])
def test_the_bytes_of_a_file_have_one_name_and_the_former_ones_are_taken_too(name: str, tmp_path: Path) -> None:
    """One name for a file's content in every request, and the one that is described."""
    table = base64.b64encode(b"a,b\n1,2\n").decode()
    with calling(tmp_path) as (client, _):
        read = client.post("/api/attachments", json={"name": "t.csv", name: table})
        assert (read.status_code, read.json()["kind"]) == (200, "table")
        added = client.post("/api/collections/samples/sources", json={"name": "t.md", name: table})
        assert added.status_code != 422, added.json()
        schemas = client.get("/api/openapi.json").json()["components"]["schemas"]
        for schema in ("AttachmentBody", "ReadRequest", "SourceRequest"):
            assert "content_base64" in schemas[schema]["properties"]
            assert "data" not in schemas[schema]["properties"]
