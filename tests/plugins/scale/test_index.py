"""The index of a collection on a server: changed on request, measured against exact search, never lost by a crash."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from engine.errors import StoreError
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.progress import Progress
from engine.roles import StoredPassage, Vector
from plugins.scale.choice import build_of
from plugins.scale.errors import INDEX_FIXED
from plugins.scale.indexes import Indexes
from plugins.scale.recall import measure_recall
from plugins.scale.values import IndexKind
from plugins.scale.work import work_on_index
from tests.contracts.stores import DIM, Case, clean_up, passage
from tests.support.errors import raises

MANY = 1500
"""A server indexes segments of 1 024 passages and more."""


@pytest.fixture
def on_server(milvus_here: str) -> Iterator[Case]:
    """A collection of many passages in clusters, on a server."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    with asyncio.Runner() as runner:
        store = MilvusStore(milvus_here, timeout_s=30)
        case = Case(store, name, runner.run)
        case.create()
        case.insert(*passages(), vectors=clustered())
        yield case
        runner.run(store.close())
        clean_up(milvus_here, name)


def passages() -> Sequence[StoredPassage]:
    return [passage(f"s{number // 50:02}.md", number % 50 + 1) for number in range(MANY)]


def clustered() -> Vector:
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(30, DIM))[draw.integers(30, size=MANY)] + 0.4 * draw.normal(size=(MANY, DIM))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def quiet(_: Progress) -> None:
    """Nothing is looked at."""


def job(case: Case, kind: IndexKind | None, report: Callable[[Progress], None] = quiet) -> int:
    return int(case.run(work_on_index(Indexes(case.store), case.name, kind, report)))


@pytest.mark.milvus_server
def test_on_a_server_a_collection_gets_another_index_and_is_measured_with_it(on_server: Case) -> None:
    case = on_server
    seen: list[Progress] = []
    assert job(case, "HNSW", seen.append) == MANY
    state = case.run(Indexes(case.store).state(case.name))
    assert (state.kind, state.parameter, state.build) == ("HNSW", "ef", {"M": 16, "efConstruction": 200})
    assert (state.indexed, state.rows) == (MANY, MANY)
    # The breadth that such an index begins with is recorded for all who search it.
    assert state.breadth == case.run(case.store.describe(case.name)).breadth == 128
    figures = case.run(Indexes(case.store).recall(case.name))
    assert (figures.kind, figures.passages, figures.limit, figures.questions) == ("HNSW", MANY, 10, 100)
    assert [row.breadth for row in figures.rows] == [16, 32, 64, 128, 256, 512]
    assert figures.rows[-1].recall > 0.99
    assert all(row.median_ms > 0 for row in figures.rows)
    assert [item.state for item in seen if item.state == "indexing"]
    assert (seen[-1].state, seen[-1].done, seen[-1].total) == ("measuring", MANY, MANY)


@pytest.mark.milvus_server
def test_on_a_server_a_narrow_search_finds_less_and_the_breadth_in_use_decides(on_server: Case) -> None:
    case = on_server
    job(case, "IVF_FLAT")
    figures = case.run(Indexes(case.store).recall(case.name))
    recalls = [row.recall for row in figures.rows]
    assert recalls == sorted(recalls)
    assert recalls[-1] > 0.99
    query = clustered()[0]

    def found(breadth: int) -> list[str]:
        case.run(Indexes(case.store).set_breadth(case.name, breadth))
        hits = case.run(case.store.search(case.name, query, 200))
        return [hit.passage.id for hit in hits]

    scores = clustered() @ query
    exact = {passages()[place].id for place in np.argsort(-scores)[:200]}
    narrow, broad = set(found(1)) & exact, set(found(512)) & exact
    assert len(narrow) < len(broad) == 200


