"""The modes on a real collection and a real graph: what each finds, and what it says where it cannot: GH-02."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.errors import GraphStoreError, StoreError
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.knowledge.ingest import IngestItem, ingest
from engine.knowledge.milvus_store import MilvusStore
from engine.model.config import Mode
from engine.model.values import LISTS_OF_MODE, Community, PassageId
from engine.retrieval import modes
from engine.retrieval.graph_looks import GraphLooks
from engine.retrieval.mode_values import ModeFound, ModeRequest
from engine.retrieval.modes import ModeSearch
from engine.retrieval.ordering import order
from engine.retrieval.search import CollectionRetriever
from engine.retrieval.shipped import calibration_of
from engine.roles import CollectionInfo, StoredPassage
from engine.roles.graph import GraphStore, PassageGraph, ReadEntity, ReadRelationship
from tests.support.mode_fakes import graph_config

NAME = "letters"
SOURCES = {
    "dates.md": "---\nkind: temporal\n---\n# Log\n\n## Week of 2025-11-02\nThe harbour was closed.\n",
    "notes.md": "---\nkind: graph\n---\n# Notes\n\n## Aldous\nAldous: brother of Berta.\n",
    "town.md": "# Town\n\n## One\nAldous is the brother of Berta.\n\n## Two\nBerta owns the old lighthouse.\n"
    "\n## Three\nThe lighthouse was built in spring by sailors.\n"
    + "".join(f"\n## Filler {n}\nNumber {n} of things that nobody asked about.\n" for n in range(25)),
}
ONE, TWO, THREE = (PassageId(f"town.md#{place}") for place in (1, 2, 3))
READ = (
    PassageGraph(
        ONE, "1", (ReadEntity("Aldous", "PERSON"), ReadEntity("Berta", "PERSON", aliases=("Bee",))),
        (ReadRelationship("Aldous", "Berta", "BROTHER_OF"),),
    ),
    PassageGraph(
        TWO, "2", (ReadEntity("Berta", "PERSON"), ReadEntity("Lighthouse", "BUILDING")),
        (ReadRelationship("Berta", "Lighthouse", "OWNS"),),
    ),
    PassageGraph(THREE, "3", (ReadEntity("Lighthouse", "BUILDING"),)),
    PassageGraph(PassageId("notes.md#1"), "4", (ReadEntity("Aldous", "PERSON"),)),
)  # fmt: skip
COMMUNITY = Community(
    "c1", "The lighthouse", "Who owns the lighthouse and who built it.", ("lighthouse",), (THREE, TWO)
)
QUESTION = "What does the brother of Aldous own?"


@dataclass
class Place:
    """A collection with a graph, and what a test puts in place of the graph."""

    run: Callable[[Coroutine[Any, Any, Any]], Any]
    retriever: CollectionRetriever
    graphs: SqliteGraphs
    looks: GraphLooks

    def search(
        self,
        mode: Mode,
        query: str = QUESTION,
        *,
        graphs: Callable[[], GraphStore] | None = None,
        attached: Sequence[StoredPassage] = (),
        left_s: float = 30.0,
        **settings: Any,
    ) -> ModeFound:
        searcher = ModeSearch(self.retriever, graphs or (lambda: self.graphs), self.looks)
        request = ModeRequest(mode, query, query, graph_config(mode=mode, **settings), tuple(attached))
        found: ModeFound = self.run(searcher.search(request, lambda: left_s))
        return found


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder: Path = tmp_path_factory.mktemp("town")
    embedder = HashingEmbedder(128)
    store, graphs = MilvusStore(str(folder / "kb.db")), SqliteGraphs(folder / "graphs.db")

    async def filled() -> CollectionRetriever:
        await ingest(store, embedder, NAME, [IngestItem(name, data=text.encode()) for name, text in SOURCES.items()])
        info: CollectionInfo = await store.describe(NAME)
        await graphs.begin(NAME, "fake")
        await graphs.add(NAME, READ)
        await graphs.finish(NAME, [COMMUNITY], info.fingerprint, "2026-01-01T00:00:00+00:00")
        return CollectionRetriever.checked(store, embedder, info, await calibration_of(embedder, folder))

    with asyncio.Runner() as runner:
        yield Place(runner.run, runner.run(filled()), graphs, GraphLooks())
        runner.run(graphs.close())
        runner.run(store.close())


def ids(found: ModeFound, name: Any) -> list[str]:
    return [item.passage.id for item in found.lists[name]]


@pytest.mark.parametrize("mode", ["naive", "local", "global", "hybrid", "mix"])
def test_a_mode_searches_its_lists_and_fills_open_places_alone(town: Place, mode: Mode) -> None:
    """GH-02"""
    found = town.search(mode)
    assert set(found.lists) - {"near"} == set(LISTS_OF_MODE[mode])
    assert ("near" in found.lists) == (mode in ("local", "global", "hybrid"))
    assert all(found.lists.values())
    assert (found.evidence.mode, found.evidence.notes, found.evidence.fell_back_to) == (mode, (), ())
    assert found.floor == town.search("naive").floor


def test_local_follows_relationships_to_what_the_question_does_not_name(town: Place) -> None:
    """GH-02: from Aldous by way of Berta to the lighthouse."""
    found = town.search("local", hops=2)
    assert set(ids(found, "local")) == {ONE, TWO, THREE}
    assert ids(found, "local")[0] == ONE
    entities = [(item.entity.name, item.linked_by, item.hops) for item in found.evidence.entities]
    assert entities == [("Aldous", "name", 0), ("Berta", "neighbour", 1), ("Lighthouse", "neighbour", 2)]
    (second,) = (item for item in found.lists["local"] if item.passage.id == TWO)
    assert "berta|OWNS|lighthouse" in second.via
    assert set(ids(town.search("local", hops=1), "local")) == {ONE, TWO}


def test_graph_scores_lie_between_0_and_1_and_do_not_increase_down_the_list(town: Place) -> None:
    """GH-02, GH-08"""
    for mode in ("local", "global"):
        scores = [item.graph_score for item in town.search(mode).lists[mode]]
        assert all(score is not None and 0 < score <= 1 for score in scores)
        assert scores == sorted(scores, reverse=True)  # type: ignore[type-var]


def test_an_alias_names_its_entity_too(town: Place) -> None:
    """GH-02, GH-03"""
    (first, *_) = town.search("local", "What does Bee own?").evidence.entities
    assert (first.entity.name, first.linked_by) == ("Berta", "alias")
    assert first.score < 1


def test_global_looks_inside_the_communities_nearest_to_the_query(town: Place) -> None:
    """GH-02"""
    found = town.search("global", "Who built the lighthouse?")
    assert set(ids(found, "global")) == {TWO, THREE}
    assert {name for item in found.lists["global"] for name in item.via} == {"c1"}
    (community,) = found.evidence.communities
    assert 0 <= community.similarity <= 1


@pytest.mark.parametrize("mode", ["naive", "local", "global", "hybrid", "mix"])
@pytest.mark.parametrize("top_k", [1, 5, 20])
def test_without_thresholds_every_mode_keeps_as_many_as_top_k_and_fills_up_from_below(
    town: Place, mode: Mode, top_k: int
) -> None:
    """GH-08: the graph leads to three passages of 29."""
    settings: dict[str, Any] = {"top_k": top_k, "similarity_threshold": 0.0, "rerank_threshold": 0.0}
    found = town.search(mode, **settings)
    kept = [item for item in order(found.lists, graph_config(mode=mode, **settings)) if item.gate == "kept"]
    assert len(kept) == top_k
    if mode in ("local", "global"):
        by_graph = [item.passage.id for item in found.lists[mode]][:top_k]
        assert [item.passage.id for item in kept][: len(by_graph)] == by_graph


def test_notes_on_entities_are_left_out_as_in_every_search(town: Place) -> None:
    """GH-02: they repeat in a line what other sources tell."""
    assert "notes.md#1" not in ids(town.search("local"), "local")


def test_where_none_is_named_mix_begins_from_entities_of_the_best_passages(town: Place) -> None:
    """GH-02"""
    found = town.search("mix", "is the brother of")
    assert "no_entity" not in {item.code for item in found.evidence.notes}
    linked = {item.linked_by for item in found.evidence.entities if item.hops == 0}
    assert linked == {"passage"}
    assert TWO in ids(found, "local")


def test_a_mode_that_finds_no_entity_says_so_and_vectors_are_searched_loudly(town: Place) -> None:
    """GH-02"""
    found = town.search("local", "things that nobody asked about")
    assert [(item.code, item.list) for item in found.evidence.notes] == [("no_entity", "local")]
    assert found.evidence.fell_back_to == ("vector",)
    assert found.lists["vector"]
    hybrid = town.search("hybrid", "things that nobody asked about")
    assert [item.code for item in hybrid.evidence.notes] == ["no_entity"]
    assert hybrid.evidence.fell_back_to == ()
    assert "vector" not in hybrid.lists


def test_without_a_graph_each_mode_says_so_and_never_silently_becomes_another(town: Place, tmp_path: Path) -> None:
    """GH-02"""
    empty = SqliteGraphs(tmp_path / "none.db")
    for mode, lists in (("local", ["local"]), ("hybrid", ["local", "global"]), ("mix", ["local", "global"])):
        found = town.search(mode, graphs=lambda: empty)  # type: ignore[arg-type]
        assert [(item.code, item.list) for item in found.evidence.notes] == [("no_graph", name) for name in lists]
        assert found.evidence.fell_back_to == (() if mode == "mix" else ("vector",))
        assert found.lists["vector"]
        assert found.faults == {}
    assert town.search("naive", graphs=lambda: empty).evidence.notes == ()
    town.run(empty.close())


def test_a_graph_that_is_unfinished_or_older_than_its_collection_is_searched_and_said_to_be_so(
    town: Place, tmp_path: Path
) -> None:
    """GH-02, GH-03"""
    other = SqliteGraphs(tmp_path / "other.db")
    town.run(other.begin(NAME, "fake"))
    town.run(other.add(NAME, READ))
    found = town.search("hybrid", graphs=lambda: other)
    notes = [(item.code, item.list) for item in found.evidence.notes]
    assert notes == [("graph_unfinished", "local"), ("graph_unfinished", "global"), ("no_communities", "global")]
    assert ids(found, "local")
    town.run(other.finish(NAME, [COMMUNITY], "of another content", "2026-01-01T00:00:00+00:00"))
    stale = town.search("local", graphs=lambda: other)
    assert [item.code for item in stale.evidence.notes] == ["graph_stale"]
    assert town.run(ModeSearch(town.retriever, lambda: other, GraphLooks()).manifest("mix"))["graph"] == "stale"
    town.run(other.close())


def test_entities_whose_passages_are_gone_say_so(town: Place, tmp_path: Path) -> None:
    """GH-02"""
    other = SqliteGraphs(tmp_path / "gone.db")
    town.run(other.begin(NAME, "fake"))
    town.run(other.add(NAME, [PassageGraph(PassageId("gone.md#1"), "1", (ReadEntity("Aldous"),))]))
    found = town.search("local", graphs=lambda: other)
    assert "no_passages" in {item.code for item in found.evidence.notes}
    assert found.evidence.fell_back_to == ("vector",)
    town.run(other.close())


class Unreachable:
    """A graph store whose server is gone, or hangs."""

    def __init__(self, *, hangs: bool) -> None:
        self.hangs = hangs

    async def describe(self, collection: str) -> Any:
        if self.hangs:
            await asyncio.Event().wait()
        raise GraphStoreError.file_unusable(path="graphs.db", found="locked")


def refused() -> GraphStore:
    raise GraphStoreError.file_unusable(path="graphs.db", found="locked")


@pytest.mark.parametrize("trouble", ["gone", "hangs", "refused"])
def test_a_graph_store_that_cannot_be_reached_costs_the_graph_alone_and_is_reported(
    town: Place, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GH-02, SC-13"""
    monkeypatch.setattr(modes, "GRAPH_S", 0.05)
    away: Any = refused if trouble == "refused" else lambda: Unreachable(hangs=trouble == "hangs")
    found = town.search("mix", graphs=away)
    codes = [(item.code, item.list) for item in found.evidence.notes]
    assert codes == [("graph_unreachable", "local"), ("graph_unreachable", "global")]
    assert set(found.faults) == {"local", "global"}
    assert found.lists["vector"]
    alone = town.search("hybrid", graphs=away)
    assert alone.evidence.fell_back_to == ("vector",)
    assert alone.lists["vector"]


