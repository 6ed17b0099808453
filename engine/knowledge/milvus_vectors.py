"""Vectors that go into a collection and hits that come out of it: widths checked, scores told as cosines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.errors import EmbeddingMismatch, StoreError
from engine.knowledge.milvus_catalogue import Catalogue
from engine.knowledge.milvus_probe import Scores
from engine.knowledge.milvus_schema import Layout
from engine.roles import Hit, Summaries, Vector

UNKNOWN_MODEL = "unknown"
"""Embedding model of a collection that another program made."""


def check_vectors(catalogue: Catalogue, name: str, layout: Layout, vectors: Vector, rows: int) -> None:
    """Raise ``EmbeddingMismatch`` for another width, ``StoreError`` unless there is one finite vector a row."""
    # An empty embedded collection answers a vector of any width with "no hits", so the store cannot be asked.
    if rows and vectors.shape[-1] != layout.dim:
        recorded = catalogue.collection(name) or {"embedding_model": UNKNOWN_MODEL}
        built_with = f"{recorded['embedding_model']} ({layout.dim} dimensions)"
        raise EmbeddingMismatch(
            collection=name, built_with=built_with, offered=f"a model of {vectors.shape[-1]} dimensions"
        )
    if len(vectors) != rows or not np.isfinite(vectors).all():
        raise StoreError.vectors_not_finite(collection=name)


def check_summaries(catalogue: Catalogue, name: str, layout: Layout, summaries: Summaries) -> None:
    """As :func:`check_vectors`, for summaries with theirs."""
    vectors = np.empty((0, layout.dim), dtype=np.float32) if summaries.vectors is None else summaries.vectors
    check_vectors(catalogue, name, layout, vectors, rows=len(summaries.rows))


def hit_of(name: str, layout: Layout, vector: Vector, item: Mapping[str, Any], scores: Scores) -> Hit:
    """A hit of a search by vectors, from what the client returns of it."""
    found = item["entity"]
    # Milvus Lite calls the key "id" no matter what its field is called; a server uses the field's name.
    passage = layout.passage(found, name, key=item.get(layout.key, item.get("id")))
    if layout.metric == "COSINE":
        return Hit(passage, scores.cosine(float(item["distance"])))
    return Hit(passage, cosine(vector, found[layout.vector]))


def cosine(left: Vector, right: Sequence[float]) -> float:
    """In [-1, 1]; 0 where either has no length."""
    other = np.asarray(right, dtype=np.float32)
    norms = float(np.linalg.norm(left) * np.linalg.norm(other))
    return min(1.0, max(-1.0, float(left @ other) / norms)) if norms else 0.0
