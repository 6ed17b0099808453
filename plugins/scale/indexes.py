"""The indexes of the collections of a store: what each is, another in its place, what was measured of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.knowledge.milvus_reader import PARAMETER
from engine.knowledge.milvus_session import MilvusSession
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import CollectionInfo, StoredPassage, Vector
from plugins.scale.bulk import BulkImport, ImportFolder
from plugins.scale.choice import checked_breadth, usual_breadth
from plugins.scale.errors import INDEX_FIXED
from plugins.scale.values import IndexKind, IndexState, RecallFigures

_BUILT_WITH = ("M", "efConstruction", "nlist")


@dataclass(frozen=True, slots=True)
class Indexes:
    """Raises what the store does, and ``INDEX_FIXED`` where an embedded store is to change."""

    store: MilvusStore

    async def state(self, collection: str) -> IndexState:
        """The index of a collection, and how far it is built."""
        return await self.store.read(collection, _state)

    async def change(self, collection: str, kind: IndexKind, build: Mapping[str, int]) -> None:
        """Begin to build another index of the vectors, which continues after that; its usual breadth is recorded.

        The collection cannot be searched for the seconds in which the old one goes; searches of this process wait.
        """

        def changed(session: MilvusSession, name: str) -> None:
            session.own(name)
            before = _state(session, name)
            if not before.changeable:
                raise INDEX_FIXED(collection=name)
            session.indexes.change(name, kind, build)
            if before.kind != kind:
                session.note(name, breadth=usual_breadth(kind))

        await self.store.write(collection, changed)

    async def use(self, collection: str) -> None:
        """Search with an index that is built by now; a server takes it up of its own accord, but not at once."""

        def used(session: MilvusSession, name: str) -> None:
            session.own(name)
            session.db.reload(name)

        await self.store.write(collection, used)

    async def set_breadth(self, collection: str, breadth: int) -> CollectionInfo:
        """Let searches of an index look further, or less far; 0 leaves it to the server."""

        def noted(session: MilvusSession, name: str) -> CollectionInfo:
            return session.note(name, breadth=checked_breadth(_state(session, name).kind, breadth))

        return await self.store.write(collection, noted)

    async def recall(self, collection: str) -> RecallFigures | None:
        """Return the index's last measurement; None if there is none, or one by a version with other figures."""

        def known(session: MilvusSession, name: str) -> RecallFigures | None:
            session.reader(name)
            found = session.catalogue.recall(name)
            try:
                return RecallFigures.of(found) if found is not None else None
            except (TypeError, KeyError):
                return None

        return await self.store.read(collection, known)

    async def put_recall(self, collection: str, figures: RecallFigures) -> None:
        """Keep a measurement of the index, in place of the one before."""

        def kept(session: MilvusSession, name: str) -> None:
            session.own(name)
            session.catalogue.put_recall(name, figures.to_dict())

        await self.store.write(collection, kept)

    async def nearest(
        self, collection: str, vector: Vector, limit: int, params: Mapping[str, int]
    ) -> tuple[list[PassageId], float]:
        """Ids as the index orders them at a given breadth, and the milliseconds that the store took.

        What is at most 5 s old may be missing.
        """
        more: dict[str, Any] = {"search_params": {"params": dict(params)}} if params else {}

        def timed(session: MilvusSession, name: str) -> tuple[list[PassageId], float]:
            layout = session.reader(name).layout
            began = time.perf_counter()
            found = session.db.search(
                layout.collection,
                layout.vector,
                vector.tolist(),
                "",
                limit=limit,
                output=layout.output,
                level="Bounded",
                **more,
            )
            ids = [PassageId(str(item.get(layout.key, item.get("id")))) for item in found]
            return ids, (time.perf_counter() - began) * 1000.0

        return await self.store.read(collection, timed)

    async def bulk_insert(
        self, collection: str, passages: Sequence[StoredPassage], vectors: Vector, folder: ImportFolder
    ) -> None:
        """Put whole sources in from a file that the server reads; those of these names that are there are replaced.

        They have no summaries. See :mod:`plugins.scale.bulk` for which servers it was tried with.
        """

        def imported(session: MilvusSession, name: str) -> None:
            session.own(name)
            if session.db.embedded:
                raise INDEX_FIXED(collection=name)
            bulk = BulkImport(session.db, *session.place)
            # What an earlier process began must not come in together with what comes in now.
            bulk.settled(name)
            for source in session.catalogue.some_sources(name, {item.source for item in passages}):
                session.delete_source(name, source)
            session.insert(name, passages, vectors, put=lambda rows: bulk.put(name, rows, folder))
            session.db.wrote(name)

        await self.store.write(collection, imported)


def _state(session: MilvusSession, name: str) -> IndexState:
    reader, db = session.reader(name), session.db
    layout = reader.layout
    if db.embedded:
        rows = reader.count()
        return IndexState("FLAT", indexed=rows, rows=rows, changeable=False)
    found = db.index_of(layout.collection, layout.vector)
    kind = str(found.get("index_type", ""))
    build = {number: int(found[number]) for number in _BUILT_WITH if str(found.get(number, "")).isdigit()}
    rows = int(found.get("total_rows") or 0)
    indexed = int(found.get("indexed_rows") or 0)
    return IndexState(kind, build, reader.breadth, PARAMETER.get(kind, ""), min(indexed, rows), rows, layout.own)
