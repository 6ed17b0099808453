"""The file of knowledge graphs: shared, torn, newer, unwritable; every fault has a remedy (GH-03)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EngineClosed, GraphStoreError
from engine.knowledge.graph import sqlite_writing
from engine.knowledge.graph.sqlite_file import FORMAT
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from tests.support.errors import raises
from tests.support.graphs import reading


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "graphs.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteGraphs]:
    opened = SqliteGraphs(path)
    yield opened
    run(opened.close())


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def refused(store: SqliteGraphs) -> GraphStoreError:
    with pytest.raises(GraphStoreError) as raised:
        run(store.describe("docs"))
    assert raised.value.remedy
    return raised.value


def test_a_look_makes_no_file(path: Path, store: SqliteGraphs) -> None:
    assert run(store.look()).graphs == 0
    assert not path.exists()
    run(store.begin("docs", "builtin"))
    place = run(store.look())
    assert (place.graphs, place.size) == (1, place.size)
    assert place.size


def test_a_file_that_is_no_database_is_damaged(path: Path, store: SqliteGraphs) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    assert refused(store).code == GraphStoreError.damaged.code
    assert path.read_bytes().startswith(b"no database"), "nothing is thrown away"


def test_a_file_without_its_tables_is_damaged(path: Path, store: SqliteGraphs) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {FORMAT}")
    db.close()
    assert refused(store).code == GraphStoreError.damaged.code


def test_a_file_of_a_newer_version_is_left_as_it_is(path: Path, store: SqliteGraphs) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.close()
    assert refused(store).code == GraphStoreError.file_newer.code


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file", encoding="utf-8")
    error = refused(SqliteGraphs(tmp_path / "data" / "graphs.db"))
    assert error.code == GraphStoreError.file_unusable.code
    assert "graphs.db" in error.fact


def test_a_closed_store_says_so(store: SqliteGraphs) -> None:
    run(store.begin("docs", "builtin"))
    run(store.close())
    run(store.close())
    with pytest.raises(EngineClosed):
        run(store.describe("docs"))


def test_what_fails_half_way_leaves_no_trace(store: SqliteGraphs, monkeypatch: pytest.MonkeyPatch) -> None:
    run(store.begin("docs", "builtin"))
    run(store.add("docs", [reading("p1", "A -X-> B")]))
    before = run(store.most_central("docs", 9))

    def fails(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(sqlite_writing, "_rebuild", fails)
    with raises(GraphStoreError.file_unusable):
        run(store.add("docs", [reading("p1", "C"), reading("p2", "D")]))
    assert run(store.most_central("docs", 9)) == before
    assert run(store.done("docs")) == {"p1": "h1"}


def test_several_processes_write_one_file_at_once(path: Path, store: SqliteGraphs) -> None:
    other = SqliteGraphs(path)

    async def both() -> None:
        await asyncio.gather(store.begin("docs", "builtin"), other.begin("docs", "builtin"))
        adding = [
            kept.add("docs", [reading(f"{name} {number}", f"Shared -X-> {name} {number}")])
            for number in range(12)
            for name, kept in (("one", store), ("two", other))
        ]
        await asyncio.gather(*adding, *(store.names("docs") for _ in range(8)))

    try:
        run(both())
        assert run(other.describe("docs")).passages == 24
        (shared,) = run(store.named("docs", ["shared"]))
        assert (shared.degree, len(shared.passages)) == (24, 24)
    finally:
        run(other.close())


def test_another_passage_store_with_the_same_names_has_graphs_of_its_own(path: Path, store: SqliteGraphs) -> None:
    elsewhere = SqliteGraphs(path, "http://milvus:19530")
    try:
        run(store.begin("docs", "builtin"))
        assert run(elsewhere.describe("docs")) is None
        assert run(elsewhere.drop("docs")) is False
        assert run(store.describe("docs")) is not None
    finally:
        run(elsewhere.close())
