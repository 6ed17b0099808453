"""Dense retrieval from one collection, with similarities that mean the same for every model and store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.errors import EmbeddingMismatch
from engine.knowledge.milvus_store import MilvusStore
from engine.language import language_of
from engine.nodes.run_context import Retrieval
from engine.retrieval.similarity import Calibration
from engine.roles import CollectionInfo, Embedder, Hit, Vector
from engine.values import Passage


class DenseRetriever:
    """Embeds a query with the collection's own model and searches the store (SPEC SC-02, SC-09)."""

    def __init__(
        self, store: MilvusStore, embedder: Embedder, collection: CollectionInfo, calibration: Calibration
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._collection = collection
        self._calibration = calibration
        self._queries: dict[str, Vector] = {}

    @classmethod
    def checked(
        cls, store: MilvusStore, embedder: Embedder, collection: CollectionInfo, calibration: Calibration
    ) -> DenseRetriever:
        """Raises ``EmbeddingMismatch`` naming both models where vectors of the two would not be comparable."""
        if (embedder.model_id, embedder.dim) != (collection.embedding_model, collection.dim):
            raise EmbeddingMismatch.between(
                collection.name,
                f"{collection.embedding_model} ({collection.dim} dimensions)",
                f"{embedder.model_id} ({embedder.dim} dimensions)",
            )
        return cls(store, embedder, collection, calibration)

    @property
    def manifest(self) -> dict[str, str]:
        """What a record says of the collection that was searched."""
        info = self._collection
        return {
            "collection": info.name,
            "collection_fingerprint": info.fingerprint,
            "collection_passages": str(info.passages),
            "embedding_model": info.embedding_model,
            "dimension": str(info.dim),
            "query_prefix": info.query_prefix,
            "passage_prefix": info.passage_prefix,
        }

    async def search(self, query: str, limit: int) -> Retrieval:
        """At most ``limit`` passages, best first; fewer where the collection has fewer."""
        vector = await self._embed(query)
        floor = self._calibration.floor(vector, language_of(query))
        hits = await self._store.search(self._collection.name, vector, limit)
        passages = tuple(_passage(hit, self._calibration.similarity(hit.cosine, floor.value)) for hit in hits)
        return Retrieval(passages=passages, floor=floor.value, anchors=floor.anchors)

    async def similarity_of(self, question: str, passages: Sequence[Passage]) -> list[float]:
        """Similarity of each passage to the question as asked, whichever query found it.

        A grader must give one passage one verdict in every round, so it may not look at the score of a rewrite.
        """
        vector = await self._embed(question)
        floor = self._calibration.floor(vector, language_of(question)).value
        vectors = await self._store.vectors(self._collection.name, [passage.id for passage in passages])
        return [
            self._calibration.similarity(float(np.dot(vector, vectors[passage.id])), floor)
            if passage.id in vectors
            else passage.similarity
            for passage in passages
        ]

    async def _embed(self, text: str) -> Vector:
        # One run asks for the question's vector in every round.
        if text not in self._queries:
            self._queries[text] = await self._embedder.embed_query(text)
        return self._queries[text]


def _passage(hit: Hit, similarity: float) -> Passage:
    stored = hit.passage
    return Passage(
        id=stored.id,
        source=stored.source,
        text=stored.text,
        similarity=similarity,
        raw_score=hit.cosine,
        section=stored.section,
        title=stored.title,
        ordinal=stored.ordinal,
    )
