"""Readings of passages for tests of knowledge graphs, written in one line each."""

from __future__ import annotations

from engine.model.values import PassageId
from engine.roles.graph import PassageGraph, ReadEntity, ReadRelationship


def reading(passage: str, *facts: str, text_hash: str = "h1") -> PassageGraph:
    """A reading: ``"Aspirin"`` names an entity, ``"Aspirin -TREATS-> Pain"`` a relationship and both its ends."""
    entities: dict[str, ReadEntity] = {}
    relationships = []
    for fact in facts:
        source, arrow, rest = fact.partition(" -")
        kind, _, target = rest.partition("-> ")
        for name in (source, target) if arrow else (source,):
            entities.setdefault(name, ReadEntity(name))
        if arrow:
            relationships.append(ReadRelationship(source, target, kind))
    return PassageGraph(PassageId(passage), text_hash, tuple(entities.values()), tuple(relationships))
