"""What searches need of a graph again and again: its names, and the vectors of its community summaries."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.roles import Embedder, Vector
from engine.roles.graph import GraphInfo, GraphStore
from engine.samples import embedded_with_shipped
from engine.values import Community

_KEPT = 8
"""Graphs whose names and vectors are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Summarised:
    """Communities with the vectors of their summaries, shape (len(communities), dim)."""

    communities: tuple[Community, ...]
    vectors: Vector


class GraphLooks:
    """Keeps what was read of the newest graphs while they stay as they are; lives on the engine's event loop."""

    def __init__(self) -> None:
        self._names: OrderedDict[GraphInfo, Mapping[str, tuple[str, ...]]] = OrderedDict()
        self._summarised: OrderedDict[tuple[GraphInfo, str, str], Summarised] = OrderedDict()
        self._reading = asyncio.Lock()

    async def names(self, graphs: GraphStore, info: GraphInfo) -> Mapping[str, tuple[str, ...]]:
        """Normalised names and aliases of a graph with the ids that they stand for."""
        async with self._reading:
            if info not in self._names:
                self._names[info] = await graphs.names(info.collection)
                _forget_oldest(self._names)
            return self._names[info]

    async def summarised(self, graphs: GraphStore, info: GraphInfo, embedder: Embedder) -> Summarised:
        """The communities of a graph, as passages of the collection's own model."""
        key = (info, embedder.model_id, embedder.passage_prefix)
        async with self._reading:
            if key not in self._summarised:
                found = tuple(await graphs.communities(info.collection))
                # Summaries of the samples come with their vectors: a first search of the graph does not wait for them.
                vectors, _ = await embedded_with_shipped(embedder, [told_text(item) for item in found])
                self._summarised[key] = Summarised(found, vectors)
                _forget_oldest(self._summarised)
            return self._summarised[key]


def told_text(community: Community) -> str:
    """What is embedded of a community."""
    return f"{community.title}\n{community.summary}".strip()


def _forget_oldest(kept: OrderedDict[Any, Any]) -> None:
    while len(kept) > _KEPT:
        kept.popitem(last=False)
