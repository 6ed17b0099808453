"""A re-embedding into another collection of a server: as a job, interrupted, and switched under running searches."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.errors import WorkbenchError
from engine.knowledge.job_steps import knowledge_kinds
from engine.knowledge.jobs import Jobs
from engine.knowledge.manifest import Manifest
from engine.knowledge.milvus_store import MilvusStore
from engine.library.values import JobStatus
from engine.roles import CollectionInfo
from tests.contracts.stores import Case, clean_up, passage
from tests.support.plain_knowledge import PlainKnowledge, StallingEmbedder

SOURCES, EACH, WIDTH = 30, 50, 32


@pytest.fixture
def case(milvus_here: str) -> Iterator[Case]:
    """A collection on a server that another model has embedded."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    with asyncio.Runner() as runner:
        store = MilvusStore(milvus_here, timeout_s=30)
        case = Case(store, name, runner.run)
        runner.run(store.create(CollectionInfo.new(name, HashingEmbedder(WIDTH))))
        rows = [
            passage(f"s{number:02}.md", ordinal + 1, f"words {number} {ordinal}", meta={"content_hash": f"h{number}"})
            for number in range(SOURCES)
            for ordinal in range(EACH)
        ]
        vectors = np.random.default_rng(1).normal(size=(len(rows), WIDTH)).astype(np.float32)
        runner.run(store.insert(name, rows, vectors))
        yield case
        runner.run(store.close())
        clean_up(milvus_here, name)


def wanted(case: Case) -> Manifest:
    copy = f"{case.name}_copy"
    return Manifest("", "reembed", copy, "", "", embedding_model="hashing", origin=case.name, switch=True)


async def ended(jobs: Jobs, job_id: str) -> JobStatus:
    return await asyncio.to_thread(jobs.wait, job_id, 60)


class ServerKnowledge(PlainKnowledge):
    """The plain knowledge base on a server."""

    async def own_store(self) -> MilvusStore:
        return self.store

    async def passages(self, collection: str, source: str) -> Any:
        return await self.store.passages(collection, source)


@pytest.mark.milvus_server
def test_on_a_server_an_interrupted_re_embedding_is_resumed_and_switches_at_its_end(case: Case, tmp_path: Path) -> None:
    """The first process stops in the middle of a source, the second one embeds only what the first one had not."""
    before = case.run(case.store.describe(case.name))

    async def interrupted() -> list[int]:
        embedder = StallingEmbedder(stall_at=40)
        stalled = asyncio.Event()
        embedder.on_stall = stalled.set
        jobs = Jobs(tmp_path, knowledge_kinds(ServerKnowledge(tmp_path, embedder, case.store)))  # type: ignore[arg-type]
        await jobs.begin(jobs.kept(wanted(case)))
        await stalled.wait()
        await jobs.close()
        return embedder.batches

    async def resumed() -> tuple[JobStatus, JobStatus, list[int]]:
        embedder = StallingEmbedder()
        jobs = Jobs(tmp_path, knowledge_kinds(ServerKnowledge(tmp_path, embedder, case.store)))  # type: ignore[arg-type]
        (found,) = jobs.all()
        await jobs.resume(found.id)
        status = await ended(jobs, found.id)
        await jobs.close()
        return found, status, embedder.batches

    first = case.run(interrupted())
    assert case.run(case.store.describe(case.name)) == before
    found, status, second = case.run(resumed())
    assert (found.state, found.files) == ("interrupted", 0)
    assert 0 < found.done < found.total == SOURCES * EACH
    assert status.state == "done", status.fault
    assert len(status.added) == SOURCES
    after = case.run(case.store.describe(case.name))
    assert (after.dim, after.passages, after.fingerprint) == (64, before.passages, before.fingerprint)
    assert case.run(case.store.describe(f"{case.name}_before")).dim == WIDTH
    whole = sum(first) + sum(second)
    assert whole == before.passages + after.summaries


@pytest.mark.milvus_server
def test_on_a_server_a_name_is_never_gone_while_its_copy_takes_the_place(case: Case, tmp_path: Path) -> None:
    """Neither for this process nor for another that is connected to the same server."""
    job = wanted(case)
    case.run(case.store.create(CollectionInfo.new(job.collection, HashingEmbedder(WIDTH))))
    rows = case.run(case.store.passages(case.name, "s00.md"))
    vectors = np.random.default_rng(2).normal(size=(len(rows), WIDTH)).astype(np.float32)
    case.run(case.store.insert(job.collection, rows, vectors))
    stop, faults, looked = threading.Event(), [], [asyncio.Event(), asyncio.Event()]
    other = MilvusStore(case.store.uri, timeout_s=30)

    async def looking(store: MilvusStore, place: int) -> None:
        while not stop.is_set():
            try:
                await store.describe(case.name)
                await store.search(case.name, vectors[0], 3)
                looked[place].set()
            except WorkbenchError as error:
                faults.append((place, error.code, error.params))
            await asyncio.sleep(0)

    async def switched() -> None:
        tasks = [asyncio.create_task(looking(store, place)) for place, store in enumerate((case.store, other))]
        await asyncio.gather(*(event.wait() for event in looked))
        await case.store.take_place(case.name, job.collection, f"{case.name}_before")
        stop.set()
        await asyncio.gather(*tasks)
        await other.close()

    case.run(switched())
    assert faults == []
    assert case.run(case.store.describe(case.name)).passages == EACH
    assert case.run(case.store.describe(f"{case.name}_before")).passages == SOURCES * EACH
