"""The knowledge base of an engine: stores, embedders and calibrations, opened when first needed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from engine.database.databases import Databases
from engine.errors import GraphStoreError, InvalidConfig, NotAllowed, RunError, StoreError, UnknownCollection
from engine.knowledge.connected import ConnectedCollections, connected_collections
from engine.knowledge.embedders import SERVED, Embedders, check_prefix, known
from engine.knowledge.graph.graph_home import graph_home
from engine.knowledge.graph.keeping import without_passages
from engine.knowledge.graph.place import KeptGraphs
from engine.knowledge.ingest import IngestItem, IngestReport, Progress, ingest
from engine.knowledge.items import with_members
from engine.knowledge.journal import Journal
from engine.knowledge.kept_collections import KeptCollections
from engine.knowledge.kept_replies import KeptReplies
from engine.knowledge.milvus_connection import embedded
from engine.knowledge.milvus_memory import MilvusMemory
from engine.knowledge.milvus_schema import check_new_name
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.parallel_ingest import Ahead
from engine.knowledge.rates import note_rate, writer_of
from engine.knowledge.sample_graph import ensure_sample_graph
from engine.knowledge.samples import ensure_samples
from engine.knowledge.source_writing import make_collection
from engine.knowledge.stored_samples import put_stored
from engine.knowledge.weak_points import WeakPoints
from engine.knowledge.written_context import WrittenContext
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions
from engine.model.addresses import with_scheme
from engine.model.config import RoleModel, SearchMethod
from engine.model.values import CONTEXTS, NEW_CONTEXT, Fault, PassageContext, PassageId
from engine.people import Person, current_user
from engine.records.data_folder import DataFolder
from engine.retrieval.search import CollectionRetriever
from engine.roles import UNKNOWN_MODEL, CollectionInfo, Embedder, PassageReader, SourceInfo, StoredPassage, Vector
from engine.settings import Settings

_SAMPLE_GRAPH_S = 10.0
"""Longest that an opening waits for the graph of the samples: vectors are searched without it."""
_FIRST_RETRY_S, _LONGEST_RETRY_S = 1.0, 30.0
"""Pause after an opening that a server failed, doubled each time."""
_log = logging.getLogger(__name__)


class KnowledgeBase:
    """Collections and what is needed to search them; lives on the engine's event loop."""

    def __init__(self, settings: Settings, databases: Databases | None = None) -> None:
        self._settings = settings
        self._folder = DataFolder(settings.data_dir)
        self._stores: dict[str, MilvusStore] = {}
        self._listed: KeptCollections | None = None
        databases = databases or Databases.of(settings)
        self.connected: tuple[ConnectedCollections, ...] = connected_collections(settings, databases)
        """Collections of other programs, under names of ours."""
        self.limit_new: Callable[[str], None] = lambda _: None
        """Receives the name of a collection that is about to be made; where people sign in some may not make it."""
        self.embedders = Embedders(settings)
        self._memory: MilvusMemory | None = None
        self.weak_points = WeakPoints(databases.weak_points)
        self.weak_point_vectors: dict[tuple[str, str], Vector] = {}
        """By model and text: entries are short, few, and looked through by every run of the quality-control loop."""
        self._graphs: KeptGraphs | None = None
        self._opening: asyncio.Task[None] | None = None
        self._last_error: BaseException | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._retry_s = _FIRST_RETRY_S
        self._place: DataFolder | None = None
        """The folder of an embedded store, since it is open."""
        self.opened_in_s: float | None = None
        """How long the opening took; None until it is open."""

    async def ready(self) -> None:
        """Wait until the store is open and the samples are in it; a failed opening is tried again by the next call.

        Where a server failed, also after a pause, without a call.
        """
        # Shielded: a cancelled run must not cancel the opening that others wait for.
        await asyncio.shield(self._started_opening())

    @property
    def is_open(self) -> bool:
        opening = self._opening
        return opening is not None and opening.done() and not opening.cancelled() and opening.exception() is None

    @property
    def gone(self) -> StoreError | None:
        """Message on an embedded store that was removed while open, and would answer from memory."""
        return StoreError.taken_away(path=self._settings.store_uri) if self._place and self._place.gone else None

    @property
    def last_error(self) -> BaseException | None:
        """Error of the last opening, kept while the next one runs; None once it is open."""
        return None if self.is_open else self.opening_error or self._last_error

    @property
    def opening_error(self) -> BaseException | None:
        """Error of the last opening; None while it is running and after it succeeded."""
        if self._opening is None or not self._opening.done() or self._opening.cancelled():
            return None
        return self._opening.exception()

    async def retriever(
        self, collection: str, address: str = "", method: SearchMethod = "vector"
    ) -> CollectionRetriever:
        """A retriever for a collection with the embedder it was built with.

        Raises ``UnknownCollection``, and ``FullTextMissing`` where words are to be searched that it does not have.
        """
        store = await self._holding(collection, address)
        info = await store.describe(collection)
        embedder = await known(self.embedders.of(info))
        calibration = await self.embedders.calibration(embedder, info.context)
        return CollectionRetriever.checked(store, embedder, info, calibration, method)

    def memory(self) -> MilvusMemory:
        """Long-term memory, in the store of the settings even if a run searches another; opened by its first call."""
        if self._memory is None:
            embedder = self.embedders.builtin()
            token = self._settings.milvus_token.get_secret_value()
            self._memory = MilvusMemory(
                self._settings.store_uri,
                token,
                embedder,
                lambda: self.embedders.calibration(embedder),
                database=self._settings.milvus_database,
            )
        return self._memory

    @property
    def graphs(self) -> KeptGraphs:
        """Knowledge graphs, by the names of collections and never by aliases; opened by the first call of a method.

        Raises ``GraphStoreError`` where the settings ask for a store whose package is not installed.
        """
        if self._graphs is None:
            self._graphs = graph_home(self._settings).open()
        return self._graphs

    async def collections(self) -> list[CollectionInfo]:
        """List the settings' own collections, then the connected ones, as last seen where they do not answer.

        A history of weak points counts among the kinds of their sources.
        """
        listed, noted = await asyncio.gather(self.stored_collections(), asyncio.to_thread(self._with_history))
        return [info.of_kinds("temporal") if info.name in noted else info for info in listed]

    async def stored_collections(self) -> list[CollectionInfo]:
        """List what :meth:`collections` does by the stores alone: it waits for no other database."""
        looks = (item.infos() for item in self.connected)
        found = await asyncio.gather(self._own_collections(), *looks)
        person = current_user()
        return [info for infos in found for info in infos if person.may_read(info.name)]

    def _with_history(self) -> frozenset[str]:
        """Collections that have a history; none where it cannot be read, which the page of the history says."""
        try:
            return self.weak_points.collections()
        except RunError:
            return frozenset()

    async def describe(self, collection: str) -> CollectionInfo:
        return await (await self._holding(collection)).describe(collection)

    async def sources(self, collection: str) -> list[SourceInfo]:
        return await (await self._holding(collection)).sources(collection)

    async def passages(self, collection: str, source: str) -> list[StoredPassage]:
        return await (await self._holding(collection)).passages(collection, source)

    async def ids(self, collection: str) -> list[PassageId]:
        """Every id, in a fixed order and however many there are."""
        return await (await self._holding(collection)).ids(collection)

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]:
        """Passages in the order asked for; ids that are not there are left out."""
        return await (await self._holding(collection)).get(collection, ids)

    async def page(self, collection: str, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        """Passages with their vectors, in the order asked for; ids that are not there are left out."""
        return await (await self._holding(collection)).page(collection, ids)

    async def own_store(self) -> MilvusStore:
        """The store of the settings, open, with all that can be done to collections of one's own."""
        return await self._store()

    async def delete_source(self, collection: str, source: str) -> int:
        """Delete the passages of a source, from the collection and from its knowledge graph; how many there were."""
        store, info = await self._changeable(collection)

        async def ids() -> list[PassageId]:
            return [passage.id for passage in await store.passages(info.name, source)]

        async with without_passages(self.graphs, info.name, ids):
            return await store.delete_source(collection, source)

    async def set_query_prefix(self, collection: str, prefix: str) -> CollectionInfo:
        """Change what is put before queries of a collection; what is stored does not depend on it.

        Raises ``InvalidConfig`` where the model has fixed prefixes, as the built-in ones do, ``UnknownCollection``, and
        ``StoreError.foreign_collection`` for one that another program made.
        """
        store, info = await self._changeable(collection)
        if info.embedding_model.startswith(SERVED) or info.embedding_model == UNKNOWN_MODEL:
            check_prefix("query_prefix", prefix)
            return await store.set_query_prefix(collection, prefix)
        _refuse_other(collection, "query_prefix", info.query_prefix, prefix)
        return info

    async def embedder_into(
        self,
        collection: str,
        embedding_model: str = "",
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        context: PassageContext | None = None,
        *,
        context_model: str = "",
    ) -> Embedder:
        """The embedder for passages of a collection: that it was built with, or the chosen one for a new collection.

        An empty ``embedding_model`` is the setting's; prefixes of None are those known for the model. Raises
        ``StoreError.embedding_mismatch`` and ``InvalidConfig`` where an existing collection has another model, other
        prefixes or another form of context, ``StoreError.foreign_collection`` where it is only read here,
        ``StoreError.invalid_collection_name`` for a new one that cannot be made, ``NotAllowed`` where who acts may not
        make it.
        """
        self._refuse_connected(collection)
        if context not in (None, *CONTEXTS):
            raise InvalidConfig.not_one_of(field="context", allowed=", ".join(CONTEXTS))
        store = await self._store()
        try:
            info = await store.describe(collection)
        except UnknownCollection:
            check_new_name(collection)
            embedder = self.embedders.new(query_prefix, passage_prefix, embedding_model)
            self.context_model(context, context_model)
            await asyncio.to_thread(self.limit_new, collection)
        else:
            _require_readable(info, collection, current_user())
            if info.read_only:
                raise StoreError.foreign_collection(name=collection)
            embedder = self.embedders.of(info)
            asked = context or info.context, context_model or info.context_model
            if asked != (info.context, info.context_model):
                has = " ".join((info.context, info.context_model)).strip()
                raise InvalidConfig.other_context(collection=collection, has=has)
            if embedding_model and embedding_model != info.embedding_model:
                other = self.embedders.new(None, None, embedding_model)
                if other.model_id != info.embedding_model:
                    raise StoreError.embedding_mismatch(
                        collection=collection, built_with=info.embedding_model, offered=other.model_id
                    )
        _refuse_other(collection, "query_prefix", embedder.query_prefix, query_prefix)
        _refuse_other(collection, "passage_prefix", embedder.passage_prefix, passage_prefix)
        return embedder

    def context_model(self, context: PassageContext | None, model: str = "") -> str:
        """The chat model that writes sentences in a form of context: the extractor's where none is named.

        Raises ``InvalidConfig`` for a model that writes none.
        """
        if context != "written":
            return ""
        named = RoleModel(model or self._settings.models.extractor.model)
        if not named.chats:
            raise InvalidConfig.no_context_writer(model=named.model)
        return named.model

    def written_context(self, model: str, kept: KeptReplies | None) -> WrittenContext:
        """What writes with a model and keeps its replies."""
        from engine.llm.context_writer import ChatContextWriter

        writer = ChatContextWriter(RoleModel(model), self._settings)
        timed = partial(note_rate, self._settings.data_dir, writer_of(model))
        return WrittenContext(writer, kept or KeptReplies(), timed)

    async def ingest(
        self,
        items: Sequence[IngestItem],
        collection: str,
        progress: Callable[[Progress], None] | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        *,
        chunks: ChunkOptions = DEFAULT_CHUNKS,
        embedding_model: str = "",
        context: PassageContext | None = None,
        context_model: str = "",
        description: str = "",
        journal: Journal | None = None,
        failed: Iterable[tuple[str, Fault]] = (),
        kept: KeptReplies | None = None,
    ) -> IngestReport:
        """Put documents into a collection, with the embedder it was built with, or the chosen one for a new one.

        Model, prefixes, form of context and description are recorded with a new collection; ``kept`` are the replies
        of the model that writes its context. Raises as :meth:`embedder_into`.
        """
        embedder = await self.embedder_into(
            collection, embedding_model, query_prefix, passage_prefix, context, context_model=context_model
        )
        await known(embedder)
        store = await self._store()
        try:
            writer = (await store.describe(collection)).context_model
        except UnknownCollection:
            writer = self.context_model(context, context_model)
        form = await make_collection(store, collection, embedder, description, context, context_model=writer)
        # In parallel with the ingestion, so that the first question does not pay for the anchors out of its budget.
        self.embedders.calibrating(embedder, form)
        opened, unusable = await asyncio.to_thread(with_members, items)
        report = await ingest(
            store,
            embedder,
            collection,
            opened,
            progress,
            limit_mb=self._settings.max_upload_mb,
            chunks=chunks,
            journal=journal,
            failed=[*failed, *((name, Fault.of(error)) for name, error in unusable)],
            block=store.block,
            ahead=Ahead(self._settings, collection),
            timed=lambda tokens, seconds: note_rate(self._settings.data_dir, embedder.model_id, tokens, seconds),
            written=self.written_context(writer, kept) if writer else None,
        )
        await store.settle(collection, report.passages)
        return report

    async def add_full_text(self, collection: str, progress: Callable[[int, int], None] | None = None) -> None:
        """Let a collection of an earlier version be searched by words too; ``progress`` gets passages done and all.

        Raises ``FullTextMissing`` where the store cannot.
        """
        await (await self._store()).add_full_text(collection, progress)

    async def close(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
        if self._memory is not None:
            await self._memory.close()
        if self._graphs is not None:
            await self._graphs.close()
        for item in self.connected:
            await item.close()
        for uri, store in list(self._stores.items()):
            # Closing writes what is left: into a folder that was deleted it would put a store that is half there.
            if not (embedded(uri) and self._folder.gone):
                await store.close()

    async def version(self) -> str:
        """Version of the server of the settings, or of the embedded store."""
        return await (await self._store()).version()

    def _started_opening(self) -> asyncio.Task[None]:
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._last_error = self.opening_error
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._retry_later)
        return self._opening

    def _retry_later(self, opening: asyncio.Task[None]) -> None:
        # The fault is looked at, so that one which no one waits for is not reported as never retrieved.
        if opening.cancelled() or opening.exception() is None or not self._settings.milvus_uri:
            return
        # A server comes back by itself, and a replica without visitors would never look again.
        self._retry = asyncio.get_running_loop().call_later(self._retry_s, self._started_opening)
        self._retry_s = min(2 * self._retry_s, _LONGEST_RETRY_S)

    async def _open(self) -> None:
        began = time.perf_counter()
        store = self._at(self._settings.store_uri)
        embedder = await asyncio.to_thread(self.embedders.builtin)
        if not self._settings.milvus_uri:
            graphs = graph_home(self._settings).file
            await asyncio.to_thread(put_stored, self._settings.store_path, graphs, embedder.model_id)
        if await ensure_samples(store, embedder):
            await self._put_sample_graph(store)
        await self.embedders.calibration(embedder, NEW_CONTEXT)
        if embedded(self._settings.store_uri):
            self._place = DataFolder(Path(self._settings.store_uri))
        self.opened_in_s = time.perf_counter() - began

    async def _put_sample_graph(self, store: MilvusStore) -> None:
        """Put the graph of the samples in; where that fails they are searched without, which every search says."""
        try:
            async with asyncio.timeout(_SAMPLE_GRAPH_S):
                await ensure_sample_graph(self.graphs, store)
        except (GraphStoreError, TimeoutError) as fault:
            _log.warning("the graph of the samples could not be put in: %s", fault or "no answer in time")

    def _refuse_connected(self, collection: str) -> None:
        """Raise ``StoreError.foreign_collection`` for a name that leads somewhere else: nothing is written there.

        ``UnknownCollection`` where it is kept from who acts.
        """
        if any(collection in item for item in self.connected):
            if current_user().may_read(collection):
                raise StoreError.foreign_collection(name=collection)
            raise UnknownCollection(name=collection)

    async def _own_collections(self) -> list[CollectionInfo]:
        store = await self._store()
        if self._listed is None:
            self._listed = KeptCollections(store)
        return await self._listed.read()

    async def _changeable(self, collection: str) -> tuple[MilvusStore, CollectionInfo]:
        """The store of the settings and a collection in it; raises as :meth:`_refuse_connected` and where it is not."""
        self._refuse_connected(collection)
        store = await self._store()
        info = await store.describe(collection)
        _require_readable(info, collection, current_user())
        return store, info

    async def _holding(self, collection: str, address: str = "") -> PassageReader:
        """The store that holds a collection; a connected one has its own, unless an address says where to look.

        A user without the right finds no such collection: all that is read of collections is read through here.
        """
        for item in self.connected:
            await item.refresh()
        address = self._settings.known_address(address) or with_scheme(address)
        here = address in ("", self._settings.store_uri)
        served = next((item for item in self.connected if collection in item), None) if here else None
        store = served.store(collection) if served is not None else await self._store(address)
        person = current_user()
        if not person.reads_all:
            if not here:  # the same collection may have another name there
                raise NotAllowed.admins()
            _require_readable(await store.describe(collection), collection, person)
        return store

    async def _store(self, address: str = "") -> MilvusStore:
        if address and address != self._settings.store_uri:
            return self._at(address)
        await self.ready()
        self._folder.require()
        if (gone := self.gone) is not None:
            raise gone
        return self._at(self._settings.store_uri)

    def _at(self, uri: str) -> MilvusStore:
        if uri not in self._stores:
            own = uri == self._settings.store_uri
            database = self._settings.milvus_database if own else ""
            self._stores[uri] = MilvusStore(uri, self._settings.milvus_token_of(uri), database=database)
        return self._stores[uri]


def _require_readable(info: CollectionInfo, called: str, person: Person) -> None:
    """Raise ``UnknownCollection`` where a collection is kept from a person, under any of its names."""
    if not person.may_read(info.name, called):
        raise UnknownCollection(name=called)


def _refuse_other(collection: str, field: str, has: str, asked: str | None) -> None:
    """Raise ``InvalidConfig`` where another prefix is asked for than the one that is fixed."""
    if asked is not None and asked != has:
        raise InvalidConfig.other_in_collection(field=field, collection=collection, has=has)
