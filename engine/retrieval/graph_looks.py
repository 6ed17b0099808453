"""What searches need of a graph again and again: its names, and the vectors of its communities, made when missing."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.builtin.scripts import one_script
from engine.model.config import BUILTIN
from engine.model.values import Community, PassageId
from engine.retrieval.shipped import embedded_with_shipped
from engine.roles import Embedder, PassageReader, Vector
from engine.roles.graph import GraphInfo, GraphStore

_KEPT = 8
"""Graphs whose names and vectors are kept."""
MADE_FROM = 8
"""Passages that stand for a community, the most telling first: as many as its summary is made from."""


@dataclass(frozen=True, slots=True, eq=False)
class Summarised:
    """Communities with the vectors of their summaries, shape (len(communities), dim)."""

    communities: tuple[Community, ...]
    vectors: Vector


class GraphLooks:
    """Keeps what was read of the newest graphs while they stay as they are; lives on the engine's event loop."""

    def __init__(self) -> None:
        self._names: OrderedDict[GraphInfo, Mapping[str, tuple[str, ...]]] = OrderedDict()
        self._summarised: OrderedDict[tuple[GraphInfo, str, str], asyncio.Task[Summarised]] = OrderedDict()
        self._reading = asyncio.Lock()

    async def names(self, graphs: GraphStore, info: GraphInfo) -> Mapping[str, tuple[str, ...]]:
        """Normalised names and aliases of a graph, in simplified Chinese, with the ids that they stand for."""
        async with self._reading:
            if info not in self._names:
                found: dict[str, tuple[str, ...]] = {}
                for name, ids in (await graphs.names(info.collection)).items():
                    found[one_script(name)] = tuple(dict.fromkeys((*found.get(one_script(name), ()), *ids)))
                self._names[info] = found
                _forget_oldest(self._names)
            return self._names[info]

    async def summarised(
        self, graphs: GraphStore, info: GraphInfo, store: PassageReader, embedder: Embedder
    ) -> Summarised:
        """The communities of a graph, as passages of the collection's own model."""
        key = (info, embedder.model_id, embedder.passage_prefix)
        task = self._summarised.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(_summaries(graphs, info, store, embedder))
            # Looked at here, so that a fault which no one waits for is not reported as never retrieved.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            self._summarised[key] = task
            _forget_oldest(self._summarised)
        # Shielded: hundreds of summaries take the bundled model longer than a search may wait, and the next one needs
        # them again.
        return await asyncio.shield(task)


async def _summaries(graphs: GraphStore, info: GraphInfo, store: PassageReader, embedder: Embedder) -> Summarised:
    found = tuple(await graphs.communities(info.collection))
    return Summarised(found, await community_vectors(found, store, info.collection, embedder))


def _forget_oldest(kept: OrderedDict[Any, Any]) -> None:
    while len(kept) > _KEPT:
        kept.popitem(last=False)


async def community_vectors(
    communities: Sequence[Community], store: PassageReader, collection: str, embedder: Embedder
) -> Vector:
    """One vector a community, shape (n, dim), of unit length.

    A summary of sentences of its passages is placed where these are: the mean of their stored vectors. A bundled model
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
