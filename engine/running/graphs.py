"""Knowledge graphs of collections: built as jobs, looked at, deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.errors import GraphStoreError, JobError, UnknownEntity
from engine.knowledge.graph.names import normalised
from engine.library.values import GraphState, JobStatus
from engine.messages import N_
from engine.model.config import BUILTIN, RoleModel
from engine.model.loop_thread import LoopThread, on_loop
from engine.model.values import Community, Entity, PassageId
from engine.people.authorization import RESULT, authorized, needs
from engine.roles import CollectionInfo, StoredPassage
from engine.roles.graph import GraphInfo, GraphStore, Neighbourhood
from engine.running.resources import Resources

if TYPE_CHECKING:
    from engine.running.ingestions import Ingestions

MOST_SHOWN = 2000
"""Entities that one call gives at most."""


@authorized
class Graphs:
    """Safe to call from any thread; every method blocks until it is done. A collection may be named by an alias."""

    def __init__(self, loop: LoopThread, resources: Resources, ingestions: Ingestions) -> None:
        """``ingestions`` has the jobs, for a building waits its turn behind anything else that is being put in."""
        self._loop = loop
        self._resources = resources
        self._ingestions = ingestions

    # -- building ---------------------------------------------------------------------------------------------------

    @needs("editor", log=N_("Knowledge graph begun"), on=("collection", RESULT))
    def build(self, collection: str, extractor: str = BUILTIN, *, replace: bool = False) -> str:
        """Begin to read a collection's passages into its graph; returns the job's id.

        ``extractor`` is ``builtin`` or a chat model. By that of the graph that is there only what is new or changed is
        read; another one without ``replace``, or while a job is at work on this graph, raises ``JobError``. Raises
        ``UnknownCollection``, and ``InvalidConfig`` for a name that is no model.
        """
        return self._ingestions.start_graph(self.checked(collection, extractor, replace=replace).name, extractor)

    @needs("editor")
    def checked(self, collection: str, extractor: str, *, replace: bool = False) -> CollectionInfo:
        """The collection, if its graph may be built now; raises as :meth:`build`."""
        RoleModel(extractor)
        info = self._loop.call(self._resources.knowledge.describe(collection))
        if not info.passages:
            raise JobError.nothing_to_read(collection=info.name)
        self._check_idle(info)
        self._ingestions.check_graph(info.name, extractor, replace=replace)
        return info

    @needs("admin", log=N_("Knowledge graph deleted"))
    def delete(self, collection: str) -> bool:
        """Drop a collection's graph; False where it has none. Raises ``UnknownCollection``, ``JobError.graph_busy``."""
        info = self._loop.call(self._resources.knowledge.describe(collection))
        self._check_idle(info)
        dropped = self._loop.call(self._store.drop(info.name))
        for job in self._jobs_of(info):
            if job.resumable:  # there is nothing left that it could continue
                self._ingestions.discard(job.id)
        return dropped

    # -- looking ----------------------------------------------------------------------------------------------------

    @needs("viewer")
    def describe(self, collection: str) -> GraphState | None:
        """The graph and the job that builds it; None where there is neither. Raises ``UnknownCollection``."""
        info = self._loop.call(self._resources.knowledge.describe(collection))
        return self._state(info, self._loop.call(self._store.describe(info.name)))

    @needs("viewer")
    def all(self) -> dict[str, GraphState]:
        """Graphs by the name of their collection."""

        async def look() -> list[tuple[CollectionInfo, GraphInfo | None]]:
            infos = await self._resources.knowledge.collections()
            return [(info, await self._store.describe(info.name)) for info in infos]

        states = ((info.name, self._state(info, graph)) for info, graph in self._loop.call(look()))
        return {name: state for name, state in states if state is not None}

    @on_loop
    @needs("viewer")
    async def entities(self, collection: str, limit: int = 500, query: str = "") -> tuple[Entity, ...]:
        """The most central entities; with a query those with a name or alias that has it in it, beginnings first."""
        limit, wanted = min(limit, MOST_SHOWN), normalised(query)
        name = await self._own_name(collection)
        if not wanted:
            return tuple(await self._store.most_central(name, limit))
        known = await self._store.names(name)
        hits = [(not text.startswith(wanted), len(text), text) for text in known if wanted in text]
        ids = dict.fromkeys(one for _, _, text in sorted(hits)[:limit] for one in known[text])
        return tuple(await self._store.entities(name, list(ids)[:limit]))

    @on_loop
    @needs("viewer")
    async def entity(self, collection: str, ids: Sequence[str]) -> tuple[Entity, ...]:
        """Entities by id, in the order asked for; unknown ones are left out."""
        return tuple(await self._store.entities(await self._own_name(collection), ids))

    @on_loop
    @needs("viewer")
    async def neighbourhood(
        self, collection: str, names_or_ids: Sequence[str], hops: int = 1, limit: int = 200
    ) -> Neighbourhood:
        """Entities around some others, by any name.

        Raises ``UnknownEntity`` where none of them is known.
        """
        name = await self._own_name(collection)
        by_id, by_name = await asyncio.gather(
            self._store.entities(name, names_or_ids), self._store.named(name, names_or_ids)
        )
        ids = list(dict.fromkeys(item.id for item in (*by_id, *by_name)))
        if not ids:
            raise UnknownEntity(collection=name, entity=", ".join(names_or_ids))
        return await self._store.neighbourhood(name, ids, hops, min(limit, MOST_SHOWN))

    @on_loop
    @needs("viewer")
    async def overview(self, collection: str, limit: int = 500) -> Neighbourhood:
        """The most central entities and what is between them."""
        name, most = await self._own_name(collection), min(limit, MOST_SHOWN)
        central = await self._store.most_central(name, most)
        return await self._store.neighbourhood(name, [item.id for item in central], 0, most)

    @on_loop
    @needs("viewer")
    async def communities(self, collection: str) -> tuple[Community, ...]:
        """The largest first."""
        return tuple(await self._store.communities(await self._own_name(collection)))

    @on_loop
    @needs("viewer")
    async def passages(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        """Passages that an entity or a relationship was read in; those that are gone are left out."""
        return await self._resources.knowledge.get(collection, ids)

    @needs("viewer")
    def to_dict(self, collection: str, query: str = "", entities: int = 50, communities: int = 20) -> dict[str, Any]:
        """A graph as JSON: its state, so many entities, those that a query names, and communities.

        Raises ``GraphStoreError.missing`` where there is none.
        """
        state = self.describe(collection)
        if state is None:
            raise GraphStoreError.missing(collection=collection)
        return {
            **state.to_dict(),
            "entities": [asdict(item) for item in self.entities(collection, entities, query)],
            "communities": [asdict(item) for item in self.communities(collection)[:communities]],
        }

    # -- within -----------------------------------------------------------------------------------------------------

    @property
    def _store(self) -> GraphStore:
        return self._resources.knowledge.graphs

    async def _own_name(self, collection: str) -> str:
        return (await self._resources.knowledge.describe(collection)).name

    def _jobs_of(self, info: CollectionInfo) -> list[JobStatus]:
        """The jobs that build the graph of a collection, newest first."""
        names = (info.name, *info.aliases)
        return [job for job in self._ingestions.jobs() if job.kind == "graph" and job.collection in names]

    def _check_idle(self, info: CollectionInfo) -> None:
        if any(not job.over for job in self._jobs_of(info)):
            raise JobError.graph_busy(collection=info.name)

    def _state(self, info: CollectionInfo, graph: GraphInfo | None) -> GraphState | None:
        job = next((job for job in self._jobs_of(info) if job.state != "done"), None)
        if graph is None:
            if job is None:
                return None
            graph = GraphInfo(info.name, job.extractor)
        return GraphState(graph, graph.finished and graph.fingerprint != info.fingerprint, info.passages, job)
