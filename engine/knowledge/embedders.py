"""Embedders by the names of their models, each made once, and what turns their cosines into similarities."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from engine.builtin.embedder import HashingEmbedder, builtin_embedder
from engine.errors import InvalidConfig, StoreError
from engine.llm.embedder import make_embedder
from engine.model.config import BUILTIN, LOCAL
from engine.model.values import PassageContext
from engine.retrieval.shipped import calibration_of
from engine.retrieval.similarity import Calibration
from engine.roles import UNKNOWN_MODEL, CollectionInfo, Embedder, Vector, slug
from engine.settings import Settings

SERVED = ("ollama:", LOCAL)
"""Begin the names of models that are made here whenever they are named: they know their width when they are asked."""
_LONGEST_PREFIX = 500
_MOST = 64
"""Queries whose vectors are kept."""
_EmbedderKey = tuple[str, str | None, str | None]
"""Model, query prefix, passage prefix; None where the model's own prefix is taken, which need not be empty."""


class Embedders:
    """Embedders of collections; lives on the engine's event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedders: dict[_EmbedderKey, Embedder] = {}
        self._calibrations: dict[tuple[str, PassageContext], asyncio.Task[Calibration]] = {}
        self._builtin: Embedder | None = None

    def of(self, info: CollectionInfo) -> Embedder:
        """The embedder a collection was built with.

        Raises ``StoreError.embedding_mismatch`` for a model that is not at hand, ``StoreError.model_not_recorded`` for
        a collection that another program made, ``ModelError`` for a setting that names no model.
        """
        model = info.embedding_model
        if model == UNKNOWN_MODEL:
            raise StoreError.model_not_recorded(name=info.name)
        if model.startswith(SERVED):
            key = (model, info.query_prefix, info.passage_prefix)
            return self._cached(
                *key, lambda: make_embedder(model, self._settings, info.query_prefix, info.passage_prefix)
            )
        hashing = HashingEmbedder(info.dim)
        if model == hashing.model_id:
            return self._cached(model, "", "", lambda: hashing)
        builtin = self.builtin()
        if model != builtin.model_id:
            raise StoreError.embedding_mismatch(collection=info.name, built_with=model, offered=builtin.model_id)
        return builtin

    def called(
        self, model: str, dim: int, query_prefix: str | None = None, passage_prefix: str | None = None
    ) -> Embedder:
        """The embedder for vectors of ``dim`` numbers, by its id or as the settings call it; ``hashing`` has any width.

        Prefixes of None are those known for the model; the built-in ones have their own. Raises
        ``StoreError.embedding_mismatch`` for an id that is none of ours, ``InvalidConfig`` for a prefix that cannot be
        kept.
        """
        if model == BUILTIN:
            return self.builtin()
        if model.startswith(SERVED):
            check_prefix("query_prefix", query_prefix)
            check_prefix("passage_prefix", passage_prefix)
            key = (model, query_prefix, passage_prefix)
            return self._cached(*key, lambda: make_embedder(model, self._settings, query_prefix, passage_prefix))
        named = HashingEmbedder(dim).model_id if model == "hashing" else model
        return self.of(CollectionInfo("", named, dim, query_prefix or "", passage_prefix or "", ""))

    def new(self, query_prefix: str | None = None, passage_prefix: str | None = None, model: str = "") -> Embedder:
        """The embedder of new collections; None takes the prefix known for the model, a model with its own keeps it."""
        chosen = model or self._settings.embedding_model
        if chosen == BUILTIN:
            return self.builtin()
        if chosen == "hashing":
            return self._cached(HashingEmbedder().model_id, "", "", HashingEmbedder)
        check_prefix("query_prefix", query_prefix)
        check_prefix("passage_prefix", passage_prefix)
        key = (chosen, query_prefix, passage_prefix)
        return self._cached(*key, lambda: make_embedder(chosen, self._settings, query_prefix, passage_prefix))

    def builtin(self) -> Embedder:
        """The built-in embedder, which embeds each of the last queries once."""
        if self._builtin is None:
            self._builtin = SharedQueries(builtin_embedder(self._settings.embedding_threads))
        return self._builtin

    def _cached(self, model: str, query: str | None, passage: str | None, make: Callable[[], Embedder]) -> Embedder:
        key = (model, query, passage)
        if key not in self._embedders:
            self._embedders[key] = make()
        return self._embedders[key]

    async def calibration(self, embedder: Embedder, context: PassageContext = "none") -> Calibration:
        """Return the calibration from a model's cosines to similarities, for passages in a form of context.

        Its anchors are embedded on first use.
        """
        # Shielded: a cancelled run must not throw away the anchors that the next one needs.
        return await asyncio.shield(self.calibrating(embedder, context))

    def calibrating(self, embedder: Embedder, context: PassageContext) -> asyncio.Task[Calibration]:
        """The one loading of a model's anchors in one form, for all who need it; a failed one is started over."""
        # Not the model's name alone: two collections may have the same model with other prefixes.
        key = slug(embedder), context
        loading = self._calibrations.get(key)
        if loading is None or (loading.done() and (loading.cancelled() or loading.exception() is not None)):
            loading = asyncio.create_task(calibration_of(embedder, self._settings.data_dir, context))
            # Looked at here, so that a fault which no one waits for is not reported as never retrieved.
            loading.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._calibrations[key] = loading
        return loading


class SharedQueries:
    """An ``Embedder`` that embeds each of the last queries once; lives on one event loop.

    A long Chinese question takes seconds. A caller that gives up waiting leaves the work to the next one that asks.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._asked: dict[str, asyncio.Future[Vector]] = {}

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dim(self) -> int:
        return self._embedder.dim

    @property
    def query_prefix(self) -> str:
        return self._embedder.query_prefix

    @property
    def passage_prefix(self) -> str:
        return self._embedder.passage_prefix

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, of shape (dim,).

        Raises what the embedder raises, and asks it again the next time.
        """
        known = self._asked.pop(text, None)
        if known is None or (known.done() and (known.cancelled() or known.exception() is not None)):
            known = asyncio.ensure_future(self._embedder.embed_query(text))
            # Looked at here, so that a fault which no one waits for is not reported as never retrieved.
            known.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._asked[text] = known
        if len(self._asked) > _MOST:
            del self._asked[next(iter(self._asked))]
        return await asyncio.shield(known)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return await self._embedder.embed_passages(texts)


async def known(embedder: Embedder) -> Embedder:
    """The embedder once it knows its dimension: a served model learns it from its first reply."""
    await embedder.embed_passages(())
    return embedder


def check_prefix(field: str, prefix: str | None) -> None:
    # Half a surrogate pair has no UTF-8 form, and neither the store nor the model would take it.
    if prefix is None or (len(prefix) <= _LONGEST_PREFIX and not any("\ud800" <= char <= "\udfff" for char in prefix)):
        return
    raise InvalidConfig.prefix(field=field, most=_LONGEST_PREFIX)
