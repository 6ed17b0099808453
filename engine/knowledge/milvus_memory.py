"""Long-term memory in the product's own Milvus store.

LangGraph has a store of its own, but what it ships is not enough here: its in-memory store forgets at a restart, and
its SQLite one (``langgraph-checkpoint-sqlite``) finds by meaning through ``sqlite-vec``, which is before its 1.0 and
loads into SQLite as an extension, which the Python of python.org for macOS, among others, is built without. Milvus is
here already, embedded or as a server, with its errors translated and its behaviour held down by a contract suite; so
memories live where passages do, are backed up with them, and need no package more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from engine.errors import StoreError
from engine.knowledge.memory_rows import MemoryRows
from engine.knowledge.milvus_errors import Place, translated_errors
from engine.model.language import language_of
from engine.model.values import Memory
from engine.retrieval.similarity import Calibration
from engine.roles import Embedder, slug

T = TypeVar("T")
Memories = list[Memory]
"""Named, because a method of the role is called ``list``."""


class MilvusMemory:
    """A ``LongTermMemory`` over collections that begin with ``workbench_``, which nothing else lists or searches.

    Questions are compared with questions, so both are embedded as queries: the same wording has similarity 1. The
    embedder is the built-in one, not the collections' own; vectors of another embedder would mean nothing, so each
    embedder has a collection of its own, while :meth:`list` and :meth:`forget` reach all of them. Failed answers lie in
    a collection that is never searched. Nothing is connected or made before the first call; ``timeout_s`` bounds every
    request to the store. Questions and answers beyond 65 535 bytes are cut.
    """

    def __init__(
        self,
        uri: str,
        token: str,
        embedder: Embedder,
        calibration: Callable[[], Awaitable[Calibration]],
        timeout_s: float = 10.0,
        *,
        database: str = "",
    ) -> None:
        self.uri = uri
        self._database = database
        self._token = token
        self._embedder = embedder
        self._calibration = calibration
        self._timeout_s = timeout_s
        self._rows: MemoryRows | None = None
        self._closed = False
        # One thread: what is kept is then seen by the next recall, and a cancelled write is finished first.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memory")

    async def recall(self, question: str, collection: str, limit: int) -> Memories:
        """Return at most ``limit`` passed memories, best first; raises ``StoreError``, e.g. ``StoreError.locked``.

        How similar they are is for the caller to judge (:mod:`engine.builtin.sameness`).
        """
        if limit < 1:
            return []
        vector = await self._embedder.embed_query(question)
        floor = (await self._calibration()).floor(vector, language_of(question)).value
        found = await self._run(lambda rows: rows.nearest(vector, collection, limit))
        return [replace(memory, similarity=Calibration.similarity(cosine, floor)) for memory, cosine in found]

    async def keep(self, memory: Memory) -> None:
        """Store a memory, replacing the one of the same id, passed or failed."""
        if not memory.passed:
            await self._run(lambda rows: rows.put_failed(memory))
            return
        vector = await self._embedder.embed_query(memory.question)
        await self._run(lambda rows: rows.put_passed(memory, vector))

    async def list(self) -> Memories:
        return await self._run(lambda rows: rows.everything())

    async def forget(self, memory_id: str) -> bool:
        return await self._run(lambda rows: rows.delete(memory_id))

    async def forget_all(self) -> int:
        """Remove every memory, passed and failed; returns how many there were."""
        return await self._run(lambda rows: rows.delete_all())

    async def rename_collection(self, collection: str, new_name: str) -> int:
        """Let the memories of a collection follow it to its new name; returns how many there are."""
        return await self._run(lambda rows: rows.rename_collection(collection, new_name))

    async def close(self) -> None:
        """Wait for the call under way, then give up the connection; closing again does nothing."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.close()

    async def _run(self, work: Callable[[MemoryRows], T]) -> T:
        if self._closed:
            raise StoreError.memory_closed(path=self.uri)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._call, work)

    def _call(self, work: Callable[[MemoryRows], T]) -> T:
        with translated_errors(Place(self.uri)):
            if self._rows is None:
                self._rows = MemoryRows(self.uri, self._token, self._timeout_s, slug(self._embedder), self._database)
            return work(self._rows)
