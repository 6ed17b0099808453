"""Searching by vectors, by words and by both: another order, the same similarity, and every place named."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.builtin.full_text import SEGMENTING
from engine.errors import FullTextMissing
from engine.knowledge import milvus_words
from engine.knowledge.ingest import IngestItem, ingest
from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_schema import Layout, create_passages
from engine.knowledge.milvus_store import MilvusStore
from engine.model.config import RunConfig, SearchMethod
from engine.model.decide import gated
from engine.retrieval.reciprocal import FOREIGN_TEXT_WEIGHT, LEAST_DEPTH, TEXT_WEIGHT, by_reciprocal_rank
from engine.retrieval.search import CollectionRetriever
from engine.retrieval.shipped import calibration_of
from engine.retrieval.similarity import Calibration

Run = Callable[[Coroutine[Any, Any, Any]], Any]
METHODS: tuple[SearchMethod, ...] = ("vector", "full_text", "fused")

SOURCES = {
    "book.md": "# Book\n\n## Trees\nA tree has leaves.\n\n## Graphs\nA graph has edges and vertices.\n"
    + "".join(f"\n## Filler {n}\nThe filler number {n} says nothing at all of that.\n" for n in range(30)),
    "log.md": "---\nkind: temporal\n---\n# Log\n\n## May\nWeak point: edges of a graph.\n\n## June\nRest.\n",
    "notes.md": "---\nkind: graph\n---\n# Notes\n\n## Graph\nGraph: has edges and vertices.\n",
}
QUERY = "edges and vertices of a graph"


Shelf = Callable[[SearchMethod], CollectionRetriever]


@pytest.fixture
def store(tmp_path: Path, run: Run) -> Iterator[MilvusStore]:
    made = MilvusStore(str(tmp_path / "knowledge.db"))
    yield made
    run(made.close())


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Iterator[Shelf]:
    folder: Path = tmp_path_factory.mktemp("shelf")
    store = MilvusStore(str(folder / "knowledge.db"))
    embedder = HashingEmbedder(64)
    items = [IngestItem(name, data=text.encode()) for name, text in SOURCES.items()]

    async def filled() -> Calibration:
        await ingest(store, embedder, "all", items)
        return await calibration_of(embedder, folder)

    calibration = run(filled())

    def made(method: SearchMethod) -> CollectionRetriever:
        return CollectionRetriever.checked(store, embedder, run(store.describe("all")), calibration, method)

    yield made
    run(store.close())


def test_a_passage_has_the_same_similarity_whatever_found_it(shelf: Shelf, run: Run) -> None:
    """SC-02: the threshold is about the vectors, also where the order comes from elsewhere."""
    found = {method: run(shelf(method).search(QUERY, 99)) for method in METHODS}
    by_vector = {item.id: item for item in found["vector"].passages}
    for method in METHODS:
        assert (found[method].floor, found[method].anchors) == (found["vector"].floor, found["vector"].anchors)
        for item in found[method].passages:
            assert item.similarity == pytest.approx(by_vector[item.id].similarity, abs=1e-5)
            assert item.raw_score == pytest.approx(by_vector[item.id].raw_score, abs=1e-5)


def test_places_and_scores_are_reported_by_the_methods_that_have_them(shelf: Shelf, run: Run) -> None:
    by_vector, by_words, fused = (run(shelf(method).search(QUERY, 5)).passages for method in METHODS)
    assert all((item.vector_rank, item.text_rank, item.text_score) == (None, None, None) for item in by_vector)
    assert [(item.vector_rank, item.text_rank) for item in by_words] == [(None, n + 1) for n in range(len(by_words))]
    scores = [item.text_score or 0 for item in by_words]
    assert scores == sorted(scores, reverse=True) and scores[-1] > 0
    everything = run(shelf("vector").search(QUERY, LEAST_DEPTH)).passages
    places = {item.id: place for place, item in enumerate(everything, start=1)}
    all_by_words = {item.id: item.text_rank for item in run(shelf("full_text").search(QUERY, LEAST_DEPTH)).passages}
    assert len(fused) == 5
    for item in fused:
        assert item.vector_rank == places.get(item.id)
        assert item.text_rank == all_by_words.get(item.id)
        assert item.vector_rank or item.text_rank


@pytest.mark.parametrize(
    ("query", "weight"),
    [("Which number has leaves?", TEXT_WEIGHT), ("哪个 number 有 leaves？", FOREIGN_TEXT_WEIGHT["zh"])],
)
def test_words_count_differently_where_the_passages_are_in_another_language(
    shelf: Shelf, run: Run, query: str, weight: float
) -> None:
    by_vector, by_words = (run(shelf(method).search(query, LEAST_DEPTH)).passages for method in METHODS[:2])
    by_weight = {
        tried: [item.id for item in by_reciprocal_rank(by_vector, by_words, 5, tried)]
        for tried in (TEXT_WEIGHT, *FOREIGN_TEXT_WEIGHT.values())
    }
    assert len({tuple(order) for order in by_weight.values()}) == 3
    assert [item.id for item in run(shelf("fused").search(query, 5)).passages] == by_weight[weight]


def test_the_gate_looks_at_the_similarity_and_not_at_the_place_that_words_gave(shelf: Shelf, run: Run) -> None:
    """SC-02"""
    config = RunConfig(search="full_text", similarity_threshold=0.5, top_k=5)
    candidates = gated(run(shelf("full_text").search(QUERY, 5)).passages, config)
    assert [item.rank for item in candidates] == [item.passage.text_rank for item in candidates]
    for item in candidates:
        assert item.gate == ("kept" if item.passage.similarity >= 0.5 else "below_threshold")
        assert item.margin == pytest.approx(item.passage.similarity - 0.5, abs=1e-6)
    assert {item.gate for item in candidates} == {"kept", "below_threshold"}


def test_the_first_of_a_fused_search_do_not_depend_on_how_many_are_asked_for(shelf: Shelf, run: Run) -> None:
    longest = run(shelf("fused").search(QUERY, LEAST_DEPTH)).passages
    for limit in (1, 5, 12):
        assert run(shelf("fused").search(QUERY, limit)).passages == longest[:limit]


@pytest.mark.parametrize("method", METHODS)
def test_kinds_and_sections_are_searched_by_every_method(shelf: Shelf, run: Run, method: SearchMethod) -> None:
    """QL-03, DL-03"""
    retriever = shelf(method)
    assert {item.source for item in run(retriever.search(QUERY, 99)).passages} == {"book.md", "log.md"}
    assert {item.source for item in run(retriever.search_kind(QUERY, "temporal", 9)).passages} == {"log.md"}
    assert {item.source for item in run(retriever.search_kind(QUERY, "graph", 9)).passages} == {"notes.md"}
    inside = run(retriever.search_sections(QUERY, 9))
    looked_at = {(item.source, item.section) for item in inside.sections}
    passages = inside.retrieval.passages
    assert passages and all({(item.source, ""), (item.source, item.section)} & looked_at for item in passages)


def test_a_query_without_a_word_that_is_there_finds_nothing_by_words_and_the_same_as_vectors_where_both_look(
    shelf: Shelf, run: Run
) -> None:
    for query in ("？！", "zebra"):
        assert run(shelf("full_text").search(query, 5)).passages == ()
        by_vector = run(shelf("vector").search(query, 5)).passages
        assert [item.id for item in run(shelf("fused").search(query, 5)).passages] == [item.id for item in by_vector]


def test_a_record_says_how_was_searched_and_by_which_rules_words_were_cut(shelf: Shelf) -> None:
    assert shelf("vector").manifest["search"] == "vector"
    assert "passage_words" not in shelf("vector").manifest
    manifest = shelf("fused").manifest
    assert (manifest["search"], manifest["passage_words"], manifest["query_words"]) == ("fused", SEGMENTING, SEGMENTING)


def test_without_full_text_words_alone_are_refused_and_both_become_meaning_alone(
    store: MilvusStore, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = HashingEmbedder(64)
    run(store.collections())
    assert store._session is not None
    monkeypatch.setattr(store._session._words, "_analyzer", "")
    run(ingest(store, embedder, "all", [IngestItem("book.md", data=SOURCES["book.md"].encode())]))
    info, calibration = run(store.describe("all")), run(calibration_of(embedder, tmp_path))
    with pytest.raises(FullTextMissing, match="'all'"):
        CollectionRetriever.checked(store, embedder, info, calibration, "full_text")
    both = CollectionRetriever.checked(store, embedder, info, calibration, "fused")
    by_vector = CollectionRetriever.checked(store, embedder, info, calibration, "vector")
    assert both.manifest == by_vector.manifest
    assert both.manifest["search"] == "vector"
    assert run(both.search(QUERY, 1)) == run(by_vector.search(QUERY, 1))
    assert run(both.search(QUERY, 1)).passages[0].source == "book.md"


def test_a_store_that_refuses_full_text_after_all_gets_collections_without_it(
    store: MilvusStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server of the right version may have been set up without."""
    honest = create_passages

    def refusing(db: Database, layout: Layout, analyzer: str = "") -> None:
        if analyzer:
            raise ValueError("unknown tokenizer")
        honest(db, layout)

    monkeypatch.setattr(milvus_words, "create_passages", refusing)
    run(ingest(store, HashingEmbedder(64), "all", [IngestItem("book.md", data=SOURCES["book.md"].encode())]))
    info = run(store.describe("all"))
    assert (info.full_text, info.segmenting, info.passages > 30) == (False, "", True)
    with pytest.raises(FullTextMissing, match="cannot search by words"):
        run(store.add_full_text("all"))
