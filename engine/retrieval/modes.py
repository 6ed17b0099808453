"""One search in one of the modes: every list at the same time, each able to fail alone (GH-02)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from engine.errors import GraphStoreError, StoreError, WorkbenchError
from engine.flow.context import Retrieval
from engine.model.config import Mode
from engine.model.values import SEARCHING_MODES, GraphEvidence, ModeNote, RetrievalList, lists_of_mode
from engine.retrieval.graph_looks import GraphLooks
from engine.retrieval.graph_search import GraphPart, GraphSearch, Near
from engine.retrieval.linking import mentions
from engine.retrieval.mode_values import ModeFound, ModeRequest, QueryLook
from engine.retrieval.ordering import Found
from engine.retrieval.search import CollectionRetriever
from engine.roles.graph import GraphInfo, GraphStore

MANIFEST_S = 2.0
"""Longest wait for what the manifest says of a graph."""
GRAPH_S = 10.0
"""Longest wait for what the graph gives: a run must not spend its budget on a server that hangs."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Result of one list."""

    list: RetrievalList
    found: tuple[Found, ...] = ()
    retrieval: Retrieval | None = None
    graph: GraphPart | None = None
    notes: tuple[ModeNote, ...] = ()
    fault: WorkbenchError | None = None


class ModeSearch:
    """Searches a collection and the graph of it.

    ``open_graphs`` is called when the graph is needed, for it may raise; None where the collection can have no graph.
    """

    def __init__(
        self, retriever: CollectionRetriever, open_graphs: Callable[[], GraphStore] | None, looks: GraphLooks
    ) -> None:
        self._retriever = retriever
        self._open_graphs = open_graphs
        self._looks = looks
        self._collection = retriever.manifest["collection"]
        self._fingerprint = retriever.manifest["collection_fingerprint"]

    async def describe(self) -> GraphInfo | None:
        """The graph of the collection; None where it has none."""
        return await self._open_graphs().describe(self._collection) if self._open_graphs else None

    async def manifest(self, mode: Mode) -> dict[str, str]:
        """Return a record's description of the graph that a mode may search."""
        if mode == "bypass":
            return {}
        try:
            async with asyncio.timeout(MANIFEST_S):
                info = await self.describe()
        except (TimeoutError, WorkbenchError):
            return {"graph": "unreachable"}
        if info is None:
            return {"graph": "none"}
        state = "unfinished" if not info.finished else "stale" if self._stale(info) else "ready"
        return {
            "graph": state,
            "graph_extractor": info.extractor,
            "graph_fingerprint": info.fingerprint,
            "graph_built_at": info.built_at,
            "graph_entities": str(info.entities),
            "graph_relationships": str(info.relationships),
        }

    async def look(self, query: str) -> QueryLook:
        info = await self.describe()
        if self._open_graphs is None or info is None or not info.entities:
            return QueryLook()
        named = mentions(query, await self._looks.names(self._open_graphs(), info))
        modes: tuple[Mode, ...] = SEARCHING_MODES
        if not info.communities:
            modes = tuple(mode for mode in modes if mode != "global")
        if not named:
            modes = tuple(mode for mode in modes if mode != "local")
        return QueryLook(tuple(dict.fromkeys(item.text for item in named if item.text in query)), modes)

    async def search(self, request: ModeRequest, left_s: Callable[[], float]) -> ModeFound:
        """Search the lists of the mode; vectors in their place where they find nothing, and behind what they find
        where that leaves places open (GH-08)."""
        lists = lists_of_mode(request.mode, attached=bool(request.attached))
        parts = await self._searched(lists, request, left_s)
        fell_back_to: tuple[RetrievalList, ...] = ()
        found = {item.passage.id for part in parts if part.list != "attachment" for item in part.found}
        if "vector" not in lists and len(found) < request.config.fetch_k:
            by_vectors = await self._vector(request, left_s)
            if found:
                parts = [*parts, replace(by_vectors, list="near")]
            else:
                parts = [by_vectors, *parts]
                fell_back_to = ("vector",)
        return _gathered(request, parts, fell_back_to)

    async def _searched(
        self, lists: Sequence[RetrievalList], request: ModeRequest, left_s: Callable[[], float]
    ) -> list[_Part]:
        near = asyncio.create_task(self._vector(request, left_s)) if "vector" in lists else None
        of_graph: list[RetrievalList] = [name for name in lists if name in ("local", "global")]
        at_once: list[Awaitable[list[_Part]]] = []
        if near is not None:
            at_once.append(_alone(near))
        if of_graph:
            at_once.append(self._of_graph(of_graph, request, _found_by(near), left_s))
        if "attachment" in lists:
            at_once.append(_alone(self._attached(request, left_s)))
        try:
            searched = await asyncio.gather(*at_once)
        finally:
            if near is not None:
                near.cancel()
        return [part for parts in searched for part in parts]

    async def _of_graph(
        self, lists: Sequence[RetrievalList], request: ModeRequest, near: Near, left_s: Callable[[], float]
    ) -> list[_Part]:
        """Run both searches of the graph at once, or return why they could not start."""
        try:
            async with asyncio.timeout(_share(left_s)):
                info = await self.describe()
        except (TimeoutError, WorkbenchError) as failure:
            return [_failed(name, failure, GRAPH_S) for name in lists]
        if info is None or self._open_graphs is None:
            return [_Part(name, notes=(ModeNote("no_graph", name),)) for name in lists]
        search = GraphSearch(self._retriever, self._open_graphs(), self._looks, info)

        async def one(name: RetrievalList) -> _Part:
            try:
                async with asyncio.timeout(_share(left_s)):
                    graph = await (search.communities(request) if name == "global" else search.entities(request, near))
            except (TimeoutError, WorkbenchError) as failure:
                return _failed(name, failure, GRAPH_S)
            return _Part(name, graph.found, graph.retrieval, graph, (*self._state_of(info, name), *graph.notes))

        return list(await asyncio.gather(*(one(name) for name in lists)))

    def _stale(self, info: GraphInfo) -> bool:
        """Return whether the collection has changed since its graph was built."""
        return bool(info.fingerprint) and info.fingerprint != self._fingerprint

    def _state_of(self, info: GraphInfo, name: RetrievalList) -> tuple[ModeNote, ...]:
        """Return the warning on a graph that is searched nevertheless."""
        if not info.finished:
            return (ModeNote("graph_unfinished", name),)
        return (ModeNote("graph_stale", name),) if self._stale(info) else ()

    async def _vector(self, request: ModeRequest, left_s: Callable[[], float]) -> _Part:
        try:
            async with asyncio.timeout(left_s()):
                retrieval = await self._retriever.search(request.query, request.config.fetch_k)
        except (TimeoutError, WorkbenchError) as failure:
            return _failed("vector", failure, request.config.budget_s)
        return _Part("vector", tuple(Found(item) for item in retrieval.passages), retrieval)

    async def _attached(self, request: ModeRequest, left_s: Callable[[], float]) -> _Part:
        try:
            async with asyncio.timeout(left_s()):
                # To the question as asked: the query holds the text of the images itself, and every part of it would
                # be like that.
                retrieval = await self._retriever.measured(request.question, request.attached)
        except (TimeoutError, WorkbenchError) as failure:
            return _failed("attachment", failure, request.config.budget_s)
        return _Part("attachment", tuple(Found(item) for item in retrieval.passages), retrieval)


