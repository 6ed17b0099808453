"""Searching a collection whole, by source kind, by summaries first, and texts that no store holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.knowledge.ingest import IngestItem, ingest
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import SOURCE_KINDS, PassageId, SourceKind
from engine.retrieval.search import MOST_SECTIONS, CollectionRetriever
from engine.retrieval.shipped import calibration_of
from engine.roles import StoredPassage, Vector

Run = Callable[[Coroutine[Any, Any, Any]], Any]

BOOK = b"# Book\n\n## Trees\nA tree has leaves.\n\n## Graphs\nA graph has edges and vertices.\n"
LOG = b"---\nkind: temporal\n---\n# Log\n\n## May\nWeak point: edges and vertices of a graph.\n\n## June\nRest.\n"
NOTES = b"---\nkind: graph\n---\n# Notes\n\n## Graph\nGraph: has edges and vertices.\n\n## Tree\nTree: a graph.\n"
EVERYTHING = {"book.md": BOOK, "log.md": LOG, "notes.md": NOTES}


class Shelf:
    """A folder of a store with retrievers for its collections."""

    def __init__(self, folder: Path) -> None:
        self.store = MilvusStore(str(folder / "knowledge.db"))
        self.embedder = HashingEmbedder(64)
        self.folder = folder

    async def retriever(self, name: str, sources: dict[str, bytes]) -> CollectionRetriever:
        await ingest(self.store, self.embedder, name, [IngestItem(key, data=data) for key, data in sources.items()])
        info = await self.store.describe(name)
        calibration = await calibration_of(self.embedder, self.folder, info.context)
        return CollectionRetriever.checked(self.store, self.embedder, info, calibration)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Iterator[Shelf]:
    made = Shelf(tmp_path_factory.mktemp("shelf"))
    yield made
    run(made.store.close())


@pytest.fixture(scope="module")
def everything(shelf: Shelf, run: Run) -> CollectionRetriever:
    found: CollectionRetriever = run(shelf.retriever("all", EVERYTHING))
    return found


def test_each_source_kind_is_searched_by_itself(everything: CollectionRetriever, run: Run) -> None:
    """QL-03: vector, graph and temporal, no matter what the other kinds would have offered."""
    assert run(everything.kinds()) == ("vector", "graph", "temporal")
    sources: dict[SourceKind, str] = {"vector": "book.md", "graph": "notes.md", "temporal": "log.md"}
    for kind, source in sources.items():
        found = run(everything.search_kind("edges and vertices of a graph", kind, 9)).passages
        assert [item.source for item in found] == [source, source]
        assert found[0].similarity > found[1].similarity
        assert len(run(everything.search_kind("edges", kind, 1)).passages) == 1


def test_a_kind_that_a_collection_lacks_finds_nothing(shelf: Shelf, run: Run) -> None:
    """QL-03"""
    retriever = run(shelf.retriever("plain", {"book.md": BOOK}))
    assert run(retriever.kinds()) == ("vector",)
    found = run(retriever.search_kind("graph", "temporal", 9))
    assert found.passages == ()
    assert found.anchors.startswith("en-")


def test_a_plain_search_leaves_out_notes_on_entities_unless_there_is_nothing_else(
    shelf: Shelf, everything: CollectionRetriever, run: Run
) -> None:
    """QL-03: the notes are for those who ask for their kind."""
    assert {item.source for item in run(everything.search("graph edges vertices", 9)).passages} == {"book.md", "log.md"}
    notes = run(shelf.retriever("notes", {"notes.md": NOTES}))
    assert {item.source for item in run(notes.search("graph edges vertices", 9)).passages} == {"notes.md"}


def test_a_hierarchical_search_looks_at_summaries_first_and_then_inside_what_they_tell_of(
    shelf: Shelf, run: Run
) -> None:
    """DL-03"""
    filler = {f"s{n}.md": f"# S{n}\n\n## A{n}\nalpha {n}\n\n## B{n}\nbeta {n}".encode() for n in range(MOST_SECTIONS)}
    retriever = run(shelf.retriever("sections", {**EVERYTHING, **filler}))
    assert run(retriever.has_summaries())
    found = run(retriever.search_sections("Which edges and vertices has a graph?", 9))
    assert len(found.sections) == MOST_SECTIONS
    similarities = [item.similarity for item in found.sections]
    assert similarities == sorted(similarities, reverse=True)
    assert ("book.md", "Graphs") in {(item.source, item.section) for item in found.sections}
    assert all(item.summary for item in found.sections)
    looked_at = {(item.source, item.section) for item in found.sections}
    assert "notes.md" not in {source for source, _ in looked_at}
    inside = found.retrieval.passages
    assert inside[0].source == "book.md"
    assert all({(item.source, ""), (item.source, item.section)} & looked_at for item in inside)
    assert [item.similarity for item in inside] == sorted((item.similarity for item in inside), reverse=True)
    assert len(run(retriever.search_sections("graph", 1)).retrieval.passages) == 1


def test_a_collection_without_summaries_says_so_and_finds_no_section(shelf: Shelf, run: Run) -> None:
    """DL-03: it is shown as skipped, not as failed."""
    run(shelf.retriever("old", {"book.md": BOOK}))
    passages = run(shelf.store.passages("old", "book.md"))
    run(shelf.store.insert("old", passages, run(shelf.embedder.embed_passages([item.text for item in passages]))))
    retriever = run(shelf.retriever("old", {}))
    assert not run(retriever.has_summaries())
    found = run(retriever.search_sections("graph", 5))
    assert (found.sections, found.retrieval.passages) == ((), ())


def web(name: str, text: str) -> StoredPassage:
    return StoredPassage(PassageId(name), f"https://example.org/{name}", text, title=name)


def test_texts_that_no_store_holds_are_measured_like_passages(everything: CollectionRetriever, run: Run) -> None:
    """SC-09, DL-07: a similarity means the same for results of the web, in the collection's form of context (BE-04)."""
    query = "A graph has edges and vertices."
    (stored,) = run(everything.search(query, 1)).passages
    near = StoredPassage(PassageId("near"), "https://example.org/near", stored.text, stored.section, stored.title)
    found = run(everything.measured(query, [web("far", "Soup with noodles"), near]))
    assert [item.id for item in found.passages] == ["near", "far"]
    assert stored.heading and stored.similarity == pytest.approx(found.passages[0].similarity, abs=1e-3)
    (same,) = run(everything.measured(f"{near.heading}\n{near.text}", [near])).passages
    assert same.similarity == pytest.approx(1.0, abs=1e-3)
    assert found.floor == run(everything.search(query, 1)).floor
    assert (found.passages[0].source, found.passages[0].title) == (near.source, near.title)


