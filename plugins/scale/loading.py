"""Passages with vectors from another program into a collection, in blocks: by requests, or by import of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from engine.errors import UnknownCollection
from engine.knowledge.milvus_reader import cosine
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.source_writing import make_collection, wholly
from engine.model.values import PassageContext
from engine.roles import Embedder
from plugins.scale.bulk import ImportFolder
from plugins.scale.errors import VECTORS_UNLIKE
from plugins.scale.indexes import Indexes
from plugins.scale.vector_files import EmbeddedSource, sources_of

BLOCK = 1_000
BULK_BLOCK = 20_000
"""Passages of one file to import: 150 MB with 384 dimensions."""
_COMPARED = 4
_SAME_VECTORS = 0.9
"""Least mean cosine of vectors of the same model: what other programs round or cut differently is above it."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Result of loading."""

    sources: int = 0
    passages: int = 0
    skipped: int = 0
    """Sources that the collection had already as they are in the files."""


async def load_vectors(
    store: MilvusStore,
    embedder: Embedder,
    collection: str,
    files: Iterable[Path],
    progress: Callable[[LoadReport], None] | None = None,
    *,
    folder: ImportFolder | None = None,
    context: PassageContext | None = None,
) -> LoadReport:
    """Put the sources of files into a collection, which is made where it is missing.

    A source that is there as it is in the files is skipped, so that what was cut off is resumed by calling again; one
    of the same name with other content is replaced. ``context`` is the form that the vectors of a new collection were
    made in, bare texts where it is not said. With a ``folder`` a server imports blocks from there. Nothing is
    embedded but a few texts, to see that the vectors are of this model: raises ``StoreError`` before anything is
    written, and otherwise as :func:`~plugins.scale.vector_files.sources_of` when it comes to a row of that kind.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    loading = _Loading(store, collection, folder, progress)
    for number, source in enumerate(sources_of(files, embedder.dim, now)):
        if not number:
            form = await _form(store, collection, context)
            await _check_same_vectors(embedder, source, collection, form)
            await make_collection(store, collection, embedder, "", form)
            present = {info.source: info for info in await store.sources(collection)}
        there = present.get(source.name)
        whole = there is not None and there.content_hash == source.content_hash
        await loading.add(source, whole=whole, replaces=there is not None)
    await loading.write()
    await store.settle(collection, loading.report.passages)
    return loading.report


async def _form(store: MilvusStore, collection: str, context: PassageContext | None) -> PassageContext:
    """The form of context of a collection that is there; a new one gets that which the vectors are said to be in."""
    try:
        return (await store.describe(collection)).context
    except UnknownCollection:
        return context or "none"


async def _check_same_vectors(
    embedder: Embedder, source: EmbeddedSource, collection: str, context: PassageContext
) -> None:
    few = source.passages[:_COMPARED]
    again = await embedder.embed_passages([item.searched(context) for item in few])
    found = float(np.mean([cosine(row, known) for row, known in zip(again, source.vectors, strict=False)]))
    if found < _SAME_VECTORS:
        raise VECTORS_UNLIKE(collection=collection, model=embedder.model_id, cosine=round(found, 2))


class _Loading:
    """Sources that wait to be written together."""

    def __init__(
        self,
        store: MilvusStore,
        collection: str,
        folder: ImportFolder | None,
        progress: Callable[[LoadReport], None] | None,
    ) -> None:
        self.report = LoadReport()
        self._store = store
        self._collection = collection
        self._folder = folder
        self._progress = progress
        self._waiting: list[tuple[EmbeddedSource, bool]] = []

    async def add(self, source: EmbeddedSource, *, whole: bool, replaces: bool) -> None:
        if whole:
            self.report = LoadReport(self.report.sources, self.report.passages, self.report.skipped + 1)
        else:
            self._waiting.append((source, replaces))
        most = BLOCK if self._folder is None else BULK_BLOCK
        if sum(len(item.passages) for item, _ in self._waiting) >= most:
            await self.write()

    async def write(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            await wholly(self._put(waiting))
            passages = sum(len(item.passages) for item, _ in waiting)
            before = self.report
            self.report = LoadReport(before.sources + len(waiting), before.passages + passages, before.skipped)
        if self._progress is not None:
            self._progress(self.report)

    async def _put(self, waiting: Sequence[tuple[EmbeddedSource, bool]]) -> None:
        store, collection = self._store, self._collection
        passages = [passage for item, _ in waiting for passage in item.passages]
        vectors = np.concatenate([item.vectors for item, _ in waiting])
        if self._folder is not None:
            await Indexes(store).bulk_insert(collection, passages, vectors, self._folder)
            return
        for item, replaces in waiting:
            if replaces:
                await store.delete_source(collection, item.name)
        await store.insert(collection, passages, vectors)
