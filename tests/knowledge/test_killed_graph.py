"""A process that is killed while it reads a graph: the job is found, and continues without reading anything twice."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.knowledge.job_steps import knowledge_kinds
from engine.knowledge.jobs import Jobs
from engine.knowledge.manifest import Manifest
from engine.library.values import JobStatus
from engine.model.values import Community, Entity
from tests.support.forks import killed_at_the_end
from tests.support.graph_fakes import FakeExtractor
from tests.support.graph_knowledge import GraphCollections
from tests.support.plain_knowledge import knows

MODEL = "fake:model"
WANTED = Manifest("", "graph", "farm", "", "", graph=MODEL)


def grown(folder: Path) -> GraphCollections:
    """Forty passages in pairs of chains, so that there are several batches and communities."""
    texts = {f"p{number:02}": f"Cause{number // 8} helps effect{number}. Effect{number} helps end{number // 8}."
             for number in range(40)}  # fmt: skip
    return GraphCollections(folder=folder, texts=texts)


class Stalling(FakeExtractor):
    """Waits at a place to be killed, and says so."""

    def __init__(self, place: str, say: Callable[[str], None]) -> None:
        super().__init__()
        self._place = place
        self._say = say

    def _stall(self) -> None:
        self._say("there")
        threading.Event().wait()

    async def extract(self, passages: Any, trace: Any = None) -> Any:
        if self._place == "reading" and self.calls == 3:
            self._stall()
        return await super().extract(passages)

    async def summarise(self, *given: Any) -> Any:
        if self._place == "summarising" and self.summarised == 2:
            self._stall()
        return await super().summarise(*given)


def building(say: Callable[[str], None], folder: Path, place: str) -> None:
    """What the process does that is killed."""

    async def main() -> None:
        jobs = Jobs(folder, knowledge_kinds(knows(grown(folder)), lambda _: Stalling(place, say)))  # type: ignore[arg-type]
        await asyncio.to_thread(jobs.wait, await jobs.begin(jobs.kept(WANTED)))

    asyncio.run(main())


async def contents(graphs: SqliteGraphs) -> tuple[list[Entity], list[Community], dict[str, str]]:
    done = {str(key): value for key, value in (await graphs.done("farm")).items()}
    return await graphs.most_central("farm", 1000), await graphs.communities("farm"), done


def gone_on(folder: Path) -> tuple[JobStatus | None, JobStatus, FakeExtractor, object]:
    """The job as it was found, if one was, how it ended, what was asked for it, and the graph."""

    async def main() -> tuple[JobStatus | None, JobStatus, FakeExtractor, object]:
        farm, extractor = grown(folder), FakeExtractor(name=MODEL)
        jobs = Jobs(folder, knowledge_kinds(knows(farm), lambda _: extractor))  # type: ignore[arg-type]
        try:
            found = next(iter(jobs.all()), None)
            job_id = (await jobs.resume(found.id)).id if found else await jobs.begin(jobs.kept(WANTED))
            ended = await asyncio.to_thread(jobs.wait, job_id)
            return found, ended, extractor, await contents(farm.graphs)
        finally:
            await jobs.close()
            await farm.close()

    return asyncio.run(main())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> object:
    _, ended, extractor, graph = gone_on(tmp_path_factory.mktemp("undisturbed"))
    assert (ended.state, len(extractor.asked), extractor.summarised) == ("done", 40, 5), ended.fault
    return graph


@pytest.mark.parametrize(("place", "read", "summarised"), [("reading", 16, 5), ("summarising", 0, 3)])
def test_a_killed_building_that_is_resumed_ends_with_the_very_same_graph(
    tmp_path: Path, undisturbed: object, place: str, read: int, summarised: int
) -> None:
    """GH-03: nothing is read or summed up twice, and nothing is missing."""
    with killed_at_the_end(building, tmp_path, place) as said:
        assert said.recv() == "there"
    found, ended, extractor, graph = gone_on(tmp_path)
    assert found is not None
    assert (found.state, found.kind, found.extractor) == ("interrupted", "graph", MODEL)
    assert (ended.state, ended.done, ended.total, ended.passages) == ("done", 40, 40, 40), ended.fault
    assert (len(extractor.asked), extractor.summarised) == (read, summarised)
    assert graph == undisturbed
