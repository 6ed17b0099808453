"""A knowledge base of one store and the hashing embedder, for tests of jobs: it opens in a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from engine.builtin.embedder import HashingEmbedder
from engine.errors import UnknownCollection
from engine.knowledge.ingest import IngestItem, IngestReport, Progress, ingest
from engine.knowledge.journal import Journal
from engine.knowledge.kept_replies import KeptReplies
from engine.knowledge.milvus_store import MilvusStore
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions
from engine.model.values import Fault, PassageContext
from engine.roles import CollectionInfo, Embedder, SourceInfo, Vector
from engine.settings import Settings


class StallingEmbedder(HashingEmbedder):
    """Says before which batch it waits for ever, so that a test can stop or kill what it works for there."""

    def __init__(self, stall_at: int = -1, on_stall: Callable[[], object] = lambda: None) -> None:
        super().__init__(64)
        self.batches: list[int] = []
        self.stall_at = stall_at
        self.on_stall = on_stall

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        if texts and len(self.batches) == self.stall_at:
            self.on_stall()
            await asyncio.Event().wait()
        if texts:
            self.batches.append(len(texts))
        return await super().embed_passages(texts)


class PlainKnowledge:
    """What :class:`engine.knowledge.jobs.Jobs` and the facade need of a knowledge base."""

    def __init__(self, folder: Path, embedder: Embedder | None = None, store: MilvusStore | None = None) -> None:
        self.settings = Settings(data_dir=folder)
        self.embedder = embedder or StallingEmbedder()
        self.store = store or MilvusStore(str(folder / "knowledge.db"))

    async def embedder_into(self, collection: str, *_: object) -> Embedder:
        return self.embedder

    async def collections(self) -> list[CollectionInfo]:
        return await self.store.collections()

    async def describe(self, collection: str) -> CollectionInfo:
        return await self.store.describe(collection)

    async def sources(self, collection: str) -> list[SourceInfo]:
        try:
            return await self.store.sources(collection)
        except UnknownCollection:
            return []

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
        return await ingest(
            self.store,
            self.embedder,
            collection,
            items,
            progress,
            chunks=chunks,
            journal=journal,
            failed=failed,
            description=description,
            context=context,
        )

    async def close(self) -> None:
        await self.store.close()


def knows(knowledge: PlainKnowledge) -> Any:
    """As the type that jobs ask for."""
    return knowledge
