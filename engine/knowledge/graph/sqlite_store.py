"""Knowledge graphs in a SQLite file of the data folder: the store where no server is set (GH-03)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from engine.errors import GraphStoreError
from engine.knowledge.graph import sqlite_reading as reading
from engine.knowledge.graph import sqlite_writing as writing
from engine.knowledge.graph.place import GraphPlace
from engine.knowledge.graph.sqlite_file import GraphFile
from engine.model.values import Community, Entity, PassageId
from engine.roles.graph import GraphInfo, Neighbourhood, PassageGraph

_Given = ParamSpec("_Given")
_Read = TypeVar("_Read")

NOTHING = Neighbourhood({}, (), ())


class SqliteGraphs:
    """Keeps the contract of ``GraphStore``; several processes may use the file at once.

    ``space`` sets collections of different passage stores apart that have the same name. What is written is whole or
    not there at all, however the process ends.
    """

    def __init__(self, path: Path, space: str = "") -> None:
        self._file = GraphFile(path)
        self._space = space

    async def look(self) -> GraphPlace:
        """Describe where the graphs are and how many; a file that is not there yet is not made."""
        return await asyncio.to_thread(self._look)

    async def describe(self, collection: str) -> GraphInfo | None:
        return await self._read(collection, None, reading.info)

    async def begin(self, collection: str, extractor: str) -> GraphInfo:
        return await asyncio.to_thread(self._begin, collection, extractor)

    async def done(self, collection: str) -> Mapping[PassageId, str]:
        return await self._read(collection, {}, reading.done)

    async def add(self, collection: str, read: Sequence[PassageGraph]) -> None:
        await asyncio.to_thread(self._change, collection, lambda db, graph: writing.add(db, graph, read), must=True)

    async def forget(self, collection: str, passages: Sequence[PassageId]) -> None:
        await asyncio.to_thread(self._change, collection, lambda db, graph: writing.forget(db, graph, passages))

    async def finish(
        self, collection: str, communities: Sequence[Community], fingerprint: str, built_at: str
    ) -> GraphInfo:
        def complete(db: sqlite3.Connection, graph: int) -> None:
            writing.set_communities(db, graph, communities)
            row = (fingerprint, built_at, graph)
            db.execute("UPDATE graphs SET fingerprint = ?, built_at = ? WHERE number = ?", row)

        await asyncio.to_thread(self._change, collection, complete, must=True)
        info = await self.describe(collection)
        if info is None:
            raise GraphStoreError.missing(collection=collection)
        return info

    async def named(self, collection: str, names: Sequence[str]) -> list[Entity]:
        return await self._read(collection, [], reading.named, names)

    async def names(self, collection: str) -> Mapping[str, tuple[str, ...]]:
        return await self._read(collection, {}, reading.names)

    async def entities(self, collection: str, ids: Sequence[str]) -> list[Entity]:
        return await self._read(collection, [], reading.entities, ids)

    async def most_central(self, collection: str, limit: int) -> list[Entity]:
        return await self._read(collection, [], reading.most_central, limit)

    async def of_passages(self, collection: str, passages: Sequence[PassageId]) -> list[Entity]:
        return await self._read(collection, [], reading.of_passages, passages)

    async def neighbourhood(self, collection: str, ids: Sequence[str], hops: int, limit: int) -> Neighbourhood:
        return await self._read(collection, NOTHING, reading.neighbourhood, ids, hops, limit)

    async def communities(self, collection: str) -> list[Community]:
        return await self._read(collection, [], reading.communities)

    async def rename(self, collection: str, new_name: str) -> None:
        def renamed(db: sqlite3.Connection, graph: int) -> None:
            # Names of collections are taken once, so what has the new one belonged to a collection that is gone.
            left = reading.number_of(db, self._space, new_name)
            if left is not None and left != graph:
                _drop(db, left)
            db.execute("UPDATE graphs SET collection = ? WHERE number = ?", (new_name, graph))

        await asyncio.to_thread(self._change, collection, renamed)

    async def drop(self, collection: str) -> bool:
        return await asyncio.to_thread(self._change, collection, _drop)

    async def close(self) -> None:
        await asyncio.to_thread(self._file.close)

    def _look(self) -> GraphPlace:
        if not self._file.path.exists():
            return GraphPlace(sqlite3.sqlite_version, 0, 0)
        with self._file.reading() as db:
            (graphs,) = db.execute("SELECT count(*) FROM graphs WHERE space = ?", (self._space,)).fetchone()
        return GraphPlace(sqlite3.sqlite_version, graphs, self._file.size())

    def _begin(self, collection: str, extractor: str) -> GraphInfo:
        with self._file.writing() as db:
            db.execute(
                "INSERT INTO graphs (space, collection, extractor) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (self._space, collection, extractor),
            )
            graph = reading.number_of(db, self._space, collection)
            assert graph is not None
            if reading.info(db, graph).extractor != extractor:
                writing.empty(db, graph)
            db.execute(
                "UPDATE graphs SET extractor = ?, fingerprint = '', built_at = '' WHERE number = ?", (extractor, graph)
            )
            return reading.info(db, graph)

    def _change(
        self, collection: str, change: Callable[[sqlite3.Connection, int], None], *, must: bool = False
    ) -> bool:
        """Return whether there was a graph to change; raises ``GraphStoreError.missing`` where there must be one."""
        with self._file.writing() as db:
            graph = reading.number_of(db, self._space, collection)
            if graph is not None:
                change(db, graph)
            elif must:
                raise GraphStoreError.missing(collection=collection)
            return graph is not None

    async def _read(
        self,
        collection: str,
        nothing: _Read,
        read: Callable[Concatenate[sqlite3.Connection, int, _Given], _Read],
        *args: _Given.args,
        **kwargs: _Given.kwargs,
    ) -> _Read:
        def look() -> _Read:
            with self._file.reading() as db:
                graph = reading.number_of(db, self._space, collection)
                return nothing if graph is None else read(db, graph, *args, **kwargs)

        return await asyncio.to_thread(look)


def _drop(db: sqlite3.Connection, graph: int) -> None:
    writing.empty(db, graph)
    db.execute("DELETE FROM graphs WHERE number = ?", (graph,))
