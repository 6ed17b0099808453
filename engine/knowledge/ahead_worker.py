"""What a worker of a Ray cluster does for an ingestion: it reads and cuts files, and embeds texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from engine.executing.blocks import Block, Performer
from engine.executing.engines import WorkerEngine, acting_for
from engine.knowledge.ingest import cut
from engine.knowledge.items import IngestItem
from engine.library.values import ChunkOptions
from engine.roles import Vector


def in_a_worker(*, settings: Mapping[str, Any], collection: str, person: Mapping[str, Any] | None) -> Performer:
    """A performer with an engine of its own."""
    return acting_for(person, _Parts(WorkerEngine(settings, 1), collection))


class _Parts:
    def __init__(self, own: WorkerEngine, collection: str) -> None:
        self._own = own
        self._collection = collection

    def perform(self, block: Block) -> tuple[Any, bytes]:
        work = block.work
        if work["do"] == "read":
            item = IngestItem(work["name"], data=block.data, hidden=work["hidden"])
            entry, passages = cut(work["place"], item, work["limit_mb"], ChunkOptions(**work["chunks"]))
            return {"entry": asdict(entry), "passages": [asdict(passage) for passage in passages]}, b""
        vectors = self._own.call(self._embedded(work["texts"]))
        return None, np.ascontiguousarray(vectors, dtype=np.float32).tobytes()

    def stop(self) -> None:
        """A file or a batch of texts takes seconds."""

    def close(self) -> None:
        self._own.close()

    async def _embedded(self, texts: Sequence[str]) -> Vector:
        embedder = await self._own.engine.resources.knowledge.embedder_into(self._collection)
        vectors: Vector = await embedder.embed_passages(texts)
        return vectors
