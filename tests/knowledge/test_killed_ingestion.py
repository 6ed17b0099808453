"""A process that is killed in the middle of an ingestion: what continues from there ends as if nothing had happened."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.knowledge.job_steps import knowledge_kinds
from engine.knowledge.jobs import Jobs
from engine.knowledge.journal import Journal
from engine.knowledge.manifest import Manifest
from engine.knowledge.milvus_store import MilvusStore
from engine.library.values import ChunkOptions, JobStatus
from engine.roles import StoredPassage
from tests.support.forks import killed_at_the_end
from tests.support.plain_knowledge import PlainKnowledge, StallingEmbedder, knows

COLLECTION = "notes"
Undisturbed = tuple[dict[str, Any], JobStatus, list[int]]
"""What the collection holds, what the job says, and the batches that were embedded."""


def ingesting(say: Callable[[str], None], folder: Path, place: str, number: int) -> None:
    """What a process does that says when it is at the place, and waits there to be killed."""

    def stalled() -> None:
        say("there")

    def stall_here() -> None:
        stalled()
        threading.Event().wait()

    def before(owner: Any, name: str, times: int = 0) -> None:
        """Stall before the method is called for that many times and once more."""
        honest, calls = getattr(owner, name), []

        def counting(*args: Any, **kwargs: Any) -> Any:
            calls.append(1)
            if len(calls) > times:
                stall_here()
            return honest(*args, **kwargs)

        setattr(owner, name, counting)

    class HalfWriting(MilvusStore):
        """Stalls when some passages of a source stand in the collection and others do not."""

        async def insert(self, collection: str, passages: Any, *rest: Any) -> None:
            if len(passages) > 60:
                assert self._session is not None
                honest = self._session.db.client.upsert

                def half(name: str, rows: Any, **kwargs: Any) -> Any:
                    if name != collection:
                        return honest(name, rows, **kwargs)
                    honest(name, rows[:number], **kwargs)
                    return stall_here()

                self._session.db.client.upsert = half
            await super().insert(collection, passages, *rest)

    embedder = StallingEmbedder(number if place == "embedding" else -1, stalled)
    store = HalfWriting(str(folder / "knowledge.db")) if place == "writing" else None
    knowledge = PlainKnowledge(folder, embedder, store)
    if place == "reading":
        before(Journal, "note", number)
    if place == "planning":
        before(Journal, "plan")
    if place == "written":
        before(Journal, "finish", number)
    if place == "replacing":
        before(MilvusStore, "insert", number)

    async def main() -> None:
        jobs = Jobs(folder, knowledge_kinds(knows(knowledge)))
        job = await jobs.begin(jobs.kept(wanted(folder.parent / "files")))
        await asyncio.to_thread(jobs.wait, job)
        say(str(jobs.status(job)))

    asyncio.run(main())


def text(count: int, word: str) -> str:
    return "# T\n\n" + "".join(f"## S{n}\nThe {word} of number {n} is {n * n}.\n\n" for n in range(count))


def make_files(folder: Path) -> None:
    folder.mkdir()
    (folder / "a.md").write_text(text(20, "root"))
    (folder / "b.md").write_text(text(3, "new branch"))
    (folder / "big.md").write_text(text(100, "leaf"))
    (folder / "broken.md").write_bytes(b"\x89PNG\r\n")
    (folder / "copy.md").write_text(text(20, "root"))
    (folder / "z.txt").write_text("树叶在秋天落下。" * 90, encoding="gb18030")


def wanted(folder: Path) -> Manifest:
    from engine.knowledge.items import items_of

    items, _ = items_of([folder])
    chunks = ChunkOptions(target_tokens=150)
    return Manifest("", "ingest", COLLECTION, "", "", items=tuple(items), chunks=chunks)


async def earlier(knowledge: PlainKnowledge) -> None:
    """What the collection has before: one source that will be replaced, with more passages than its new version."""
    from engine.knowledge.ingest import IngestItem

    await knowledge.ingest([IngestItem("b.md", data=text(9, "old branch").encode())], COLLECTION)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What each process begins with."""
    base = tmp_path_factory.mktemp("before")
    make_files(base / "files")
    (base / "data").mkdir()

    async def main() -> None:
        knowledge = PlainKnowledge(base / "data")
        await earlier(knowledge)
        await knowledge.close()

    asyncio.run(main())
    return base


def killed_at(folder: Path, place: str, number: int) -> None:
    """Begin the job in a process of its own, and kill that when it is at the place."""
    with killed_at_the_end(ingesting, folder, place, number) as said:
        assert said.recv() == "there"


