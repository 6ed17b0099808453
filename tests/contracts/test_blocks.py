"""Passages written in blocks of several sources: once by id, whole sources, resumable after a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.errors import FieldTooLong, StoreError
from engine.knowledge.ingest import IngestItem, IngestReport, ingest
from engine.knowledge.journal import Entry, Journal
from engine.knowledge.progress import Pace
from engine.knowledge.source_blocks import SourceBlock
from engine.knowledge.source_writing import Into
from engine.roles import StoredPassage, Vector
from tests.contracts.stores import DIM, Case, axes, passage

FILES = [
    IngestItem(f"f{n:02}.md", data=f"# Title {n}\n\n## One\n\nText {n}.\n\n## Two\n\nMore {n}.".encode())
    for n in range(12)
]


class Watched:
    """A store that counts the passages of every write of passages."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.writes: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.case.store, name)

    async def insert(
        self, collection: str, passages: Sequence[StoredPassage], vectors: Vector, *summaries: Any
    ) -> None:
        self.writes.append(len(passages))
        await self.case.store.insert(collection, passages, vectors, *summaries)


class Counting(HashingEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.texts += texts
        return await super().embed_passages(texts)


def put(
    case: Case, store: Any, journal: Journal | None, *, block: int, embedder: Counting | None = None
) -> IngestReport:
    found: IngestReport = case.run(
        ingest(store, embedder or Counting(), case.name, FILES, journal=journal, block=block)
    )
    return found


def held(case: Case, name: str = "") -> dict[str, tuple[str, int]]:
    """What the collection holds of every source, times of writing left out."""
    return {item.source: (item.content_hash, item.passages) for item in case.run(case.store.sources(name or case.name))}


def test_sources_are_written_together_up_to_the_size_of_a_block(case: Case) -> None:
    store = Watched(case)
    report = put(case, store, None, block=8)
    assert (len(report.added), report.passages) == (12, 24)
    assert store.writes == [8, 8, 8]
    info = case.run(case.store.describe(case.name))
    assert (info.passages, info.sources) == (24, 12)
    alone = Watched(replace(case, name=f"{case.name}_alone"))
    put(alone.case, alone, None, block=0)
    assert alone.writes == [2] * 12
    assert held(case) == held(case, alone.case.name)
    assert info.fingerprint == case.run(case.store.describe(alone.case.name)).fingerprint
    assert info.summaries == case.run(case.store.describe(alone.case.name)).summaries > 0


def test_a_block_that_is_sent_twice_counts_once(case: Case) -> None:
    case.create()
    rows = [passage(f"s{n}.md", ordinal, meta={"content_hash": f"h{n}"}) for n in range(4) for ordinal in (1, 2)]
    for _ in range(2):
        case.insert(*rows, vectors=axes(8))
    info = case.run(case.store.describe(case.name))
    assert (info.passages, info.sources) == (8, 4)
    assert len(case.run(case.store.search(case.name, axes(1)[0], 50))) == 8
    assert {name: facts[0] for name, facts in held(case).items()} == {f"s{n}.md": f"h{n}" for n in range(4)}


def test_a_block_that_fails_half_way_leaves_what_the_next_one_completes(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is embedded a second time, and what is there in the end is what an undisturbed one would have made."""
    path = tmp_path / "journal.db"
    journal = Journal(path)
    honest = case.store.insert
    blocks: list[int] = []

    async def breaking(collection: str, passages: Sequence[StoredPassage], vectors: Vector, *rest: Any) -> None:
        blocks.append(len(passages))
        if len(blocks) < 2:
            await honest(collection, passages, vectors, *rest)
            return
        session = case.store._session
        assert session is not None
        upsert = session.db.client.upsert

        def half(name: str, rows: list[Any], **named: Any) -> Any:
            if name != collection:
                return upsert(name, rows, **named)
            upsert(name, rows[:3], **named)
            raise OSError(5, "gone")

        with monkeypatch.context() as patched:
            patched.setattr(session.db.client, "upsert", half)
            await honest(collection, passages, vectors, *rest)

    first = Counting()
    with monkeypatch.context() as patched:
        patched.setattr(case.store, "insert", breaking)
        with pytest.raises(StoreError):
            put(case, case.store, journal, block=8, embedder=first)
    journal.close()
    whole = {name for name, (content_hash, _) in held(case).items() if content_hash}
    assert whole == {f"f{n:02}.md" for n in range(4)}
    again, journal = Counting(), Journal(path)
    report = put(case, case.store, journal, block=8, embedder=again)
    journal.close()
    assert len(report.added) == 12
    assert not set(again.texts) & set(first.texts)
    undisturbed = replace(case, name=f"{case.name}_whole")
    put(undisturbed, case.store, None, block=0)
    assert held(case) == held(case, undisturbed.name)
    described = [case.run(case.store.describe(name)) for name in (case.name, undisturbed.name)]
    assert described[0].fingerprint == described[1].fingerprint


def test_a_source_that_a_stop_finds_waiting_is_written(case: Case) -> None:
    class Stop(Exception):
        pass

    def stop(progress: Any) -> None:
        if progress.done >= 6:
            raise Stop

    with pytest.raises(Stop):
        case.run(ingest(case.store, Counting(), case.name, FILES, stop, block=1000))
    assert set(held(case)) == {"f00.md", "f01.md"}
    assert all(content_hash for content_hash, _ in held(case).values())


def test_a_source_that_the_store_cannot_hold_fails_alone_in_its_block(case: Case) -> None:
    case.create()
    journal = Journal(None)
    pace = Pace(None)
    into = Into(case.store, HashingEmbedder(DIM), case.name, pace, journal, 1000)
    names = ["a.md", "b.md", "c.md"]
    entries = [Entry(place, name, "new", f"h{place}", 1) for place, name in enumerate(names)]

    async def work() -> None:
        pace.planned(entries)
        async with SourceBlock(into) as block:
            for entry in entries:
                section = "s" * 3000 if entry.name == "b.md" else ""
                meta = {"content_hash": entry.content_hash}
                row = passage(entry.name, 1, "words", section=section, meta=meta)
                await block.add(entry, [row], "added", replaces=False)

    case.run(work())
    journal.close()
    report = pace.report()
    assert report.added == ("a.md", "c.md")
    assert [(name, fault.code) for name, fault in report.failed] == [("b.md", FieldTooLong.code)]
    assert set(held(case)) == {"a.md", "c.md"}


def test_a_server_is_written_to_in_blocks_and_an_embedded_store_source_by_source(case: Case) -> None:
    assert (case.store.block > 0) == ("://" in case.store.uri)
