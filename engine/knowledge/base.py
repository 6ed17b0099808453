"""The knowledge base of an engine: stores, embedders and calibrations, opened when first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.builtin.embedder import HashingEmbedder, builtin_embedder
from engine.config import BUILTIN
from engine.errors import EmbeddingMismatch, InvalidConfig, ModelNotRecorded, UnknownCollection
from engine.knowledge.ingest import IngestItem, IngestReport, Progress, ingest
from engine.knowledge.milvus_session import UNKNOWN_MODEL
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.query_vectors import SharedQueries
from engine.llm.factory import make_embedder
from engine.memory.milvus_memory import MilvusMemory
from engine.retrieval.search import DenseRetriever
from engine.retrieval.similarity import Calibration, slug
from engine.roles import CollectionInfo, Embedder, SourceInfo, StoredPassage
from engine.samples import SAMPLE_COLLECTION, ensure_samples
from engine.settings import Settings

_OLLAMA = "ollama:"
_LONGEST_PREFIX = 500
_EmbedderKey = tuple[str, str | None, str | None]
"""Model, query prefix, passage prefix; None where the model's own prefix is taken, which need not be empty."""


class KnowledgeBase:
    """Collections and what is needed to search them; lives on the engine's event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stores: dict[str, MilvusStore] = {}
        self._embedders: dict[_EmbedderKey, Embedder] = {}
        self._calibrations: dict[str, asyncio.Task[Calibration]] = {}
        self._builtin: Embedder | None = None
        self._memory: MilvusMemory | None = None
        self._opening: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Wait until the store is open and the samples are in it; a failed opening is tried again by the next call."""
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.create_task(self._open())
            # Looked at here, so that a fault which nobody waits for is not reported as never retrieved.
            self._opening.add_done_callback(lambda task: task.cancelled() or task.exception())
        # Shielded: a cancelled run must not cancel the opening that others wait for.
        await asyncio.shield(self._opening)

    @property
    def is_open(self) -> bool:
        opening = self._opening
        return opening is not None and opening.done() and not opening.cancelled() and opening.exception() is None

    @property
    def opening_error(self) -> BaseException | None:
        """What the last opening failed with; None while it goes on and after it succeeded."""
        if self._opening is None or not self._opening.done() or self._opening.cancelled():
            return None
        return self._opening.exception()

    async def retriever(self, collection: str, address: str = "") -> DenseRetriever:
        """A retriever for a collection with the embedder it was built with; raises ``UnknownCollection``."""
        store = await self._store(address)
        info = await store.describe(collection)
        embedder = await _known(self.embedder(info))
        return DenseRetriever.checked(store, embedder, info, await self._calibration(embedder))

    def embedder(self, info: CollectionInfo | None = None) -> Embedder:
        """The embedder a collection was built with; without one, that of new collections.

        Raises ``EmbeddingMismatch`` for a model that is not at hand, ``ModelNotRecorded`` for a collection that another
        program made, ``UnknownProvider`` for a setting that names no model.
        """
        if info is None:
            return self._new_embedder()
        model = info.embedding_model
        if model == UNKNOWN_MODEL:
            raise ModelNotRecorded.named(info.name)
        if model.startswith(_OLLAMA):
            key = (model, info.query_prefix, info.passage_prefix)
            return self._cached(
                *key, lambda: make_embedder(model, self._settings, info.query_prefix, info.passage_prefix)
            )
        hashing = HashingEmbedder(info.dim)
        if model == hashing.model_id:
            return self._cached(model, "", "", lambda: hashing)
        builtin = self._builtin_embedder()
        if model != builtin.model_id:
            raise EmbeddingMismatch.between(info.name, model, builtin.model_id)
        return builtin

    def memory(self) -> MilvusMemory:
        """Long-term memory, in the store of the settings whatever store a run searches; opened by its first call."""
        if self._memory is None:
            embedder = self._builtin_embedder()
            token = self._settings.milvus_token.get_secret_value()
            self._memory = MilvusMemory(self._settings.store_uri, token, embedder, lambda: self._calibration(embedder))
        return self._memory

    async def collections(self) -> list[CollectionInfo]:
        return await (await self._store()).collections()

    async def describe(self, collection: str) -> CollectionInfo:
        return await (await self._store()).describe(collection)

    async def sources(self, collection: str) -> list[SourceInfo]:
        return await (await self._store()).sources(collection)

    async def passages(self, collection: str, source: str) -> list[StoredPassage]:
        return await (await self._store()).passages(collection, source)

    async def delete_source(self, collection: str, source: str) -> int:
        return await (await self._store()).delete_source(collection, source)

    async def set_query_prefix(self, collection: str, prefix: str) -> CollectionInfo:
        """Change what is put before queries of a collection; what is stored does not depend on it.

        Raises ``InvalidConfig`` where the model has fixed prefixes, as the built-in ones do, ``UnknownCollection``, and
        ``ForeignCollection`` for one that another program made.
        """
        store = await self._store()
        info = await store.describe(collection)
        if info.embedding_model.startswith(_OLLAMA) or info.embedding_model == UNKNOWN_MODEL:
            _check_prefix("query_prefix", prefix)
            return await store.set_query_prefix(collection, prefix)
        _refuse_other(collection, "query_prefix", info.query_prefix, prefix)
        return info

    async def ingest(
        self,
        items: Sequence[IngestItem],
        collection: str,
        progress: Callable[[Progress], None] | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> IngestReport:
        """Put documents into a collection, with the embedder it was built with, or the default for a new one.

        Prefixes are recorded with a new collection; None takes those known for the model. Raises ``InvalidConfig``
        where the model or the existing collection has others.
        """
        store = await self._store()
        try:
            info = await store.describe(collection)
        except UnknownCollection:
            embedder = self._new_embedder(query_prefix, passage_prefix)
        else:
            embedder = self.embedder(info)
        _refuse_other(collection, "query_prefix", embedder.query_prefix, query_prefix)
        _refuse_other(collection, "passage_prefix", embedder.passage_prefix, passage_prefix)
        await _known(embedder)
        # Beside the ingestion, so that the first question does not pay for the anchors out of its budget.
        self._calibrating(embedder)
        return await ingest(store, embedder, collection, items, progress, limit_mb=self._settings.max_upload_mb)

    async def close(self) -> None:
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
        if self._memory is not None:
            await self._memory.close()
        for store in self._stores.values():
            await store.close()

    async def _open(self) -> None:
        store = self._at(self._settings.store_uri)
        embedder = await asyncio.to_thread(self._builtin_embedder)
        await ensure_samples(store, embedder)
        await self._calibration(embedder)

    async def _store(self, address: str = "") -> MilvusStore:
        if address and address != self._settings.store_uri:
            return self._at(address)
        await self.ready()
        return self._at(self._settings.store_uri)

    def _at(self, uri: str) -> MilvusStore:
        if uri not in self._stores:
            # The token is for one server: another one that may be named must not learn it.
            own = uri == self._settings.milvus_uri
            self._stores[uri] = MilvusStore(uri, self._settings.milvus_token.get_secret_value() if own else "")
        return self._stores[uri]

    def _new_embedder(self, query_prefix: str | None = None, passage_prefix: str | None = None) -> Embedder:
        """The embedder of new collections; None takes the prefix known for the model, a model with its own keeps it."""
        chosen = self._settings.embedding_model
        if chosen == BUILTIN:
            return self._builtin_embedder()
        if chosen == "hashing":
            return self._cached(HashingEmbedder().model_id, "", "", HashingEmbedder)
        _check_prefix("query_prefix", query_prefix)
        _check_prefix("passage_prefix", passage_prefix)
        key = (chosen, query_prefix, passage_prefix)
        return self._cached(*key, lambda: make_embedder(chosen, self._settings, query_prefix, passage_prefix))

    def _builtin_embedder(self) -> Embedder:
        if self._builtin is None:
            self._builtin = SharedQueries(builtin_embedder(self._settings.embedding_threads))
        return self._builtin

    def _cached(self, model: str, query: str | None, passage: str | None, make: Callable[[], Embedder]) -> Embedder:
        key = (model, query, passage)
        if key not in self._embedders:
            self._embedders[key] = make()
        return self._embedders[key]

    async def _calibration(self, embedder: Embedder) -> Calibration:
        # Shielded: a cancelled run must not throw away the anchors that the next one needs.
        return await asyncio.shield(self._calibrating(embedder))

    def _calibrating(self, embedder: Embedder) -> asyncio.Task[Calibration]:
        """The one loading of a model's anchors, for all who need it; a failed one is begun anew."""
        # Not the model's name alone: two collections may have the same model with other prefixes.
        key = slug(embedder)
        loading = self._calibrations.get(key)
        if loading is None or (loading.done() and (loading.cancelled() or loading.exception() is not None)):
            loading = asyncio.create_task(Calibration.load(embedder, self._settings.data_dir))
            # Looked at here, so that a fault which nobody waits for is not reported as never retrieved.
            loading.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._calibrations[key] = loading
        return loading


async def _known(embedder: Embedder) -> Embedder:
    """The embedder once it knows its dimension: a served model learns it from its first reply."""
    await embedder.embed_passages(())
    return embedder


def _check_prefix(field: str, prefix: str | None) -> None:
    # Half a surrogate pair has no UTF-8 form, and neither the store nor the model would take it.
    if prefix is None or (len(prefix) <= _LONGEST_PREFIX and not any("\ud800" <= char <= "\udfff" for char in prefix)):
        return
    raise InvalidConfig(
        f"{field} must be a text of at most {_LONGEST_PREFIX} characters.",
        remedy=f"Shorten {field}, or leave it out to take the one known for the model.",
        params={"field": field},
        field=field,
    )


def _refuse_other(collection: str, field: str, has: str, asked: str | None) -> None:
    """Raise ``InvalidConfig`` where another prefix is asked for than the one that is fixed."""
    if asked is not None and asked != has:
        raise InvalidConfig(
            f"Collection {collection!r} has {has!r} as its {field}.",
            remedy=f"Leave {field} out, or ingest into a new collection with an embedding model of Ollama.",
            params={"field": field, "collection": collection},
            field=field,
        )


__all__ = ["SAMPLE_COLLECTION", "KnowledgeBase"]
