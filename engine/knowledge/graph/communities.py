"""Entities that belong together, found by how they are related: the same graph has the same communities.

Louvain's method (Blondel et al. 2008, Fast unfolding of communities in large networks) on the undirected graph, every
relationship with its weight. It looks at entities in an order drawn from a seed, so seed and order are fixed here.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from engine.model.values import Community, Entity, PassageId, Relationship

RESOLUTION = 1.0
LARGEST = 60
"""Entities of a community that a summary can still speak of; a larger one is divided where it can be."""
SMALLEST = 2
"""An entity that is related to nothing belongs to no community."""
MOST_PASSAGES = 100

_SEED = 20_260_101
_FINER = (2.0, 4.0, 8.0)
"""Resolutions that a too large community is tried with, until one divides it."""


def communities_of(entities: Sequence[Entity], relationships: Sequence[Relationship]) -> list[Community]:
    """Communities without title and summary, the largest first, then by id.

    Ids depend on the members alone, so that a community which stayed the same can keep its summary.
    """
    graph = _graph(entities, relationships)
    if graph.number_of_edges() == 0:
        return []
    parts = [part for found in _parts(graph, RESOLUTION) for part in _divided(graph, found)]
    by_id = {entity.id: entity for entity in entities}
    where = {id_: number for number, part in enumerate(parts) for id_ in part}
    inside: defaultdict[int, list[Relationship]] = defaultdict(list)
    for item in relationships:
        if item.source in where and where.get(item.target) == where[item.source]:
            inside[where[item.source]].append(item)
    found = [
        _community([by_id[id_] for id_ in part], inside[number])
        for number, part in enumerate(parts)
        if len(part) >= SMALLEST
    ]
    return sorted(found, key=lambda item: (-len(item.entities), item.id))


def community_id(entities: Iterable[str]) -> str:
    """The id of a community of these entities."""
    members = "\n".join(sorted(entities))
    return hashlib.sha256(members.encode()).hexdigest()[:12]


def _graph(entities: Iterable[Entity], relationships: Iterable[Relationship]) -> Any:
    # Imported here: it takes a quarter of a second that only a building of a graph needs to wait for.
    import networkx

    graph: Any = networkx.Graph()
    graph.add_nodes_from(sorted(entity.id for entity in entities))
    weights: defaultdict[tuple[str, str], float] = defaultdict(float)
    for item in relationships:
        if item.source in graph and item.target in graph and item.source != item.target:
            weights[min(item.source, item.target), max(item.source, item.target)] += item.weight
    graph.add_weighted_edges_from((one, other, weight) for (one, other), weight in sorted(weights.items()))
    return graph


def _parts(graph: Any, resolution: float) -> list[list[str]]:
    from networkx.algorithms.community import louvain_communities

    found = louvain_communities(graph, weight="weight", resolution=resolution, seed=_SEED)
    return sorted(sorted(part) for part in found)


def _divided(graph: Any, part: list[str]) -> list[list[str]]:
    if len(part) <= LARGEST:
        return [part]
    within = _sub(graph, part)
    for resolution in _FINER:
        smaller = _parts(within, resolution)
        # Of a wheel around one hub only the hub and single spokes would be left, which no one can sum up.
        large = [piece for piece in smaller if len(piece) >= SMALLEST]
        if len(large) > 1 and sum(map(len, large)) >= len(part) / 2:
            return [further for piece in large for further in _divided(graph, piece)]
    return [part]


def _sub(graph: Any, part: list[str]) -> Any:
    import networkx

    # A view would walk its nodes in the order of a set of texts, which differs from process to process.
    within: Any = networkx.Graph()
    within.add_nodes_from(part)
    inside = frozenset(part)
    for one in part:
        for other, edge in sorted(graph.adj[one].items()):
            if other in inside and one < other:
                within.add_edge(one, other, weight=edge["weight"])
    return within


def _community(members: Sequence[Entity], relationships: Sequence[Relationship]) -> Community:
    central: defaultdict[str, float] = defaultdict(float)
    for item in relationships:
        central[item.source] += item.weight
        central[item.target] += item.weight
    ordered = sorted(members, key=lambda item: (-central[item.id], -item.degree, item.id))
    ids = tuple(item.id for item in ordered)
    return Community(community_id(ids), "", "", ids, _most_telling(members, relationships))


def _most_telling(members: Iterable[Entity], relationships: Iterable[Relationship]) -> tuple[PassageId, ...]:
    """Passages that tell most of the relationships inside, and speak of most members."""
    mentions: Counter[PassageId] = Counter(passage for item in relationships for passage in item.passages)
    mentions.update(passage for entity in members for passage in entity.passages)
    return tuple(sorted(mentions, key=lambda passage: (-mentions[passage], passage))[:MOST_PASSAGES])
