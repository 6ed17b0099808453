"""Work of another process for an ingestion: reading and cutting files, and embedding texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from engine.distributed import Block
from engine.knowledge.ingest import cut
from engine.knowledge.items import IngestItem
from engine.library.values import ChunkOptions
from engine.roles import Vector


class AheadParts:
    """The performer of an ingestion's parts, over the ``Engine`` of its process."""

    def __init__(self, engine: Any, collection: str) -> None:
        self._engine = engine
        self._collection = collection

    def perform(self, block: Block) -> tuple[Any, bytes]:
        work = block.work
        if work["do"] == "read":
            item = IngestItem(work["name"], data=block.data, hidden=work["hidden"])
            entry, passages = cut(work["place"], item, work["limit_mb"], ChunkOptions(**work["chunks"]))
            return {"entry": asdict(entry), "passages": [asdict(passage) for passage in passages]}, b""
        vectors = self._engine._loop.call(self._embedded(work["texts"]))
        return None, np.ascontiguousarray(vectors, dtype=np.float32).tobytes()

    def stop(self) -> None:
        """A file or a batch of texts takes seconds."""

    def close(self) -> None:
        """It holds nothing."""

    async def _embedded(self, texts: Sequence[str]) -> Vector:
        embedder = await self._engine.resources.knowledge.embedder_into(self._collection)
        vectors: Vector = await embedder.embed_passages(texts)
        return vectors
