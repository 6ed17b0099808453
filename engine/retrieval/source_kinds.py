"""Source kinds of a collection, and how each is searched (QL-03)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from heapq import merge

from engine.errors import StoreError, WorkbenchError
from engine.flow.context import Retrieval
from engine.model.config import RunConfig
from engine.model.values import SOURCE_KINDS, SourceKind
from engine.retrieval.graph_looks import GraphLooks
from engine.retrieval.graph_search import SEEDING_PASSAGES, GraphSearch
from engine.retrieval.mode_values import ModeRequest
from engine.retrieval.ordering import Found
from engine.retrieval.search import CollectionRetriever
from engine.roles import StoredPassage, Vector
from engine.roles.graph import GraphInfo, GraphStore

GRAPH_S = 3.0
"""Longest wait for the graph: a round waits for its slowest list, and has ten seconds for everything."""

WeakPoints = Callable[[str], Awaitable[list[StoredPassage]]]
"""Entries of the history that a run of a question may find, newest first."""


class SourceKinds:
    """Searches the kinds of sources of one collection, for one run.

    ``vector`` is the knowledge base. ``graph`` is what the collection's own knowledge graph leads to; where it has
    none, its notes on entities. ``temporal`` is its dated sources and ``weak_points``, the history that fills itself.
    ``open_graphs`` is called when the graph is needed, for it may raise; None where the collection can have no graph.
    """

    def __init__(
        self,
        retriever: CollectionRetriever,
        config: RunConfig,
        looks: GraphLooks,
        open_graphs: Callable[[], GraphStore] | None,
        *,
        weak_points: WeakPoints | None = None,
        vectors: dict[tuple[str, str], Vector] | None = None,
    ) -> None:
        self._retriever = retriever
        self._config = config
        self._looks = looks
        self._open_graphs = open_graphs
        self._weak_points = weak_points
        self._vectors = {} if vectors is None else vectors
        self._collection = retriever.manifest["collection"]
        self._looked = asyncio.Lock()
        self._graph: GraphInfo | WorkbenchError | None = None
        self._asked = False
        self._entries: list[StoredPassage] = []

    async def kinds(self, question: str = "") -> tuple[SourceKind, ...]:
        """Return the kinds that a run of ``question``, or of any, finds something of, in the order of ``SOURCE_KINDS``.

        A graph that cannot be reached counts as there: the search then reports the fault.
        """
        await self._look()
        entries = self._entries
        if not entries and self._weak_points is not None:
            entries = await self._weak_points(question)
        if question:
            # Those without the question itself: only they are searched.
            self._entries = entries
        there = set(await self._retriever.kinds())
        if self._graph is not None:
            there.add("graph")
        if entries:
            there.add("temporal")
        return tuple(kind for kind in SOURCE_KINDS if kind in there)

    async def manifest(self) -> dict[str, str]:
        """Return a record's description of the kinds: those of the collection, and whether a graph is searched."""
        kinds = await self.kinds()
        said = {"source_kinds": ",".join(kinds)}
        if "graph" in kinds:
            said["graph_kind"] = "knowledge_graph" if self._graph is not None else "entity_notes"
        if isinstance(self._graph, GraphInfo):
            said["graph_fingerprint"] = self._graph.fingerprint
        return said

    async def search_kind(self, query: str, kind: SourceKind, limit: int) -> Retrieval:
        """Return at most ``limit`` passages of one kind, best first."""
        await self._look()
        if kind == "graph" and self._graph is not None:
            return await self._by_graph(query, limit)
        if kind == "temporal" and self._entries:
            return await self._of_history(query, limit)
        return await self._retriever.search_kind(query, kind, limit)

    async def _by_graph(self, query: str, limit: int) -> Retrieval:
        """Passages that the graph leads to from the entities of the query, or of the passages nearest to it."""
        if isinstance(self._graph, WorkbenchError):
            raise self._graph
        assert self._graph is not None and self._open_graphs is not None
        search = GraphSearch(self._retriever, self._open_graphs(), self._looks, self._graph)
        request = ModeRequest("local", query, query, self._config)
        nearest = await self._retriever.search(query, SEEDING_PASSAGES)

        async def near() -> tuple[Found, ...]:
            return tuple(Found(item) for item in nearest.passages)

        try:
            async with asyncio.timeout(GRAPH_S):
                part = await search.entities(request, near)
        except TimeoutError:
            raise StoreError.slow(seconds=GRAPH_S) from None
        return replace(nearest, passages=tuple(item.passage for item in part.found[:limit]))

    async def _of_history(self, query: str, limit: int) -> Retrieval:
        entries = await self._retriever.measured(query, self._entries, self._vectors)
        if "temporal" not in await self._retriever.kinds():
            return replace(entries, passages=entries.passages[:limit])
        dated = await self._retriever.search_kind(query, "temporal", limit)
        # Each list keeps its own order: a longer search must begin as a shorter one does.
        both = merge(dated.passages, entries.passages, key=lambda passage: -passage.similarity)
        return replace(dated, passages=tuple(both)[:limit])

    async def _look(self) -> None:
        """Find the kinds once a run: all of its rounds have the same."""
        async with self._looked:
            if self._asked:
                return
            self._asked = True
            self._graph = await self._found_graph()

    async def _found_graph(self) -> GraphInfo | WorkbenchError | None:
        if self._open_graphs is None:
            return None
        try:
            async with asyncio.timeout(GRAPH_S):
                info = await self._open_graphs().describe(self._collection)
        except TimeoutError:
            return StoreError.slow(seconds=GRAPH_S)
        except WorkbenchError as failure:
            return failure
        return info if info is not None and info.finished and info.entities else None
