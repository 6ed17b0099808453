"""Knowledge graphs: what one holds, and what one search took from it (GH-01, GH-02, GH-03, GH-06)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.model.config import Mode
from engine.model.values.names import PassageId

RetrievalList = Literal["vector", "local", "global", "near", "attachment"]
"""What found a passage: vectors, entities of the query and their neighbourhood, community summaries, being near the
query where the lists of a mode leave places open (GH-08), or that it is part of what came with the question."""
RETRIEVAL_LISTS: tuple[RetrievalList, ...] = ("vector", "local", "global", "near", "attachment")
SEARCHING_MODES: tuple[Mode, ...] = ("naive", "local", "global", "hybrid", "mix")
LISTS_OF_MODE: Mapping[Mode, tuple[RetrievalList, ...]] = {
    "naive": ("vector",),
    "local": ("local",),
    "global": ("global",),
    "hybrid": ("local", "global"),
    "mix": ("vector", "local", "global"),
    "bypass": (),
}
"""What each mode searches (GH-02); attachments come to all but ``bypass``."""


def lists_of_mode(mode: Mode, *, attached: bool = False) -> tuple[RetrievalList, ...]:
    """List the sources of a mode's search, attachments included if there are any and the mode searches at all."""
    lists = LISTS_OF_MODE[mode]
    return (*lists, "attachment") if attached and lists else lists


Stage = Literal["fused", "ranked", "reranked"]
"""Orders that a passage goes through: lists made one, duplicates and freshness seen to, reranked."""
LinkedBy = Literal["name", "alias", "passage", "neighbour"]
"""How a search came to an entity: by name, by another name, through a passage found, along a relationship."""
ModeNoteCode = Literal[
    "no_graph", "no_entity", "no_passages", "no_communities", "graph_unfinished", "graph_stale", "graph_unreachable"
]
Complexity = Literal["simple", "single", "multi_hop", "overview"]


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing that passages speak of."""

    id: str
    """Its name in NFKC, case-folded, white space made one: the same name is the same entity."""
    name: str
    type: str
    """In capitals, such as ``DISEASE``; ``TERM`` where nothing better is known."""
    description: str = ""
    aliases: tuple[str, ...] = ()
    passages: tuple[PassageId, ...] = ()
    """Where it is spoken of."""
    degree: int = 0
    """Relationships that it has a part in."""
    community: str = ""
    """Id of the community it belongs to; empty where none was found."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """A typed relationship, from ``source`` to ``target`` (ids of entities)."""

    source: str
    target: str
    type: str
    """In capitals, such as ``TREATS``; ``RELATED_TO`` where nothing better is known."""
    description: str = ""
    passages: tuple[PassageId, ...] = ()
    """What it was read in: never empty."""
    weight: float = 1.0
    """How often, or how surely, it was read; above 0."""

    @property
    def id(self) -> str:
        return f"{self.source}|{self.type}|{self.target}"


@dataclass(frozen=True, slots=True)
class Community:
    """Entities that belong together, with a summary of what passages say of them."""

    id: str
    title: str
    summary: str
    entities: tuple[str, ...]
    """Ids, the most central first."""
    passages: tuple[PassageId, ...]
    """The most telling first."""
    summarised_by: str = "builtin"


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity that a search used."""

    entity: Entity
    linked_by: LinkedBy
    score: float
    """In [0, 1]: how surely it is meant, or how near it is."""
    hops: int = 0
    """Relationships away from an entity of the query."""


@dataclass(frozen=True, slots=True)
class FoundCommunity:
    community: Community
    similarity: float
    """Of its summary to the query, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class ModeNote:
    """Limitation of a mode, so that no mode silently becomes another (GH-02)."""

    code: ModeNoteCode
    list: RetrievalList
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GraphEvidence:
    """Evidence from the graph in the search of one round."""

    mode: Mode
    """The mode that was searched."""
    entities: tuple[FoundEntity, ...] = ()
    """Best first: those of the query, then their neighbourhood."""
    relationships: tuple[Relationship, ...] = ()
    """Between them, the most important first."""
    communities: tuple[FoundCommunity, ...] = ()
    """Best first."""
    notes: tuple[ModeNote, ...] = ()
    fell_back_to: tuple[RetrievalList, ...] = ()
    """Lists searched in place of those that could not do their work; empty where all could."""


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """Analysis of a query (GH-01)."""

    complexity: Complexity
    entities: tuple[str, ...] = ()
    """Names as they stand in the query."""
    suggested_mode: Mode = "mix"
    direct: bool = False
    """Whether it can be answered without a search: small talk and the like."""
    code: str = ""
    """What it went by, for rendering per language."""
    reason: str = ""
    by: str = "builtin"


@dataclass(frozen=True, slots=True)
class GraphContext:
    """The part of the graph that the generator is given (GH-06), the most important first."""

    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    tokens: int = 0