class Counting(HashingEmbedder):
    """Counts what it is asked to embed."""

    def __init__(self) -> None:
        super().__init__(64)
        self.passages = 0
        self.queries = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.passages += len(texts)
        return await super().embed_passages(texts)

    async def embed_query(self, text: str) -> Vector:
        self.queries += 1
        # As a model in another thread does: others may come in between.
        await asyncio.sleep(0)
        return await super().embed_query(text)


async def counted(shelf: Shelf) -> tuple[Counting, CollectionRetriever]:
    """A search of the whole collection, and how often it embeds."""
    counting = Counting()
    calibration = await calibration_of(counting, shelf.folder)
    info = await shelf.store.describe("all")
    return counting, CollectionRetriever.checked(shelf.store, counting, info, calibration)


def test_nothing_to_measure_is_no_error_and_one_query_is_embedded_once(
    shelf: Shelf, everything: CollectionRetriever, run: Run
) -> None:
    counting, retriever = run(counted(shelf))
    spent = counting.passages
    assert run(retriever.measured("graph", [])).passages == ()
    for search in (retriever.search("graph", 3), retriever.search_sections("graph", 3)):
        run(search)
    run(retriever.search_kind("graph", "graph", 3))
    assert (counting.queries, counting.passages) == (1, spent)
    assert np.isfinite(run(counting.embed_query("graph"))).all()


def test_kinds_searched_at_the_same_time_share_the_vector_of_their_query(
    shelf: Shelf, everything: CollectionRetriever, run: Run
) -> None:
    """QL-03, QL-07: embedding a long question may take longer than all the rest of a round."""
    counting, retriever = run(counted(shelf))

    async def search_all() -> None:
        await asyncio.gather(*(retriever.search_kind("graph", kind, 3) for kind in SOURCE_KINDS))

    run(search_all())
    assert counting.queries == 1


def test_passages_are_measured_by_the_anchors_of_their_language(everything: CollectionRetriever, run: Run) -> None:
    """SC-09: a question in another language is no nearer to what has nothing to do with it."""
    question = "图 graph 有哪些顶点 vertices？"
    found = run(everything.search(question, 3))
    assert found.anchors.startswith("en-")
    vector, calibration = run(everything._embed(question)), everything.parts[3]
    assert found.floor == calibration.floor(vector, "en").value != calibration.floor(vector, "zh").value
    as_asked = run(everything.similarity_of(question, found.passages))
    assert as_asked == [item.similarity for item in found.passages]
