"""The scores of what a graph leads to: pure functions, the same in a run and in every what-if (GH-01)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.model.values import FoundCommunity, FoundEntity, LinkedBy, PassageId, Relationship

DECAY = 0.6
"""What is left of an entity's score one relationship further on."""
MENTION = 0.5
"""What a passage that only speaks of an entity gets of its score, against 1 for one that tells a relationship."""
LEAST_SHARE = 0.5
"""What the lightest of the relationships found lets through, against 1 for the heaviest."""
BASE = 0.35
"""Share of a graph score that does not depend on how similar the passage is to the query."""
LINK_SCORES: Mapping[LinkedBy, float] = {"name": 1.0, "alias": 0.9, "passage": 0.5}
"""How surely an entity is meant, by how it was come to."""
TELLING = 10
"""Places in a community's list of passages after which one counts for half."""
LEAST_NEAR = 0.05
"""What the nearest communities count for where none is like the query: they are looked inside all the same."""
MOST_VIA = 6
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class GraphPassage:
    """A passage as the graph leads to it."""

    id: PassageId
    weight: float
    """Of what leads to it, in [0, 1], before its similarity to the query."""
    via: tuple[str, ...]
    """Ids of entities and relationships, the strongest first."""


def spread(
    seeds: Mapping[str, float], hops: Mapping[str, int], relationships: Sequence[Relationship]
) -> dict[str, float]:
    """Score of every entity around the seeds, in [0, 1]: each hop leaves :data:`DECAY`, a light relationship less.

    ``hops`` are relationships away from the nearest seed. An entity that several ways lead to gets more than from any
    one of them.
    """
    shares = _shares(relationships)
    missed: dict[str, float] = {}
    scores = {name: min(1.0, max(0.0, score)) for name, score in seeds.items()}
    for distance in range(1, max(hops.values(), default=0) + 1):
        for item in relationships:
            for near, far in ((item.source, item.target), (item.target, item.source)):
                if hops.get(near) == distance - 1 and hops.get(far) == distance and near in scores:
                    missed[far] = missed.get(far, 1.0) * (1.0 - scores[near] * DECAY * shares[item.id])
        scores |= {name: round(1.0 - left, _DIGITS) for name, left in missed.items() if name not in scores}
    return scores


def lead_to(
    scores: Mapping[str, float],
    mentioned_in: Mapping[str, Sequence[PassageId]],
    relationships: Sequence[Relationship],
) -> tuple[GraphPassage, ...]:
    """The passages that entities and relationships lead to, the weightiest first.

    A relationship counts by its better end, a mention by :data:`MENTION` of its entity; several of them add up as
    independent hints do.
    """
    shares = _shares(relationships)
    hints: dict[PassageId, dict[str, float]] = {}
    for name, passages in mentioned_in.items():
        for passage_id in passages:
            hints.setdefault(passage_id, {})[name] = scores.get(name, 0.0) * MENTION
    for item in relationships:
        weight = max(scores.get(item.source, 0.0), scores.get(item.target, 0.0)) * shares[item.id]
        for passage_id in item.passages:
            hints.setdefault(passage_id, {})[item.id] = weight
    found = [_passage(passage_id, led) for passage_id, led in hints.items()]
    return tuple(sorted(found, key=lambda item: (-item.weight, item.id)))


def passages_of(communities: Sequence[FoundCommunity]) -> tuple[GraphPassage, ...]:
    """The passages of communities, by the similarity of their summaries and by their place among the most telling."""
    hints: dict[PassageId, dict[str, float]] = {}
    for found in communities:
        for place, passage_id in enumerate(found.community.passages):
            weight = max(found.similarity, LEAST_NEAR) / (1.0 + place / TELLING)
            hints.setdefault(passage_id, {})[found.community.id] = weight
    led = [_passage(passage_id, by) for passage_id, by in hints.items()]
    return tuple(sorted(led, key=lambda item: (-item.weight, item.id)))


def filling(
    ranked: Sequence[FoundCommunity], nearest: int, wanted: int
) -> tuple[tuple[tuple[FoundCommunity, ...], tuple[GraphPassage, ...]], ...]:
    """Blocks of communities with the passages that each is the first to lead to.

    The ``nearest`` are one block; every further one is a block of its own, until ``wanted`` passages are led to.
    """
    blocks = [(tuple(ranked[:nearest]), passages_of(ranked[:nearest]))]
    met = {item.id for item in blocks[0][1]}
    for further in ranked[nearest:]:
        if len(met) >= wanted:
            break
        new = tuple(item for item in passages_of([further]) if item.id not in met)
        if new:
            blocks.append(((further,), new))
            met |= {item.id for item in new}
    return tuple(blocks)


def graph_score(weight: float, similarity: float) -> float:
    """Score of a passage in [0, 1]: what leads to it, and in part how similar it is to the query."""
    bounded = min(1.0, max(0.0, weight))
    return round(bounded * (BASE + (1.0 - BASE) * min(1.0, max(0.0, similarity))), _DIGITS)


def most_important(
    relationships: Sequence[Relationship], scores: Mapping[str, float], limit: int
) -> tuple[Relationship, ...]:
    """Relationships by the scores of both ends and their weight, at most ``limit``."""

    def order(item: Relationship) -> tuple[float, float, str]:
        return -(scores.get(item.source, 0.0) + scores.get(item.target, 0.0)), -item.weight, item.id

    return tuple(sorted(relationships, key=order)[:limit])


def best_entities(found: Sequence[FoundEntity], limit: int) -> tuple[FoundEntity, ...]:
    """Entities of the query first, then nearer before farther, better before worse."""
    return tuple(sorted(found, key=lambda item: (item.hops, -item.score, item.entity.id))[:limit])


def _passage(passage_id: PassageId, led: Mapping[str, float]) -> GraphPassage:
    strongest = sorted(led, key=lambda name: (-led[name], name))
    weight = 1.0 - math.prod(1.0 - min(1.0, value) for value in led.values())
    return GraphPassage(passage_id, round(weight, _DIGITS), tuple(strongest[:MOST_VIA]))


def _shares(relationships: Sequence[Relationship]) -> dict[str, float]:
    """Return the share that each relationship passes on, in [LEAST_SHARE, 1], by its weight against the heaviest."""
    heaviest = max((item.weight for item in relationships), default=1.0) or 1.0
    return {item.id: LEAST_SHARE + (1.0 - LEAST_SHARE) * min(1.0, item.weight / heaviest) for item in relationships}