@pytest.mark.milvus_server
def test_on_a_server_exact_search_finds_everything(on_server: Case) -> None:
    job(on_server, "FLAT")
    figures = on_server.run(Indexes(on_server.store).recall(on_server.name))
    assert [(row.breadth, row.recall) for row in figures.rows] == [(0, 1.0)]
    assert on_server.run(on_server.store.describe(on_server.name)).breadth == 0


@pytest.mark.milvus_server
def test_on_a_server_a_measurement_alone_changes_nothing_and_goes_with_the_name(on_server: Case) -> None:
    case = on_server
    before = case.run(Indexes(case.store).state(case.name))
    assert before.kind == "AUTOINDEX"
    job(case, None)
    assert case.run(Indexes(case.store).state(case.name)).kind == "AUTOINDEX"
    figures = case.run(Indexes(case.store).recall(case.name))
    assert [row.breadth for row in figures.rows] == [0]
    case.run(case.store.rename(case.name, f"{case.name}_new"))
    assert case.run(Indexes(case.store).recall(f"{case.name}_new")) == figures
    case.create()
    assert case.run(Indexes(case.store).recall(case.name)) is None


@pytest.mark.milvus_server
def test_on_a_server_a_crash_without_an_index_is_finished_by_the_next_opening(
    on_server: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = on_server
    dead = OSError(5, "gone")

    def dies(*args: Any, **kwargs: Any) -> Any:
        raise dead

    with monkeypatch.context() as patched:
        patched.setattr(case.client(), "create_index", dies)
        with pytest.raises(StoreError):
            case.run(Indexes(case.store).change(case.name, "IVF_SQ8", build_of("IVF_SQ8", MANY)))
    assert case.client().list_indexes(case.name) == []
    again = MilvusStore(case.store.uri, timeout_s=30)
    try:
        state = case.run(Indexes(again).state(case.name))
        hits = case.run(again.search(case.name, clustered()[0], 5))
    finally:
        case.run(again.close())
    assert state.kind == "IVF_SQ8"
    assert hits[0].passage.id == passages()[0].id


@pytest.mark.milvus_server
def test_on_a_server_searches_of_this_process_wait_for_a_change_and_do_not_fail(on_server: Case) -> None:
    case = on_server
    case.run(case.store.search(case.name, clustered()[0], 5))
    stop, faults, found = threading.Event(), [], [0]

    async def searching() -> None:
        while not stop.is_set():
            try:
                found[0] += len(await case.store.search(case.name, clustered()[0], 5)) == 5
            except Exception as error:
                faults.append(error)
            await asyncio.sleep(0)

    async def both() -> None:
        task = asyncio.create_task(searching())
        await Indexes(case.store).change(case.name, "HNSW", build_of("HNSW", MANY))
        await Indexes(case.store).use(case.name)
        stop.set()
        await task

    case.run(both())
    assert faults == []
    assert found[0] > 0


@pytest.mark.milvus_server
def test_on_a_server_what_was_written_is_indexed_when_it_is_settled(on_server: Case) -> None:
    """Before that a server searches with a makeshift index, which finds far less."""
    case = on_server
    assert case.run(Indexes(case.store).state(case.name)).rows == 0
    case.run(case.store.settle(case.name, MANY))
    assert case.run(Indexes(case.store).state(case.name)).rows == MANY


def test_an_embedded_store_is_exact_and_has_no_other_index(case: Case) -> None:
    if not case.store.uri.endswith(".db"):
        pytest.skip("of the embedded store")
    case.create()
    case.insert(*(passage("a.md", number + 1) for number in range(40)), vectors=clustered()[:40])
    state = case.run(Indexes(case.store).state(case.name))
    assert (state.kind, state.indexed, state.rows, state.changeable) == ("FLAT", 40, 40, False)
    figures = case.run(measure_recall(Indexes(case.store), case.name, questions=10))
    assert [(row.breadth, row.recall) for row in figures.rows] == [(0, 1.0)]
    with raises(INDEX_FIXED):
        case.run(Indexes(case.store).change(case.name, "HNSW", {}))
