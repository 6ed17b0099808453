"""Picture of a knowledge graph as plain values: entities or communities, and their links."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.model.values import PassageId
from engine.model.values.graphs import Community, Entity, FoundEntity, GraphEvidence, Relationship

DotLook = Literal["asked", "linked", "near", "centre", "plain", "community"]
"""Named in the question, reached through a passage, reached along relationships; asked for, any other; a community."""

_SMALLEST, _LARGEST = 6.0, 20.0
_LARGEST_COMMUNITY = 40.0
_OF_COMMUNITY = 8
"""Entities of a community that it names."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One entity, or one community."""

    id: str
    name: str
    type: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    passages: tuple[PassageId, ...] = ()
    group: str = ""
    """Id of the community that it belongs to."""
    look: DotLook = "plain"
    radius: float = _SMALLEST
    score: float | None = None
    """How surely a search meant it, in [0, 1]."""
    hops: int | None = None
    members: tuple[str, ...] = ()
    """Names of the most central entities of a community."""
    size: int = 0
    """How many entities a community has."""
    degree: int = 0
    """Relationships that it has in the whole graph, shown or not."""


@dataclass(frozen=True, slots=True)
class Line:
    """One typed relationship, or all of those between two communities."""

    id: str
    source: str
    target: str
    type: str
    description: str = ""
    passages: tuple[PassageId, ...] = ()
    weight: float = 1.0
    count: int = 0
    """How many relationships it stands for, between communities; 0 for a single one, which has a direction."""


@dataclass(frozen=True, slots=True)
class GraphPicture:
    dots: tuple[Dot, ...]
    """The most important first: these get their names shown first."""
    lines: tuple[Line, ...] = ()
    groups: Mapping[str, str] | None = None
    """Titles of communities by id."""

    @property
    def items(self) -> dict[str, Dot | Line]:
        """Everything that can be chosen, by id."""
        return {item.id: item for item in self.dots} | {item.id: item for item in self.lines}


def entity_picture(
    entities: Sequence[Entity],
    relationships: Sequence[Relationship],
    communities: Sequence[Community] = (),
    hops: Mapping[str, int] | None = None,
) -> GraphPicture:
    """Entities of a graph and the links between them; those at 0 ``hops`` are the ones requested."""
    shown = {item.id for item in entities}
    lines = tuple(_line(item) for item in relationships if {item.source, item.target} <= shown)
    degrees = _degrees(lines)
    most = max([*degrees.values(), 1])
    hops = hops or {}
    dots = [
        _dot(item, _radius(degrees[item.id] / most), "centre" if hops.get(item.id) == 0 else "plain")
        for item in entities
    ]
    dots.sort(key=lambda dot: (dot.look != "centre", -degrees[dot.id], dot.id))
    return GraphPicture(tuple(dots), lines, _titles(communities))


def evidence_picture(evidence: GraphEvidence) -> GraphPicture:
    """Show what the search of one round used of the graph, the query's entities first."""
    shown = {item.entity.id for item in evidence.entities}
    lines = tuple(_line(item) for item in evidence.relationships if {item.source, item.target} <= shown)
    dots = tuple(
        _dot(item.entity, _radius(item.score), _look_of(item), item.score, item.hops) for item in evidence.entities
    )
    return GraphPicture(dots, lines, _titles([item.community for item in evidence.communities]))


def community_picture(
    communities: Sequence[Community], entities: Sequence[Entity], relationships: Sequence[Relationship]
) -> GraphPicture:
    """Communities as an overview, joined where relationships lead from one to another."""
    names = {item.id: item.name for item in entities}
    home = {entity: item.id for item in communities for entity in item.entities}
    joined: Counter[tuple[str, str]] = Counter()
    passages: dict[tuple[str, str], dict[PassageId, None]] = {}
    for item in relationships:
        ends = sorted({home.get(item.source, ""), home.get(item.target, "")})
        if len(ends) == 2 and all(ends):
            pair = (ends[0], ends[1])
            joined[pair] += 1
            passages.setdefault(pair, {}).update(dict.fromkeys(item.passages))
    most = max([len(item.entities) for item in communities] + [1])
    dots = tuple(
        Dot(
            id=item.id,
            name=item.title,
            type="COMMUNITY",
            description=item.summary,
            passages=item.passages,
            group=item.id,
            look="community",
            radius=round(_LARGEST_COMMUNITY * math.sqrt(len(item.entities) / most), 1),
            members=tuple(names.get(entity, entity) for entity in item.entities[:_OF_COMMUNITY]),
            size=len(item.entities),
        )
        for item in communities
    )
    lines = tuple(
        Line(f"{a}|{b}", a, b, "", passages=tuple(passages[a, b]), weight=1 + math.log2(count), count=count)
        for (a, b), count in sorted(joined.items())
    )
    return GraphPicture(dots, lines, _titles(communities))


def _dot(entity: Entity, radius: float, look: DotLook, score: float | None = None, hops: int | None = None) -> Dot:
    return Dot(
        id=entity.id,
        name=entity.name,
        type=entity.type,
        description=entity.description,
        aliases=entity.aliases,
        passages=entity.passages,
        group=entity.community,
        look=look,
        radius=radius,
        score=score,
        hops=hops,
        degree=entity.degree,
    )


def _line(item: Relationship) -> Line:
    return Line(item.id, item.source, item.target, item.type, item.description, item.passages, item.weight)


def _look_of(found: FoundEntity) -> DotLook:
    if found.hops or found.linked_by == "neighbour":
        return "near"
    return "linked" if found.linked_by == "passage" else "asked"


def _radius(share: float) -> float:
    return round(_SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(max(0.0, min(1.0, share))), 1)


def _degrees(lines: Sequence[Line]) -> Counter[str]:
    return Counter(end for line in lines for end in {line.source, line.target})


def _titles(communities: Sequence[Community]) -> dict[str, str]:
    return {item.id: item.title for item in communities}
