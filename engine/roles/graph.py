"""The roles that read, keep and use knowledge graphs, and the one that analyses queries (GH-01, GH-03)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from engine.model.config import Mode
from engine.model.values import Community, Entity, PassageId, QueryAnalysis, Relationship
from engine.roles.store import StoredPassage
from engine.roles.trace import SILENT, Trace


@dataclass(frozen=True, slots=True)
class ReadEntity:
    """An entity as one passage speaks of it."""

    name: str
    type: str = "TERM"
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadRelationship:
    """A relationship as one passage tells it, between names of its entities."""

    source: str
    target: str
    type: str = "RELATED_TO"
    description: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class PassageGraph:
    """Graph of one passage."""

    passage: PassageId
    text_hash: str
    """Of the passage when it was read: another one means that it has to be read again."""
    entities: tuple[ReadEntity, ...] = ()
    relationships: tuple[ReadRelationship, ...] = ()


def text_hash(text: str) -> str:
    """Hash a text, so that a passage that was read is known to be unchanged."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class GraphInfo:
    """The graph of one collection."""

    collection: str
    extractor: str
    """``builtin``, ``samples`` for the one written by hand, or the name of a chat model."""
    entities: int = 0
    relationships: int = 0
    communities: int = 0
    passages: int = 0
    """Passages that have been read."""
    fingerprint: str = ""
    """Of the collection when its building ended; empty while it is unfinished."""
    built_at: str = ""
    """ISO 8601, UTC; empty while it is unfinished."""

    @property
    def finished(self) -> bool:
        return bool(self.built_at)


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Entities around some others, and the relationships between all of them."""

    hops: Mapping[str, int]
    """Relationships away from the nearest of those asked for, by id of entity; 0 for these themselves."""
    entities: tuple[Entity, ...]
    """Nearest first, then by degree, then by id."""
    relationships: tuple[Relationship, ...]
    """By weight, then by id."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values: entities with their distance, and relationships."""
        return {
            "entities": [{**asdict(item), "hops": self.hops[item.id]} for item in self.entities],
            "relationships": [asdict(item) for item in self.relationships],
        }


class GraphStore(Protocol):
    """Keeps the knowledge graphs of collections (GH-03).

    Contract (tests/contracts/test_graph_store.py): the same name, normalised, is one entity, with the passages, aliases
    and longest description of all that was read of it; a relationship exists only between known entities and always
    names at least one passage; ``add`` of a passage read before replaces what was read then; what ``forget`` leaves
    without a passage is gone; everything of one collection is apart from every other; relationships are followed in
    both directions and keep theirs; the order of readings makes no difference; nothing in a name can be injected;
    ``add`` and ``finish`` without ``begin`` are ``GraphStoreError.missing``, unreachable servers and damaged files
    ``GraphStoreError``.
    """

    async def describe(self, collection: str) -> GraphInfo | None:
        """None where there is no graph."""

    async def begin(self, collection: str, extractor: str) -> GraphInfo:
        """Open a graph for adding: one of the same extractor continues, finished or not, another is emptied."""

    async def done(self, collection: str) -> Mapping[PassageId, str]:
        """Passages that were read, with the hash of their text then."""

    async def add(self, collection: str, read: Sequence[PassageGraph]) -> None: ...

    async def forget(self, collection: str, passages: Sequence[PassageId]) -> None: ...

    async def finish(
        self, collection: str, communities: Sequence[Community], fingerprint: str, built_at: str
    ) -> GraphInfo:
        """Set the communities, replacing former ones, and say that the graph is complete."""

    async def named(self, collection: str, names: Sequence[str]) -> list[Entity]:
        """Entities with one of these names or aliases, normalised; by degree, then id."""

    async def names(self, collection: str) -> Mapping[str, tuple[str, ...]]:
        """Normalised names and aliases with the ids that they stand for: what a query is looked through for."""

    async def entities(self, collection: str, ids: Sequence[str]) -> list[Entity]:
        """Return entities in the order asked for; unknown ones are left out."""

    async def most_central(self, collection: str, limit: int) -> list[Entity]:
        """Return the entities of highest degree, then by number of passages, then by id."""

    async def of_passages(self, collection: str, passages: Sequence[PassageId]) -> list[Entity]:
        """Entities that these passages speak of: those of most passages first, then by degree, then by id."""

    async def neighbourhood(self, collection: str, ids: Sequence[str], hops: int, limit: int) -> Neighbourhood:
        """Return at most ``limit`` entities near those asked for, these included."""

    async def communities(self, collection: str) -> list[Community]:
        """The largest first, then by id."""

    async def rename(self, collection: str, new_name: str) -> None: ...

    async def drop(self, collection: str) -> bool:
        """Return whether there was one."""

    async def close(self) -> None: ...


class Extractor(Protocol):
    """Reads entities and relationships in passages.

    Contract (tests/contracts/test_extractor.py): one result a passage, in the order given, bound to passages by id;
    relationships only between entities of the same passage; names as they stand in the text; text inside a passage
    is evidence and cannot change the form; a reply that cannot be read after one more try gives an empty result and is
    named in ``unreadable``; a server that cannot be reached is a ``ModelError``.
    """

    @property
    def name(self) -> str:
        """``builtin`` or the name of the chat model."""

    async def extract(self, passages: Sequence[StoredPassage], trace: Trace = SILENT) -> list[PassageGraph]: ...

    @property
    def unreadable(self) -> tuple[PassageId, ...]:
        """Passages unread because of an unreadable reply, of all calls so far."""

    async def summarise(
        self, entities: Sequence[Entity], relationships: Sequence[Relationship], passages: Sequence[StoredPassage]
    ) -> tuple[str, str]:
        """Title and summary of a community, in the language of most of its passages."""


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    query: str
    entities: tuple[str, ...] = ()
    """Names and aliases of the graph that stand in the query, as they stand there."""
    modes: tuple[Mode, ...] = ()
    """Modes that could do their work here."""


class QueryAnalyst(Protocol):
    """Looks at a query before it is searched (GH-01).

    Contract (tests/contracts/test_query_analyst.py): ``direct`` only for small talk and what needs no knowledge; names
    stand in the query word for word; the suggested mode is one of those given, where any is. A reply that cannot be
    read is ``UnreadableReply``.
    """

    async def analyse(self, request: AnalysisRequest, trace: Trace = SILENT) -> QueryAnalysis: ...
