"""Requests to indexes and vector files, each through the rights of the current user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.engine import Engine
from engine.errors import StoreError
from engine.knowledge.manifest import Manifest
from engine.messages import N_
from engine.model.loop_thread import LoopThread, on_loop
from engine.model.values import PassageContext
from engine.people.authorization import authorized, needs
from engine.plugins import Inside, Part
from engine.roles import UNKNOWN_MODEL, CollectionInfo
from plugins.scale.bulk import ImportFolder
from plugins.scale.choice import kind_named, options
from plugins.scale.errors import INDEX_FIXED, INVALID_INDEX
from plugins.scale.indexes import Indexes
from plugins.scale.loading import LoadReport, load_vectors
from plugins.scale.values import IndexView


@authorized
class Scale(Part):
    """Safe to call from any thread; every method blocks until it is done unless it says otherwise."""

    def __init__(self, engine: Engine, inside: Inside) -> None:
        self._engine = engine
        self._loop: LoopThread = inside.loop

    @on_loop
    @needs("viewer")
    async def index(self, collection: str) -> IndexView:
        """Describe a collection's index, its measurements, and the alternatives.

        Raises ``UnknownCollection``, and ``StoreError.foreign_collection`` for a collection that another program made.
        """
        info, indexes = await self._own(collection), await self._indexes()
        state, recall = await indexes.state(info.name), await indexes.recall(info.name)
        return IndexView(info.name, state, recall, options(info.passages, info.dim) if state.changeable else ())

    @on_loop
    @needs("admin", log=N_("Breadth of a search changed"), on=("collection", "breadth"))
    async def set_breadth(self, collection: str, breadth: int) -> CollectionInfo:
        """Let searches of an index look further, or less far; 0 leaves it to the server."""
        info = await self._own(collection)
        return await (await self._indexes()).set_breadth(info.name, breadth)

    @on_loop
    @needs("editor", log=N_("Passages put in with their vectors"), on=("collection",))
    async def load_vectors(
        self,
        files: Sequence[Path],
        collection: str,
        embedding_model: str = "",
        progress: Callable[[LoadReport], None] | None = None,
        *,
        bulk: Path | None = None,
        bulk_as: str = "",
        context: PassageContext | None = None,
    ) -> LoadReport:
        """Put in passages that another program embedded, with the model that made their vectors; see
        :func:`plugins.scale.loading.load_vectors`.

        With ``bulk`` a Milvus server imports them from that folder, which it knows as ``bulk_as``. ``context`` is the
        form that the vectors were made in: ``none`` where it is not said, of a collection that is there its own.
        """
        folder = ImportFolder(bulk, bulk_as) if bulk is not None else None
        knowledge = self._engine.resources.knowledge
        embedder = await knowledge.embedder_into(collection, embedding_model, context=context)
        await embedder.embed_passages(())
        store = await knowledge.own_store()
        return await load_vectors(store, embedder, collection, files, progress, folder=folder, context=context)

    @needs("admin", log=N_("Index of a collection measured or changed"), on=("collection", "kind"))
    def start_index(self, collection: str, kind: str = "") -> str:
        """Begin to give a collection another index and to measure it; without a ``kind`` the one it has is measured.

        Returns the job's id. Raises ``UnknownCollection``, ``StoreError.foreign_collection``, and ``StoreError`` for no
        kind of ours and in an embedded store.
        """
        found = kind_named(kind)
        if kind and found is None:
            raise INVALID_INDEX(kind=kind)
        info = self._loop.call(self._own(collection))
        if not self._engine.settings.milvus_uri:
            raise INDEX_FIXED(collection=info.name)
        return self._engine.ingestions.begin(Manifest("", "index", info.name, "", "", index=found or ""))

    async def _own(self, collection: str) -> CollectionInfo:
        info = await self._engine.resources.knowledge.describe(collection)
        if info.read_only or info.embedding_model == UNKNOWN_MODEL:
            raise StoreError.foreign_collection(name=info.name)
        return info

    async def _indexes(self) -> Indexes:
        return Indexes(await self._engine.resources.knowledge.own_store())
