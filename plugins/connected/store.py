"""One collection that another program made, as a ``PassageReader``."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from engine.errors import FullTextMissing, StoreError, UnknownCollection, WorkbenchError
from engine.knowledge.milvus_connection import embedded
from engine.knowledge.milvus_reader import Searching
from engine.model.values import PassageId
from engine.roles import (
    ANYWHERE,
    CollectionInfo,
    Hit,
    SourceInfo,
    StoredPassage,
    Stretch,
    Vector,
    Within,
)
from plugins.connected.client import translated_errors
from plugins.connected.session import ForeignSession
from plugins.connected.values import Connection, Place

T = TypeVar("T")

_READERS = 4
_IDLE_S = 20.0
"""A folder's lock is given up after so long without a read, so that the program that made it can open it again."""


class ForeignStore:
    """Opens with the first read (contract: :class:`engine.roles.PassageReader`).

    ``collection`` of every method is the name of the connection. A folder is closed again when it is idle, unless it is
    the settings' own.
    """

    def __init__(
        self,
        connection: Connection,
        place: Place,
        *,
        timeout_s: float = 5.0,
        keep_open: bool = False,
        idle_s: float = _IDLE_S,
    ) -> None:
        """``place``: the checked place with its token; ``keep_open`` for a folder that is open anyway."""
        self.connection = connection
        self._place = place
        self._timeout_s = timeout_s
        self._idle_s = idle_s
        self._rests = embedded(place.address) and not keep_open
        self._session: ForeignSession | None = None
        self._reading: Counter[ForeignSession] = Counter()
        self._guard = threading.Lock()
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="connected-read")

    @property
    def is_open(self) -> bool:
        return self._session is not None

    @property
    def rests(self) -> bool:
        """True if looking at it opens a folder that another program may want."""
        return self._rests

    @property
    def uri(self) -> str:
        return self._place.address

    @property
    def database(self) -> str:
        return self._place.database

    async def describe(self, collection: str) -> CollectionInfo:
        return await self._read(collection, lambda session: session.describe())

    async def search(self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        return await self._read(collection, lambda session: session.search(vector, limit, within))

    async def searching(self, collection: str) -> Searching:
        """Return how the collection is searched, for programs outside the workbench."""
        return await self._read(collection, lambda session: session.reader.searching)

    async def search_text(
        self, collection: str, text: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]:
        """Refuse full-text search with ``FullTextMissing``: another program's words are not segmented as ours."""
        raise FullTextMissing.of(collection=collection)

    async def search_summaries(
        self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]:
        """None: summaries exist for our own collections only."""
        return []

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        return await self._read(collection, lambda session: session.reader.get(ids))

    async def vectors(self, collection: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        """Vectors at length 1 by id; ids that are not there are left out."""
        return await self._read(collection, lambda session: session.reader.vectors(ids))

    async def ids(self, collection: str) -> list[PassageId]:
        """Every id, in a fixed order and however many there are."""
        return await self._read(collection, lambda session: session.reader.ids())

    async def page(self, collection: str, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        """Passages with their vectors at length 1, in the order asked for; ids that are not there are left out."""
        return await self._read(collection, lambda session: session.reader.page(ids))

    async def sources(self, collection: str) -> list[SourceInfo]:
        return await self._read(collection, lambda session: session.sources())

    async def passages(self, collection: str, source: str) -> list[StoredPassage]:
        return await self._read(collection, lambda session: session.passages(source))

    async def stretches(self, collection: str, wanted: Sequence[Stretch]) -> list[StoredPassage]:
        return await self._read(collection, lambda session: session.reader.stretches(wanted))

    async def some(self, most: int) -> tuple[list[tuple[StoredPassage, Vector]], int]:
        """Passages with their vectors at length 1, for looking whether a model made them; and how many lack one."""
        return await self._read(self.connection.name, lambda session: session.some(most))

    async def close(self) -> None:
        """Wait for reads under way, then give up the connection; closing again does nothing."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.to_thread(self._readers.shutdown, True, cancel_futures=True)
        await asyncio.to_thread(self._rest)

    async def _read(self, collection: str, work: Callable[[ForeignSession], T]) -> T:
        if collection != self.connection.name:
            raise UnknownCollection(name=collection)
        if self._closed:
            raise StoreError.connection_closed(name=collection)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._readers, self._call, work)
        finally:
            if self._rests and not self._closed:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = loop.call_later(self._idle_s, self._rest_later)

    def _call(self, work: Callable[[ForeignSession], T]) -> T:
        with translated_errors(self._place, self.connection.collection):
            session = self._begin()
            try:
                return work(session)
            except WorkbenchError:
                raise
            except Exception:
                # No matter what happened there, the next read looks at the collection again.
                with self._guard:
                    if self._session is session:
                        self._session = None
                raise
            finally:
                self._end(session)

    def _begin(self) -> ForeignSession:
        with self._guard:
            if self._session is None:
                self._session = ForeignSession(self.connection, self._place, self._timeout_s)
            self._reading[self._session] += 1
            return self._session

    def _end(self, session: ForeignSession) -> None:
        """A session that failed is closed by the last of those that still read from it."""
        with self._guard:
            self._reading[session] -= 1
            if self._reading[session] or self._session is session:
                return
            del self._reading[session]
        session.close()

    def _rest_later(self) -> None:
        if not self._closed:
            self._readers.submit(self._rest)

    def _rest(self) -> None:
        """Close the session unless it is being read."""
        with self._guard:
            session = self._session
            if session is None or self._reading[session]:
                return
            self._session = None
            del self._reading[session]
        session.close()
