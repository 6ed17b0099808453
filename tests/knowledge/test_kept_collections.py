"""The list of collections is read once, and read again as soon as something in it may have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.engine import Engine
from engine.knowledge.ingest import IngestItem
from engine.knowledge.kept_collections import KeptCollections
from engine.knowledge.milvus_session import MilvusSession
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import CollectionInfo, StoredPassage
from engine.settings import Settings

NOTES = CollectionInfo("notes", "test", 4, "", "", "2026-01-01T00:00:00+00:00")
PASSAGE = StoredPassage(PassageId("a#0"), "a.md", "A table.", meta={"content_hash": "1", "added_at": "2026"})


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for every time that a store is asked."""
    made: list[int] = []
    real = MilvusSession.collections

    def counted(session: MilvusSession) -> list[CollectionInfo]:
        made.append(1)
        return real(session)

    monkeypatch.setattr(MilvusSession, "collections", counted)
    return made


def with_store(folder: Path, work: Callable[[MilvusStore], Awaitable[None]]) -> None:
    async def go() -> None:
        store = MilvusStore(str(folder / "knowledge.db"))
        try:
            await work(store)
        finally:
            await store.close()

    asyncio.run(go())


def test_a_list_is_read_once_until_something_is_written(tmp_path: Path, readings: list[int]) -> None:
    async def work(store: MilvusStore) -> None:
        kept = KeptCollections(store, Clock())
        assert await kept.read() == await kept.read() == []
        assert len(readings) == 1
        writes: list[tuple[Awaitable[object], list[tuple[str, int]]]] = [
            (store.create(NOTES), [("notes", 0)]),
            (store.insert("notes", [PASSAGE], np.eye(1, 4, dtype=np.float32)), [("notes", 1)]),
            (store.rename("notes", "papers"), [("papers", 1)]),
            (store.delete_source("papers", "a.md"), [("papers", 0)]),
            (store.drop("papers"), []),
        ]
        for place, (write, expected) in enumerate(writes):
            await write
            assert [(info.name, info.passages) for info in await kept.read()] == expected
            await kept.read()
            assert len(readings) == place + 2

    with_store(tmp_path, work)


def test_what_is_read_during_a_write_is_not_kept_beyond_it(tmp_path: Path) -> None:
    class Slow(MilvusStore):
        """Writes between the beginning and the end of a reading."""

        async def collections(self) -> list[CollectionInfo]:
            found = await super().collections()
            if not found:
                await self.create(NOTES)
            return found

    async def work(_: MilvusStore) -> None:
        store = Slow(str(tmp_path / "slow.db"))
        kept = KeptCollections(store, Clock())
        assert await kept.read() == []
        assert [info.name for info in await kept.read()] == ["notes"]
        await store.close()

    with_store(tmp_path, work)


def test_on_a_server_what_others_wrote_is_seen_after_two_seconds() -> None:
    class Server:
        uri, changes = "http://127.0.0.1:19530", 0
        held: tuple[CollectionInfo, ...] = ()

        async def collections(self) -> list[CollectionInfo]:
            return list(self.held)

    async def work() -> None:
        server, clock = Server(), Clock()
        kept = KeptCollections(server, clock)
        assert await kept.read() == []
        server.held = (NOTES, replace(NOTES, name="others"))
        clock.now = 1.9
        assert await kept.read() == []
        clock.now = 2.0
        assert len(await kept.read()) == 2

    asyncio.run(work())


def test_pages_ask_the_store_once_for_what_they_show_again_and_again(tmp_path: Path, readings: list[int]) -> None:
    note = IngestItem(name="note.md", data=b"# Tables\n\nA truth table with n variables has 2^n rows.\n")
    settings = Settings.load(data_dir=tmp_path, ollama_url="http://127.0.0.1:1", embedding_model="hashing")
    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        before = [engine.collections() for _ in range(3)]
        assert len(readings) == 1
        engine.ingest([note], "mine")
        after = {info.name: info.passages for info in engine.collections()}
    assert [info.name for info in before[0]] == ["samples"]
    assert after["mine"] == 1
