"""Lists of several source kinds made one: places by share, order by reciprocal rank (QL-03). Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.model.config import RunConfig
from engine.model.decide import gate_of
from engine.model.values import SOURCE_KINDS, Candidate, Passage, PassageId, Routing, SourceKind

RANK_CONSTANT = 60
"""``k`` of reciprocal rank fusion, 1 / (k + rank), as in Cormack, Clarke and Büttcher 2009."""

Lists = Mapping[SourceKind, Sequence[Passage]]


@dataclass(frozen=True, slots=True)
class _Merged:
    """A passage with all that the lists say of it."""

    passage: Passage
    kind: SourceKind
    found_at: Mapping[SourceKind, int]
    fused: float
    share: float

    @property
    def order(self) -> tuple[float, float, float, str]:
        return -self.fused, -self.share, -self.passage.similarity, self.passage.id


def fuse(lists: Lists, routing: Routing, config: RunConfig) -> tuple[Candidate, ...]:
    """Every passage of the lists once, in rank order: first those that got a place, then the others.

    Each kind has its share of ``top_k`` as places for the first of its list. A ``wide`` routing gives them to passages
    above the similarity threshold alone, and the places left over to the best of the rest, regardless of their kind.
    Selected passages have the ranks 1, 2, …, the others top_k + 1, …; a passage of two lists adds its reciprocal
    ranks and counts for the kind that has it higher up.
    """
    merged = _merge(lists, routing)
    chosen = _chosen(merged, routing, config)
    selected = sorted((item for item in merged if item.passage.id in chosen), key=lambda item: item.order)
    others = sorted((item for item in merged if item.passage.id not in chosen), key=lambda item: item.order)
    ranked = [*enumerate(selected, 1), *enumerate(others, config.top_k + 1)]
    return tuple(_candidate(item, rank, config) for rank, item in ranked)


def listed(lists: Lists, config: RunConfig) -> tuple[Candidate, ...]:
    """The lists one after the other, as a search leaves them: no place is given away yet, and none is lost."""
    found = [(kind, rank, passage) for kind, items in _unique(lists) for rank, passage in enumerate(items, 1)]
    return tuple(
        Candidate(
            passage=passage,
            rank=place,
            gate=gate_of(place, passage.similarity, config),
            margin=_margin(passage, config),
            kind=kind,
            found_at={kind: rank},
        )
        for place, (kind, rank, passage) in enumerate(found, start=1)
    )


def lists_of(candidates: Iterable[Candidate]) -> dict[SourceKind, tuple[Passage, ...]]:
    """The lists that candidates came from, best first: fusing them again gives the same candidates."""
    found: dict[SourceKind, list[tuple[int, Passage]]] = {}
    for item in candidates:
        for kind, rank in item.found_at.items():
            found.setdefault(kind, []).append((rank, item.passage))
    return {
        kind: tuple(passage for _, passage in sorted(found[kind], key=lambda entry: entry[0]))
        for kind in SOURCE_KINDS
        if kind in found
    }


def quotas(shares: Mapping[SourceKind, float], places: int) -> dict[SourceKind, int]:
    """Whole places by share, summing to ``places``: largest remainders, then the higher share, get what rounding left.

    Shares need not sum to 1; without any above 0 no one gets a place.
    """
    total = math.fsum(share for share in shares.values() if share > 0)
    if not total:
        return {}
    exact = {kind: places * shares[kind] / total for kind in SOURCE_KINDS if shares.get(kind, 0) > 0}
    # Rounded first: a share of 0.3 of ten places is 3, and not 2.9999999999999996.
    given = {kind: math.floor(round(value, 9)) for kind, value in exact.items()}
    by_remainder = sorted(exact, key=lambda kind: (round(given[kind] - exact[kind], 9), -exact[kind]))
    for kind in by_remainder[: places - sum(given.values())]:
        given[kind] += 1
    return given


def _merge(lists: Lists, routing: Routing) -> list[_Merged]:
    found: dict[PassageId, dict[SourceKind, tuple[int, Passage]]] = {}
    for kind, items in _unique(lists):
        for rank, passage in enumerate(items, start=1):
            found.setdefault(passage.id, {})[kind] = (rank, passage)
    merged = []
    for places in found.values():
        kind = min(places, key=lambda name: (places[name][0], -routing.shares.get(name, 0.0)))
        merged.append(
            _Merged(
                passage=places[kind][1],
                kind=kind,
                found_at={name: rank for name, (rank, _) in places.items()},
                fused=math.fsum(1.0 / (RANK_CONSTANT + rank) for rank, _ in places.values()),
                share=routing.shares.get(kind, 0.0),
            )
        )
    return merged


def _chosen(merged: Sequence[_Merged], routing: Routing, config: RunConfig) -> set[PassageId]:
    chosen: set[PassageId] = set()
    for kind, places in quotas(routing.shares, config.top_k).items():
        own = sorted((item for item in merged if item.kind == kind), key=lambda item: item.found_at[kind])
        if routing.wide:
            own = [item for item in own if _near(item, config)]
        chosen.update(item.passage.id for item in own[:places])
    if routing.wide:
        rest = [item for item in merged if item.passage.id not in chosen]
        rest.sort(key=lambda item: (not _near(item, config), -item.passage.similarity, *item.order))
        chosen.update(item.passage.id for item in rest[: config.top_k - len(chosen)])
    return chosen


def _candidate(item: _Merged, rank: int, config: RunConfig) -> Candidate:
    return Candidate(
        passage=item.passage,
        rank=rank,
        gate=gate_of(rank, item.passage.similarity, config),
        margin=_margin(item.passage, config),
        kind=item.kind,
        found_at=item.found_at,
        fused=item.fused,
    )


def _unique(lists: Lists) -> list[tuple[SourceKind, list[Passage]]]:
    """The lists in the order of ``SOURCE_KINDS``, each passage at the first place where its list has it."""
    unique: list[tuple[SourceKind, list[Passage]]] = []
    for kind in SOURCE_KINDS:
        first: dict[PassageId, Passage] = {}
        for passage in lists.get(kind, ()):
            first.setdefault(passage.id, passage)
        unique.append((kind, list(first.values())))
    return unique


def _near(item: _Merged, config: RunConfig) -> bool:
    return item.passage.similarity >= config.similarity_threshold


def _margin(passage: Passage, config: RunConfig) -> float:
    return round(passage.similarity - config.similarity_threshold, 6)
