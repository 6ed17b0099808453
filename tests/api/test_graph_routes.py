"""Knowledge graphs over HTTP. GH-03"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.served import calling, relevant
from tests.support.gates import PATIENCE_S
from tests.support.graph_knowledge import GraphCollections

TEXTS = {"a": "Metformin treats diabetes.", "b": "Insulin lowers glucose."}


def test_a_graph_is_built_followed_shown_and_deleted(tmp_path: Path) -> None:
    """GH-03"""
    farm = GraphCollections(folder=tmp_path, texts=dict(TEXTS))
    with calling(tmp_path, relevant(knowledge=farm)) as (client, engine):
        missing = client.get("/api/collections/farm/graph")
        assert (missing.status_code, missing.json()["code"]) == (404, "WB238")
        begun = client.post("/api/collections/alias/graph", json={})
        assert (begun.status_code, begun.json()["kind"]) == (202, "graph")
        engine.ingestions.wait(begun.json()["id"], PATIENCE_S)
        job = client.get(f"/api/ingestions/{begun.json()['id']}").json()
        assert (job["state"], job["total"], job["extractor"], job["unreadable"]) == ("done", 2, "builtin", 0)
        shown = client.get("/api/collections/farm/graph?entities=1").json()
        assert (shown["graph"]["finished"], shown["stale"], shown["collection_passages"]) == (True, False, 2)
        assert len(shown["entities"]) == 1 and shown["communities"] and shown["job"] is None
        (found,) = client.get("/api/collections/farm/graph?query=metf").json()["entities"]
        assert (found["name"], found["passages"]) == ("Metformin", ["a"])
        around = client.get("/api/collections/farm/graph/neighbourhood?entity=Metformin&hops=1").json()
        assert {item["id"]: item["hops"] for item in around["entities"]} == {"metformin": 0, "diabetes": 1}
        assert [item["type"] for item in around["relationships"]] == ["TREATS"]
        farm.texts["c"] = "Rain."
        assert client.get("/api/collections/farm/graph").json()["stale"]
        assert client.delete("/api/collections/farm/graph").status_code == 204
        assert client.delete("/api/collections/farm/graph").json()["code"] == "WB238"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("post", "/farm/graph", {"extractor": "no model"}, 422, "WB100"),
        ("post", "/farm/graph", {"extractor": "ollama:m"}, 409, "WB329"),
        ("post", "/farm/graph", {"model": "builtin"}, 422, None),
        ("post", "/nowhere/graph", {}, 404, "WB203"),
        ("get", "/farm/graph/neighbourhood?entity=unicorn", None, 404, "WB331"),
        ("get", "/farm/graph/neighbourhood?entity=", None, 422, None),
        ("get", "/farm/graph/neighbourhood?entity=x&hops=9", None, 422, None),
        ("delete", "/nowhere/graph", None, 404, "WB203"),
    ],
)
def test_bad_requests_are_said_with_their_reason(
    tmp_path: Path, method: str, path: str, body: dict[str, str] | None, status: int, code: str | None
) -> None:
    farm = GraphCollections(folder=tmp_path, texts=dict(TEXTS))
    with calling(tmp_path, relevant(knowledge=farm)) as (client, engine):
        engine.ingestions.wait(engine.graphs.build("farm"), PATIENCE_S)
        reply = client.request(method, f"/api/collections{path}", json=body)
    assert reply.status_code == status
    assert reply.json()["success"] is False
    assert code is None or reply.json()["code"] == code
