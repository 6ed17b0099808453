"""The vectors of a graph's communities, in the space of the passages of its collection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.model.config import BUILTIN
from engine.model.values import Community, PassageId
from engine.retrieval.shipped import embedded_with_shipped
from engine.roles import Embedder, PassageReader, Vector

MADE_FROM = 8
"""Passages that stand for a community, the most telling first: as many as its summary is made from."""


async def community_vectors(
    communities: Sequence[Community], store: PassageReader, collection: str, embedder: Embedder
) -> Vector:
    """One vector a community, shape (n, dim), of unit length.

    A summary made of sentences of its passages lies where these lie: the mean of their stored vectors. A bundled model
    would embed hundreds of such summaries for minutes. What a chat model or a person wrote is embedded, unless its
    vector came with the samples.
    """
    stored = await _stored(communities, store, collection)
    vectors = np.zeros((len(communities), embedder.dim), dtype=np.float32)
    written: list[int] = []
    for place, community in enumerate(communities):
        known = [stored[item] for item in community.passages[:MADE_FROM] if item in stored]
        if community.summarised_by == BUILTIN and known:
            mean = np.mean(np.stack(known), axis=0)
            vectors[place] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        else:
            written.append(place)
    if written:
        vectors[written], _ = await embedded_with_shipped(embedder, [embedded_text(communities[at]) for at in written])
    return vectors


def embedded_text(community: Community) -> str:
    """Return the text of a community that is embedded."""
    return f"{community.title}\n{community.summary}".strip()


async def _stored(communities: Sequence[Community], store: PassageReader, collection: str) -> dict[PassageId, Vector]:
    extracted = [item for item in communities if item.summarised_by == BUILTIN]
    ids = dict.fromkeys(passage for item in extracted for passage in item.passages[:MADE_FROM])
    return await store.vectors(collection, list(ids)) if ids else {}
