"""One collection of a Milvus as a program searches it that has only its address: nothing is ever written."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_errors import Place, translated_errors
from engine.knowledge.milvus_probe import Scores
from engine.knowledge.milvus_reader import CollectionReader
from engine.knowledge.milvus_schema import Layout
from engine.knowledge.milvus_summaries import SummaryRows
from engine.knowledge.milvus_words import WordIndex
from engine.model.values import PassageId
from engine.roles import ANYWHERE, Hit, StoredPassage, Stretch, Vector, Within

T = TypeVar("T")
_READERS = 4
_TIMEOUT_S = 10.0


class ReadOnlyStore:
    """The reads of :class:`engine.roles.PassageReader` that a run needs; connects with the first one."""

    def __init__(self, saved: Mapping[str, Any], uri: str, token: str, database: str) -> None:
        """``saved``: layout, scores and breadth, as the workbench found them."""
        self._saved = saved
        self._place = uri, token, _TIMEOUT_S, database
        self._reader: CollectionReader | None = None
        self._opening = threading.Lock()
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="store-read")

    async def search(self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        return await self._read(lambda reader: reader.search(vector, limit, within))

    async def search_text(
        self, collection: str, text: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]:
        def look(reader: CollectionReader, where: str) -> list[Hit]:
            return self._words.search(reader, text, vector, limit, where)

        return await self._found(limit, within, look)

    async def search_summaries(
        self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]:
        def look(reader: CollectionReader, where: str) -> list[Hit]:
            found = SummaryRows(self._db).search(collection, vector, limit, where) if reader.layout.own else []
            return sorted((reader.hit(vector, item) for item in found), key=lambda hit: -hit.cosine)

        return await self._found(limit, within, look)

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        return await self._read(lambda reader: reader.get(ids))

    async def vectors(self, collection: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        return await self._read(lambda reader: reader.vectors(ids))

    async def stretches(self, collection: str, wanted: Sequence[Stretch]) -> list[StoredPassage]:
        return await self._read(lambda reader: reader.stretches(wanted))

    def close(self) -> None:
        """Give up the connection, and the lock of a folder."""
        if self._reader is not None:
            self._db.close()

    async def _found(self, limit: int, within: Within, look: Callable[[CollectionReader, str], list[Hit]]) -> list[Hit]:
        def searched(reader: CollectionReader) -> list[Hit]:
            where = reader.layout.filter(within)
            return [] if limit < 1 or where is None else look(reader, where)

        return await self._read(searched)

    async def _read(self, work: Callable[[CollectionReader], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._call, work)

    def _call(self, work: Callable[[CollectionReader], T]) -> T:
        with translated_errors(Place(self._place[0], self._saved["layout"]["collection"])):
            return work(self._opened())

    def _opened(self) -> CollectionReader:
        with self._opening:
            if self._reader is None:
                self._db = Database.connected(*self._place)
                self._words = WordIndex(self._db, self._place[0])
                scores, layout = self._saved["scores"], Layout(**self._saved["layout"])
                how = {"parameter": self._saved["parameter"], "breadth": self._saved["breadth"]}
                self._reader = CollectionReader(self._db, layout, Scores(**scores) if scores else None, **how)
            return self._reader
