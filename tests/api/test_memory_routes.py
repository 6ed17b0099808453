"""Long-term memory over HTTP: DL-06."""

from __future__ import annotations

from pathlib import Path

from engine.errors import StoreError
from engine.model.values import Memory
from engine.settings import Settings
from tests.api.served import FakeCollections, calling, relevant
from tests.support.errors import raises
from tests.support.fake_memory import FakeMemory
from tests.support.fakes import FakeResources

OLD = Memory(
    id="m1",
    question="Which insulin acts fastest?",
    answer="An ultra-rapid one [1].",
    collection="samples",
    run_id="run-1",
    kept_at="2026-03-01T10:00:00+00:00",
    sources=("dc-insulin.en.md",),
    fingerprint="f00d",
)
FAILED = Memory("m2", "谁？", "<b>不知道</b>", "samples", "run-2", "2026-03-02T10:00:00+00:00", passed=False)


def remembering(memory: FakeMemory) -> FakeResources:
    return relevant(knowledge=FakeCollections(remembered=memory))


def test_every_memory_is_listed_newest_first_with_how_it_ended(tmp_path: Path) -> None:
    """DL-06: memories can be listed; failed answers are marked."""
    with calling(tmp_path, remembering(FakeMemory.of((OLD, FAILED)))) as (client, _):
        response = client.get("/api/memories")
    assert response.status_code == 200
    failed, passed = response.json()
    assert (failed["id"], failed["passed"], failed["answer"]) == ("m2", False, "<b>不知道</b>")
    assert passed == {
        "id": "m1",
        "question": "Which insulin acts fastest?",
        "answer": "An ultra-rapid one [1].",
        "collection": "samples",
        "run_id": "run-1",
        "kept_at": "2026-03-01T10:00:00+00:00",
        "passed": True,
        "sources": ["dc-insulin.en.md"],
        "fingerprint": "f00d",
        "claim": "",
        "citations": [],
        "claim_by": "",
        "from_web": False,
    }


def test_a_deleted_memory_is_gone_and_a_second_time_it_is_unknown(tmp_path: Path) -> None:
    """DL-06: memories can be deleted."""
    with calling(tmp_path, remembering(FakeMemory.of((OLD, FAILED)))) as (client, _):
        gone = client.delete("/api/memories/m1")
        assert (gone.status_code, gone.content) == (204, b"")
        assert [item["id"] for item in client.get("/api/memories").json()] == ["m2"]
        again = client.delete("/api/memories/m1")
    assert again.status_code == 404
    assert (again.json()["success"], again.json()["code"]) == (False, "WB215")
    assert "m1" in again.json()["fact"]


def test_a_store_that_is_locked_is_said_with_its_code(tmp_path: Path) -> None:
    memory = FakeMemory(error=StoreError.locked(path="knowledge.db"))
    with calling(tmp_path, remembering(memory)) as (client, _):
        answers = [client.get("/api/memories"), client.delete("/api/memories/m1")]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(503, "WB201")] * 2


def test_the_engine_forgets_one_memory_or_all(tmp_path: Path) -> None:
    with calling(tmp_path, remembering(FakeMemory.of((OLD, FAILED)))) as (_, engine):
        with raises(StoreError.unknown_memory, match="m9"):
            engine.forget_memory("m9")
        engine.forget_memory("m2")
        assert [item.id for item in engine.memories()] == ["m1"]
        assert engine.forget_every_memory() == 1
        assert engine.memories() == []


def test_memories_outlive_the_engine_that_kept_them(tmp_path: Path) -> None:
    """DL-06: kept across restarts."""
    from engine.engine import Engine

    settings = Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")
    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        engine._loop.call(engine.resources.knowledge.memory().keep(OLD))
    with Engine.open(settings) as engine:
        assert engine.memories() == [OLD]
        engine.forget_memory("m1")
    with Engine.open(settings) as engine:
        assert engine.memories() == []