def gone_on(folder: Path) -> tuple[JobStatus, JobStatus, list[int]]:
    """The job as it is found and as it ends when it is resumed, and the batches that had to be embedded for it."""

    async def main() -> tuple[JobStatus, JobStatus, list[int]]:
        embedder = StallingEmbedder()
        knowledge = PlainKnowledge(folder, embedder)
        jobs = Jobs(folder, knowledge_kinds(knows(knowledge)))
        try:
            (found,) = jobs.all()
            await jobs.resume(found.id)
            ended = await asyncio.to_thread(jobs.wait, found.id)
            await jobs.close()
            assert not (folder / "ingest" / found.id).exists()
            return found, ended, embedder.batches
        finally:
            await knowledge.close()

    return asyncio.run(main())


def plain(passages: Sequence[StoredPassage]) -> list[Any]:
    return [
        (
            item.id,
            item.source,
            item.text,
            item.section,
            item.title,
            item.ordinal,
            {key: value for key, value in item.meta.items() if key != "added_at"},
        )
        for item in passages
    ]


def contents(folder: Path) -> dict[str, Any]:
    """All that a collection holds, times left out."""

    async def main() -> dict[str, Any]:
        knowledge = PlainKnowledge(folder)
        store = knowledge.store
        try:
            sources = await store.sources(COLLECTION)
            passages = [item for source in sources for item in await store.passages(COLLECTION, source.source)]
            vectors = await store.vectors(COLLECTION, [item.id for item in passages])
            probe = np.full(64, 0.125, dtype=np.float32)
            summaries = sorted(await store.search_summaries(COLLECTION, probe, 1000), key=lambda hit: hit.passage.id)
            info = await store.describe(COLLECTION)
            return {
                "passages": plain(passages),
                "vectors": {key: row.tobytes() for key, row in vectors.items()},
                "summaries": [(plain([hit.passage]), hit.cosine) for hit in summaries],
                "sources": [
                    (item.source, item.title, item.passages, item.content_hash, item.kind, item.summaries, item.chunks)
                    for item in sources
                ],
                "fingerprint": (info.fingerprint, info.passages, info.sources, info.summaries),
            }
        finally:
            await knowledge.close()

    return asyncio.run(main())


@pytest.fixture(scope="module")
def undisturbed(before: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    base = shutil.copytree(before, tmp_path_factory.mktemp("undisturbed") / "base")
    folder = base / "data"

    embedder = StallingEmbedder()

    async def main() -> JobStatus:
        knowledge = PlainKnowledge(folder, embedder)
        jobs = Jobs(folder, knowledge_kinds(knows(knowledge)))
        try:
            job = await jobs.begin(jobs.kept(wanted(base / "files")))
            return await asyncio.to_thread(jobs.wait, job)
        finally:
            await jobs.close()
            await knowledge.close()

    status = asyncio.run(main())
    return contents(folder), status, embedder.batches


PLACES = [
    ("reading", 3),
    ("planning", 0),
    ("embedding", 6),
    ("writing", 0),
    ("writing", 40),
    ("replacing", 1),
    ("written", 2),
]


@pytest.mark.parametrize(("place", "number"), PLACES)
def test_a_killed_ingestion_that_is_resumed_ends_with_exactly_what_an_undisturbed_one_gives(
    tmp_path: Path, before: Path, undisturbed: Undisturbed, place: str, number: int
) -> None:
    """Nothing twice, nothing missing, at any moment the process died; the store's lock is free again."""
    wanted_contents, wanted_status, wanted_batches = undisturbed
    folder = shutil.copytree(before, tmp_path / "base") / "data"
    killed_at(folder, place, number)
    found, ended, batches = gone_on(folder)
    assert (found.state, found.collection, found.files) == ("interrupted", COLLECTION, 6)
    assert ended.state == "done", ended.fault
    figures = ("added", "replaced", "skipped", "passages", "files", "files_done", "total", "done")
    assert [getattr(ended, name) for name in figures] == [getattr(wanted_status, name) for name in figures]
    assert [(name, fault.code) for name, fault in ended.failed] == [("broken.md", "WB306")]
    assert contents(folder) == wanted_contents
    if place == "embedding":  # what was embedded is not embedded again, and batches are cut as before
        assert batches == wanted_batches[number:]


def test_an_undisturbed_ingestion_says_what_became_of_every_file(undisturbed: Undisturbed) -> None:
    _, status, _ = undisturbed
    assert status.added == ("a.md", "big.md", "z.txt")
    assert status.replaced == ("b.md",)
    assert status.skipped == (("copy.md", "a.md"),)
    assert [name for name, _ in status.failed] == ["broken.md"]
    assert status.files_done == status.files == 6
    assert status.done == status.total == status.passages
