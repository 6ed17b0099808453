"""The passage store on Milvus: an embedded Milvus Lite folder, or a server by address, through the same client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from engine.errors import StoreError, UnknownCollection
from engine.knowledge.milvus_connection import embedded
from engine.knowledge.milvus_copying import CopyProgress
from engine.knowledge.milvus_errors import Place, translated_errors
from engine.knowledge.milvus_reader import CollectionReader, Searching
from engine.knowledge.milvus_session import MilvusSession
from engine.model.values import Account, PassageId
from engine.roles import (
    ANYWHERE,
    NO_ACCOUNTS,
    NO_SUMMARIES,
    CollectionInfo,
    Hit,
    SourceInfo,
    StoredPassage,
    Stretch,
    Summaries,
    Vector,
    Within,
)

Ts = TypeVarTuple("Ts")
T = TypeVar("T")

_READERS = 4
_BLOCK = 1000
"""Passages of one write of several sources on a server, which takes them nearly three times as quickly."""
_INDEXED_FROM = 1024
"""Fewer passages in one segment are never indexed by a server."""


class MilvusStore:
    """A ``PassageStore`` over ``MilvusClient``; nothing is imported, opened or connected before the first call.

    ``uri`` is a folder whose name ends in ``.db`` or a server's address, ``database`` one of that server, made where it
    is missing; empty is its default. ``timeout_s`` bounds every call.
    Reads run in a few threads, writes one after the other in a single thread: a write that was cancelled is still
    finished before the next one begins, so passages and catalogue never disagree.
    """

    def __init__(self, uri: str, token: str = "", timeout_s: float = 10.0, *, database: str = "") -> None:
        self.uri = uri
        self.database = database
        self._token = token
        self._timeout_s = timeout_s
        self._session: MilvusSession | None = None
        self._opening = threading.Lock()
        self._closed = False
        self._changes = 0
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="store-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")

    @property
    def block(self) -> int:
        """Passages to write with one call; 0 where every source is best written by itself, as in an embedded store."""
        return 0 if embedded(self.uri) else _BLOCK

    async def open(self) -> None:
        """Connect now instead of with the first call: errors show early, and the first search is not slow."""
        await self.read("", lambda session, _: None)

    @property
    def changes(self) -> int:
        """Another number whenever a write begins or ends: where it is as before, so is what was read after that."""
        return self._changes

    async def version(self) -> str:
        """Version of the server, or of the embedded store."""
        return await self.read("", lambda session, _: session.version())

    async def collections(self) -> list[CollectionInfo]:
        return await self.read("", lambda session, _: session.collections())

    async def describe(self, collection: str) -> CollectionInfo:
        return await self.read(collection, lambda session, name: session.describe(name))

    async def create(self, info: CollectionInfo) -> None:
        await self.write(info.name, lambda session, _: session.create(info))

    async def set_query_prefix(self, collection: str, prefix: str) -> CollectionInfo:
        """Record another prefix for queries; stored vectors do not depend on it and stay as they are."""
        return await self.write(collection, lambda session, name: session.note(name, query_prefix=prefix))

    async def set_description(self, collection: str, text: str) -> CollectionInfo:
        """Record what its owner says of a collection."""
        return await self.write(collection, lambda session, name: session.note(name, description=text))

    async def drop(self, collection: str) -> None:
        """Delete a collection with its sources, summaries and aliases; raises ``StoreError`` for an alias."""
        await self.write(collection, lambda session, _: session.drop(collection))

    async def rename(self, collection: str, new_name: str, *, keep_old: bool = False) -> CollectionInfo:
        """Rename with sources, summaries and aliases; ``keep_old`` lets the old name lead to it as an alias.

        Raises ``StoreError.collection_exists`` or ``StoreError.alias_taken`` for a name that is taken. A crash on the
        way loses nothing: the next opening finishes it.
        """
        await self.write(collection, lambda session, name: session.names.rename(name, new_name, keep_old=keep_old))
        return await self.describe(new_name)

    async def take_place(self, collection: str, copy: str, before: str) -> CollectionInfo:
        """Give the name and the aliases of a collection to ``copy``; what had them is called ``before`` then."""
        await self.write(collection, lambda session, name: session.names.take_place(name, copy, before))
        return await self.describe(collection)

    async def set_alias(self, alias: str, collection: str) -> CollectionInfo:
        """Let an alias lead to a collection, wherever it led before; raises ``StoreError`` for a taken name."""
        await self.write(collection, lambda session, name: session.set_alias(alias, name))
        return await self.describe(collection)

    async def drop_alias(self, alias: str) -> None:
        """Drop an alias; raises ``StoreError.unknown_alias``."""
        await self.write("", lambda session, _: session.names.drop_alias(alias))

    async def insert(
        self,
        collection: str,
        passages: Sequence[StoredPassage],
        vectors: Vector,
        summaries: Summaries = NO_SUMMARIES,
        accounts: Mapping[str, Account] = NO_ACCOUNTS,
    ) -> None:
        """Add or replace passages; ``vectors`` has shape (len(passages), dim).

        ``meta["content_hash"]``, ``meta["added_at"]`` and ``meta["kind"]`` of a source's passages are what ``sources``
        reports. ``summaries`` and ``accounts`` take the place of all that the sources written to had.
        """
        await self.write(collection, lambda session, name: session.insert(name, passages, vectors, summaries, accounts))

    async def record_accounts(self, collection: str, accounts: Mapping[str, Account]) -> None:
        """Record what was read of sources that are there; their passages are not written again."""
        await self.write(collection, lambda session, name: session.record_accounts(name, accounts))

    async def summarise(self, collection: str, summaries: Summaries) -> None:
        """Give sources that are there summaries, in place of those they had."""
        await self.write(collection, lambda session, name: session.summarise(name, summaries))

    async def search_summaries(
        self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]:
        """Summaries of sources and sections, best first; none where a collection has none."""
        return await self.read(collection, lambda session, name: session.search_summaries(name, vector, limit, within))

    async def search(self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]:
        return await self.look(collection, CollectionReader.search, vector, limit, within)

    async def searching(self, collection: str) -> Searching:
        """Return how a collection is searched, for programs outside the workbench."""
        return await self.read(collection, lambda session, name: session.reader(name).searching)

    async def search_text(
        self, collection: str, text: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]:
        """Best BM25 score first, each with its cosine to ``vector``; none for a text without words.

        Raises ``FullTextMissing`` where the collection, or its store, has no full text.
        """
        return await self.read(collection, lambda session, name: session.search_text(name, text, vector, limit, within))

    async def add_full_text(self, collection: str, progress: CopyProgress | None = None) -> CollectionInfo:
        """Let a collection of an earlier version be searched by words too, or by those of this version.

        It is copied with its vectors: nothing is embedded, and no other write runs meanwhile.
        ``progress`` gets rows copied and all rows from the writing thread; an exception from it stops the copying and
        leaves the collection as it was, as a crash does. Raises ``FullTextMissing`` where the store cannot.
        """
        return await self.write(collection, lambda session, name: session.add_full_text(name, progress))

    async def settle(self, collection: str, written: int) -> None:
        """Let a server index what was written; a few passages are compared one by one and need none."""
        if written >= _INDEXED_FROM:
            await self.write(collection, lambda session, name: session.settle(name))

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        """Passages in the order asked for; ids that are not there are left out."""
        return await self.look(collection, CollectionReader.get, ids)

    async def vectors(self, collection: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]:
        """Stored vectors by id; ids that are not there are left out."""
        return await self.look(collection, CollectionReader.vectors, ids)

    async def ids(self, collection: str) -> list[PassageId]:
        """Every id, in a fixed order and however many there are; :meth:`page` reads them in batches."""
        return await self.look(collection, CollectionReader.ids)

    async def page(self, collection: str, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        """Passages with their vectors, in the order asked for; ids that are not there are left out."""
        return await self.look(collection, CollectionReader.page, ids)

    async def sources(self, collection: str) -> list[SourceInfo]:
        """Sources by name; one whose writing was interrupted has an empty ``content_hash``."""
        return await self.read(collection, lambda session, name: session.sources(name))

    async def passages(self, collection: str, source: str) -> list[StoredPassage]:
        """Passages of one source in their order; none for an unknown source."""
        return await self.look(collection, CollectionReader.passages, source)

    async def stretches(self, collection: str, wanted: Sequence[Stretch]) -> list[StoredPassage]:
        """Passages by their places, each once and in any order."""
        return await self.look(collection, CollectionReader.stretches, wanted)

    async def delete_source(self, collection: str, source: str) -> int:
        """Remove a source; returns how many passages it had."""
        return await self.write(collection, lambda session, name: session.delete_source(name, source))

    async def close(self) -> None:
        """Wait for calls under way, then give up the connection and the folder's lock; closing again does nothing."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._writer.shutdown(wait=True, cancel_futures=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
        session, self._session = self._session, None
        if session is not None:
            session.close()

    async def look(self, collection: str, work: Callable[[CollectionReader, *Ts], T], *args: *Ts) -> T:
        """Call a method of what reads a collection, or an alias of one."""
        self._require_open()
        return await asyncio.get_running_loop().run_in_executor(
            self._readers, partial(self._call, collection, True, work, *args)
        )

    async def read(self, collection: str, work: Callable[[MilvusSession, str], T]) -> T:
        """Do something with the open store and the name that a collection, or its alias, has there."""
        self._require_open()
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._call, collection, False, work)

    async def write(self, collection: str, work: Callable[[MilvusSession, str], T]) -> T:
        """As :meth:`read`, in the one thread that changes anything."""

        def counted(session: MilvusSession, name: str) -> T:
            # In the writing thread: a write continues where its caller is cancelled.
            self._changes += 1
            try:
                return work(session, name)
            finally:
                self._changes += 1

        self._require_open()
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._call, collection, False, counted)

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError.closed(path=self.uri)

    def _call(self, collection: str, by_reader: bool, work: Callable[..., T], *args: Any) -> T:
        tried = False
        while True:
            try:
                with self._named(collection) as (session, name):
                    return work(session.reader(name), *args) if by_reader else work(session, name)
            except UnknownCollection:
                # A copy may have been about to take its place, between a look at the name and the call for it.
                if tried or not collection or not self._comes_back(collection):
                    raise
                tried = True

    @contextmanager
    def _named(self, collection: str) -> Iterator[tuple[MilvusSession, str]]:
        """The open store, and what a collection is called there; errors of the client come out as ours."""
        with translated_errors(Place(self.uri, collection)):
            session = self._opened()
            # Here for every call: a collection may be named by an alias wherever it is named.
            name = session.real(collection) if collection else ""
            try:
                yield session, name
            except Exception:
                session.look_again(name)
                raise

    def _comes_back(self, collection: str) -> bool:
        with translated_errors(Place(self.uri, collection)):
            return self._opened().names.comes_back(collection)

    def _opened(self) -> MilvusSession:
        with self._opening:
            if self._session is None:
                self._session = MilvusSession(self.uri, self._token, self._timeout_s, self.database)
            return self._session
