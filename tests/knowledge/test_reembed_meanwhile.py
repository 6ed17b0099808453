"""A re-embedding whose collection changes while it is under way, and one that is interrupted within a source."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.errors import StoreError
from engine.knowledge.journal import Journal
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.progress import Progress
from engine.knowledge.reembed import reembed
from tests.contracts.stores import Case, axes, passage
from tests.knowledge.test_reembed import CountingEmbedder, OneStore
from tests.support.errors import raises


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    """A collection of three sources, the second of forty passages."""
    with asyncio.Runner() as runner:
        case = Case(MilvusStore(str(tmp_path / "knowledge.db"), timeout_s=30), "docs", runner.run)
        case.create()
        for source, count in (("a.md", 2), ("b.md", 40), ("c.md", 1)):
            _put(case, source, count, f"hash {source}")
        yield case
        runner.run(case.store.close())


def _put(case: Case, source: str, count: int, content_hash: str) -> None:
    meta = {"content_hash": content_hash}
    rows = [passage(source, n + 1, f"{content_hash} text {n}", meta=meta) for n in range(count)]
    case.insert(*rows, vectors=axes(count))


class Meanwhile(CountingEmbedder):
    """Changes the collection while a text is embedded, once."""

    def __init__(self, at: str, change: Callable[[], object]) -> None:
        super().__init__()
        self.at = at
        self.change = change

    async def embed_passages(self, texts):  # type: ignore[no-untyped-def]
        if self.at and any(text.startswith(self.at) for text in texts):
            self.at = ""
            await self.change()  # type: ignore[misc]
        return await super().embed_passages(texts)


def _sources(case: Case, collection: str) -> dict[str, str]:
    return {item.source: item.content_hash for item in case.run(case.store.sources(collection))}


def test_what_changes_meanwhile_goes_with_the_switch(case: Case, tmp_path: Path) -> None:
    """A source that was done already gets other content, one is new, and one is gone: for good, and not back again."""

    async def change() -> None:
        store = case.store
        await store.delete_source("docs", "a.md")
        rows = [passage("a.md", 1, "other", meta={"content_hash": "hash of the change"})]
        await store.insert("docs", rows, axes(1))
        await store.insert("docs", [passage("d.md", 1, meta={"content_hash": "hash d.md"})], axes(1))
        await store.delete_source("docs", "b.md")

    journal = Journal(tmp_path / "journal.db")
    knowledge = OneStore(case.store, Meanwhile("hash c.md", change))
    report = case.run(reembed(knowledge, "docs", "copy", "model:b", switch=True, journal=journal))
    journal.close()
    assert _sources(case, "docs") == {"a.md": "hash of the change", "c.md": "hash c.md", "d.md": "hash d.md"}
    assert case.run(case.store.describe("docs")).embedding_model == "model:b"
    assert report.added == ("a.md", "c.md", "d.md")


def test_a_copy_with_former_content_never_takes_the_place(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.knowledge.reembed._PASSES", 1)

    async def change() -> None:
        await case.store.delete_source("docs", "a.md")
        await case.store.insert("docs", [passage("a.md", n, meta={"content_hash": "another"}) for n in (1, 2)], axes(2))

    knowledge = OneStore(case.store, Meanwhile("hash c.md", change))
    with raises(StoreError.nothing_to_switch):
        case.run(reembed(knowledge, "docs", "copy", "model:b", switch=True))
    assert case.run(case.store.describe("docs")).embedding_model == "model:a"


def test_no_vector_of_an_interrupted_source_is_made_twice(case: Case, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done > 20:
            raise Stop

    path = tmp_path / "journal.db"
    first, journal = CountingEmbedder(), Journal(path)
    with pytest.raises(Stop):
        case.run(reembed(OneStore(case.store, first), "docs", "copy", "model:b", stop, journal=journal))
    journal.close()
    assert sum(text.startswith("hash b.md") for text in first.texts) >= 16
    again, journal = CountingEmbedder(), Journal(path)
    report = case.run(reembed(OneStore(case.store, again), "docs", "copy", "model:b", journal=journal))
    journal.close()
    assert not set(first.texts) & set(again.texts)
    assert report.added == ("a.md", "b.md", "c.md")
    assert case.run(case.store.describe("copy")).fingerprint == case.run(case.store.describe("docs")).fingerprint