def test_where_no_time_is_left_nothing_is_searched_and_every_list_says_why(town: Place) -> None:
    """SC-13"""
    found = town.search("mix", left_s=0.0)
    assert not found.anything
    assert set(found.faults) == {"vector", "local", "global"}


def test_a_passage_store_that_is_gone_is_a_fault_of_every_list(town: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-13"""

    async def gone(*_: Any) -> Any:
        raise StoreError.unreachable(address="http://127.0.0.1:1")

    for name in ("search", "get"):
        monkeypatch.setattr(town.retriever.parts[0], name, gone)
    found = town.search("hybrid")
    assert {name: item.code for name, item in found.faults.items()} == dict.fromkeys(
        ("vector", "local", "global"), StoreError.unreachable.code
    )
    assert found.evidence.notes == ()


def test_global_looks_inside_as_many_communities_as_the_config_says_and_continues_for_open_places(town: Place) -> None:
    """GH-02"""
    far = Community(
        "c2", "The harbour", "Which week the harbour was closed in.", ("aldous",), (PassageId("dates.md#1"),)
    )

    class Two:
        def __getattr__(self, name: str) -> Any:
            return getattr(town.graphs, name)

        async def communities(self, _: str) -> list[Community]:
            return [far, COMMUNITY]

    two: Any = Two()
    town = replace(town, looks=GraphLooks())
    for most, wanted, expected in ((1, 2, ["c1"]), (1, 3, ["c1", "c2"]), (2, 2, ["c1", "c2"])):
        given: dict[str, Any] = {"max_communities": most, "top_k": wanted, "probe_k": 1}
        found = town.search("global", "Who owns the lighthouse?", graphs=lambda: two, **given)
        assert [item.community.id for item in found.evidence.communities] == expected
        scores = [item.graph_score or 0.0 for item in found.lists["global"]]
        assert scores == sorted(scores, reverse=True)
    assert set(ids(found, "global")) < {TWO, THREE, "dates.md#1"}
    further = town.search("global", "Who owns the lighthouse?", graphs=lambda: two, max_communities=1)
    assert ids(further, "global")[2:] == ["dates.md#1"]


def test_what_came_with_the_question_is_a_list_of_its_own(town: Place) -> None:
    """GH-05"""
    page = StoredPassage(PassageId("attachment:1#1"), "page.png", "Aldous bought a boat.")
    found = town.search("naive", attached=[page])
    assert ids(found, "attachment") == ["attachment:1#1"]
    assert 0 <= found.lists["attachment"][0].passage.similarity <= 1


def test_a_look_at_the_query_tells_names_and_the_modes_that_could_work(town: Place, tmp_path: Path) -> None:
    """GH-01"""
    searcher = ModeSearch(town.retriever, lambda: town.graphs, town.looks)
    look = town.run(searcher.look(QUESTION))
    assert (look.entities, look.modes) == (("Aldous",), ("naive", "local", "global", "hybrid", "mix"))
    assert "local" not in town.run(searcher.look("something else")).modes
    without = ModeSearch(town.retriever, None, town.looks)
    assert town.run(without.look(QUESTION)).modes == ("naive",)
    assert town.run(without.manifest("mix")) == {"graph": "none"}
    noted = town.run(searcher.manifest("mix"))
    assert (noted["graph"], noted["graph_extractor"], noted["graph_entities"]) == ("ready", "fake", "3")
    assert town.run(searcher.manifest("bypass")) == {}


def test_the_dated_entry_of_a_history_carries_its_date(town: Place) -> None:
    """GH-04"""
    passages = town.run(town.retriever.search("The harbour was closed.", 3)).passages
    assert {item.source: item.dated for item in passages}["dates.md"] == "2025-11-02"


def test_local_and_global_are_searched_at_the_same_time(town: Place) -> None:
    """GH-02: each waits for the other to have begun."""

    began: set[str] = set()
    both = asyncio.Event()

    async def begun(what: str) -> None:
        began.add(what)
        if len(began) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 5)

    class Meeting:
        def __getattr__(self, name: str) -> Any:
            async def asked(*given: Any) -> Any:
                if name in ("entities", "communities"):
                    await begun(name)
                return await getattr(town.graphs, name)(*given)

            return asked

    away: Any = Meeting
    searcher = ModeSearch(town.retriever, away, GraphLooks())
    request = ModeRequest("hybrid", QUESTION, QUESTION, graph_config(mode="hybrid"))
    found = town.run(searcher.search(request, lambda: 30.0))
    assert found.lists["local"] and found.lists["global"]
