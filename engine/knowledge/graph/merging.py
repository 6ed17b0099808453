"""Merge of passage readings into one graph, equal for the same readings in any order and store."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.knowledge.graph.names import RELATED_TO, TERM, normalised, shown, type_name, usable
from engine.model.values import PassageId
from engine.roles.graph import PassageGraph, ReadEntity, ReadRelationship


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity as one passage speaks of it."""

    entity: str
    passage: PassageId
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """A relationship as one passage tells it; both ends are mentioned in that passage."""

    source: str
    type: str
    target: str
    passage: PassageId
    description: str
    weight: float

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.source, self.type, self.target)


@dataclass(frozen=True, slots=True)
class MergedEntity:
    """Entity merged from all its mentions."""

    name: str
    """The spelling used most."""
    type: str
    """The one given most, ``TERM`` only where no one knew better."""
    description: str
    """The longest."""
    aliases: tuple[str, ...]


def read_in(read: PassageGraph) -> tuple[list[Mention], list[Telling]]:
    """Add one passage to a graph.

    Left out is what no graph can hold: entities without a usable name, relationships of an entity with itself, with one
    that the passage does not name, or with a weight that is not above 0.
    """
    mentions: dict[str, Mention] = {}
    for entity in read.entities:
        if not usable(entity.name):
            continue
        found = _mention(entity, read.passage)
        known = mentions.get(found.entity)
        mentions[found.entity] = found if known is None else _joined(known, found)
    ends = _ends(mentions.values())
    tellings: dict[tuple[str, str, str], Telling] = {}
    for relationship in read.relationships:
        new = _telling(relationship, ends, read.passage)
        if new is None:
            continue
        before = tellings.get(new.key)
        tellings[new.key] = new if before is None else _merged(before, new)
    return list(mentions.values()), list(tellings.values())


def merged_entity(mentions: Sequence[Mention]) -> MergedEntity:
    """All mentions of one entity as one; at least one is given."""
    types = [mention.type for mention in mentions if mention.type != TERM]
    return MergedEntity(
        name=_most_used(mention.name for mention in mentions),
        type=_most_used(types) if types else TERM,
        description=_longest(mention.description for mention in mentions),
        aliases=_distinct((alias for mention in mentions for alias in mention.aliases), mentions[0].entity),
    )


def merged_weight(tellings: Iterable[Telling]) -> tuple[str, float]:
    """Description and weight of a relationship: the longest, and the sum of how surely each passage tells it."""
    items = list(tellings)
    return _longest(item.description for item in items), math.fsum(item.weight for item in items)


def _mention(entity: ReadEntity, passage: PassageId) -> Mention:
    id_ = normalised(entity.name)
    aliases = _distinct((alias for alias in entity.aliases if usable(alias)), id_)
    return Mention(id_, passage, shown(entity.name), type_name(entity.type, TERM), shown(entity.description), aliases)


def _joined(one: Mention, other: Mention) -> Mention:
    return replace(
        one,
        type=other.type if one.type == TERM else one.type,
        description=_longest((one.description, other.description)),
        aliases=_distinct((*one.aliases, *other.aliases), one.entity),
    )


def _ends(mentions: Iterable[Mention]) -> dict[str, str]:
    """Resolve the names in a passage; an alias of two entities is dropped, a name always means its own."""
    mentions = list(mentions)
    meant: dict[str, set[str]] = {}
    for mention in mentions:
        for alias in mention.aliases:
            meant.setdefault(normalised(alias), set()).add(mention.entity)
    ends = {alias: next(iter(entities)) for alias, entities in meant.items() if len(entities) == 1}
    return ends | {mention.entity: mention.entity for mention in mentions}


def _telling(relationship: ReadRelationship, ends: dict[str, str], passage: PassageId) -> Telling | None:
    source, target = ends.get(normalised(relationship.source)), ends.get(normalised(relationship.target))
    weight = float(relationship.weight)
    if source is None or target is None or source == target or not (math.isfinite(weight) and weight > 0):
        return None
    kind = type_name(relationship.type, RELATED_TO)
    return Telling(source, kind, target, passage, shown(relationship.description), weight)


def _merged(one: Telling, other: Telling) -> Telling:
    description, weight = merged_weight((one, other))
    return replace(one, description=description, weight=weight)


def _most_used(values: Iterable[str]) -> str:
    return min(Counter(values).items(), key=lambda item: (-item[1], item[0]))[0]


def _longest(texts: Iterable[str]) -> str:
    return min(texts, key=lambda text: (-len(text), text), default="")


def _distinct(aliases: Iterable[str], entity: str) -> tuple[str, ...]:
    """Aliases in alphabetical order, one spelling each, without the name of the entity itself."""
    spelling: dict[str, str] = {}
    for alias in sorted(shown(alias) for alias in aliases):
        spelling.setdefault(normalised(alias), alias)
    spelling.pop(entity, None)
    return tuple(sorted(spelling.values()))