def _gathered(request: ModeRequest, parts: Sequence[_Part], fell_back_to: tuple[RetrievalList, ...]) -> ModeFound:
    graphs = [part.graph for part in parts if part.graph is not None]
    measured = next((part.retrieval for part in parts if part.retrieval is not None), None)
    evidence = GraphEvidence(
        mode=request.mode,
        entities=tuple(item for part in graphs for item in part.entities),
        relationships=tuple(item for part in graphs for item in part.relationships),
        communities=tuple(item for part in graphs for item in part.communities),
        notes=tuple(note for part in parts for note in part.notes),
        fell_back_to=fell_back_to,
    )
    return ModeFound(
        lists={part.list: part.found for part in parts},
        evidence=evidence,
        floor=measured.floor if measured else 0.0,
        anchors=measured.anchors if measured else "",
        faults={part.list: part.fault for part in parts if part.fault is not None},
    )


async def _alone(part: Awaitable[_Part]) -> list[_Part]:
    return [await part]


def _found_by(near: asyncio.Task[_Part] | None) -> Near:
    """Return the vector results, awaited only by those who need them."""

    async def found() -> tuple[Found, ...]:
        # Shielded: a graph that is given up must not take the vectors with it.
        return (await asyncio.shield(near)).found if near is not None else ()

    return found


def _failed(name: RetrievalList, failure: TimeoutError | WorkbenchError, waited_s: float) -> _Part:
    fault = failure if isinstance(failure, WorkbenchError) else StoreError.slow(seconds=round(waited_s, 1))
    of_graph = name in ("local", "global") and (isinstance(failure, GraphStoreError | TimeoutError))
    notes = (ModeNote("graph_unreachable", name),) if of_graph else ()
    return _Part(name, notes=notes, fault=fault)


def _share(left_s: Callable[[], float]) -> float:
    """Seconds that a part of the graph may take: what comes after it needs some too."""
    return max(0.0, min(GRAPH_S, left_s() / 2))
