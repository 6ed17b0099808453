"""Knowledge graphs in a Neo4j server, through its official driver (GH-03)."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from engine.errors import GraphStoreError
from engine.knowledge.graph.place import GraphPlace
from engine.model.values import Community, Entity, PassageId
from engine.roles.graph import GraphInfo, Neighbourhood, PassageGraph
from plugins.neo4j import queries, writing
from plugins.neo4j.session import Neo4jSession, Transaction, rows

_Given = ParamSpec("_Given")
_Read = TypeVar("_Read")

_OPEN = """
MERGE (g:WorkbenchGraph {space: $space, collection: $collection})
ON CREATE SET g.number = $number
SET g.extractor = $extractor, g.fingerprint = '', g.built_at = ''
RETURN g.number AS number
"""


class Neo4jGraphs:
    """Keeps the contract of ``GraphStore``; lives on the event loop of its first call.

    ``space`` sets collections of different passage stores apart that have the same name. Nodes carry labels that begin
    with ``Workbench``; nothing else in the database is read or changed.
    """

    def __init__(self, uri: str, user: str, password: str, *, database: str = "", space: str = "") -> None:
        self._server = Neo4jSession(uri, user, password, database)
        self._space = space

    async def look(self) -> GraphPlace:
        """Describe the server and count the graphs it keeps for us; raises ``GraphStoreError``."""
        version = await self._server.version()

        async def count(tx: Transaction) -> int:
            query = "MATCH (g:WorkbenchGraph {space: $space}) RETURN count(g) AS graphs"
            return int((await rows(tx, query, {"space": self._space}))[0]["graphs"])

        return GraphPlace(version, await self._server.read(count))

    async def describe(self, collection: str) -> GraphInfo | None:
        return await self._read(collection, None, queries.info)

    async def begin(self, collection: str, extractor: str) -> GraphInfo:
        info = await self._server.write(self._begin, collection, extractor)
        await self._sweep()
        return info

    async def done(self, collection: str) -> Mapping[PassageId, str]:
        return await self._read(collection, {}, queries.done)

    async def add(self, collection: str, read: Sequence[PassageGraph]) -> None:
        if not await self._change(collection, writing.add, read):
            raise GraphStoreError.missing(collection=collection)

    async def forget(self, collection: str, passages: Sequence[PassageId]) -> None:
        await self._change(collection, writing.forget, passages)

    async def finish(
        self, collection: str, communities: Sequence[Community], fingerprint: str, built_at: str
    ) -> GraphInfo:
        if not await self._change(collection, writing.complete, communities, fingerprint, built_at):
            raise GraphStoreError.missing(collection=collection)
        info = await self.describe(collection)
        if info is None:
            raise GraphStoreError.missing(collection=collection)
        return info

    async def named(self, collection: str, names: Sequence[str]) -> list[Entity]:
        return await self._read(collection, [], queries.named, names)

    async def names(self, collection: str) -> Mapping[str, tuple[str, ...]]:
        return await self._read(collection, {}, queries.names)

    async def entities(self, collection: str, ids: Sequence[str]) -> list[Entity]:
        return await self._read(collection, [], queries.entities, ids)

    async def most_central(self, collection: str, limit: int) -> list[Entity]:
        return await self._read(collection, [], queries.most_central, limit)

    async def of_passages(self, collection: str, passages: Sequence[PassageId]) -> list[Entity]:
        return await self._read(collection, [], queries.of_passages, passages)

    async def neighbourhood(self, collection: str, ids: Sequence[str], hops: int, limit: int) -> Neighbourhood:
        return await self._read(collection, Neighbourhood({}, (), ()), queries.neighbourhood, ids, hops, limit)

    async def communities(self, collection: str) -> list[Community]:
        return await self._read(collection, [], queries.communities)

    async def rename(self, collection: str, new_name: str) -> None:
        async def renamed(tx: Transaction, graph: str) -> None:
            # Names of collections are taken once, so what has the new one belonged to a collection that is gone.
            left = await queries.number_of(tx, self._space, new_name)
            if left is not None and left != graph:
                await writing.set_aside(tx, left)
            query = "MATCH (g:WorkbenchGraph {number: $graph}) SET g.collection = $name"
            await rows(tx, query, {"graph": graph, "name": new_name})

        await self._change(collection, renamed)
        await self._sweep()

    async def drop(self, collection: str) -> bool:
        dropped = await self._change(collection, writing.set_aside)
        await self._sweep()
        return dropped

    async def close(self) -> None:
        await self._server.close()

    async def _begin(self, tx: Transaction, collection: str, extractor: str) -> GraphInfo:
        graph = await queries.number_of(tx, self._space, collection)
        if graph is not None and (await queries.info(tx, graph)).extractor != extractor:
            await writing.set_aside(tx, graph)
        given = {"space": self._space, "collection": collection, "number": uuid.uuid4().hex, "extractor": extractor}
        (row,) = await rows(tx, _OPEN, given)
        return await queries.info(tx, str(row["number"]))

    async def _change(
        self,
        collection: str,
        change: Callable[Concatenate[Transaction, str, _Given], Awaitable[None]],
        *args: _Given.args,
        **kwargs: _Given.kwargs,
    ) -> bool:
        """Return whether there was a graph to change."""

        async def work(tx: Transaction) -> bool:
            graph = await queries.number_of(tx, self._space, collection)
            if graph is not None:
                await writing.lock(tx, graph)
                await change(tx, graph, *args, **kwargs)
            return graph is not None

        return await self._server.write(work)

    async def _read(
        self,
        collection: str,
        nothing: _Read,
        read: Callable[Concatenate[Transaction, str, _Given], Awaitable[_Read]],
        *args: _Given.args,
        **kwargs: _Given.kwargs,
    ) -> _Read:
        async def look(tx: Transaction) -> _Read:
            graph = await queries.number_of(tx, self._space, collection)
            return nothing if graph is None else await read(tx, graph, *args, **kwargs)

        return await self._server.read(look)

    async def _sweep(self) -> None:
        while await self._server.write(writing.sweep):
            pass
