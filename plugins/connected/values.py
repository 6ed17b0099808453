"""Contents of another program's Milvus, connections to it, and their checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from engine.library.values import FieldMap, FoundPassage, ProposedModel, RemoteField
from engine.model.values import Fault
from engine.roles import CollectionInfo


@dataclass(frozen=True, slots=True)
class RemoteCollection:
    """A collection at an address, looked at without writing anything."""

    name: str
    passages: int
    fields: tuple[RemoteField, ...]
    proposed: FieldMap | None
    """None where it holds no text with a float vector."""
    models: tuple[ProposedModel, ...] = ()
    own: bool = False
    """Made by this program, as its catalogue there says."""
    fault: Fault | None = None
    """Why it cannot be used."""
    loaded: bool = True
    """Whether the store has it in memory; one that is not is loaded when it is inspected or used, never released."""
    query_prefix: str | None = None
    passage_prefix: str | None = None
    """As the catalogue there says of one of our own; None for all others."""
    alias_of: str = ""
    """The collection that this is another name of; empty for the name of a collection itself."""


@dataclass(frozen=True, slots=True)
class Place:
    """A Milvus to connect to."""

    address: str
    """A server's address or a folder of Milvus Lite; empty: the settings' own store."""
    token: str = field(default="", repr=False)
    database: str = ""


@dataclass(frozen=True, slots=True)
class Connection:
    """A collection of another program under a name of ours; kept on this machine, never in their store."""

    name: str
    place: Place
    collection: str
    fields: FieldMap
    dim: int
    metric: str
    embedding_model: str
    query_prefix: str | None = None
    """None takes the one known for the model."""
    passage_prefix: str | None = None
    connected_at: str = ""


@dataclass(frozen=True, slots=True)
class ProbedQuestion:
    """Whether a question finds sensible passages with the chosen model and fields."""

    question: str
    found: tuple[FoundPassage, ...]
    sensible: bool
    """The best hit stands out, or finds itself when its own words are asked for."""


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """A connection and how it was when it was last looked at."""

    connection: Connection
    """Without its token."""
    info: CollectionInfo
    """As last seen; ``info.fault`` says why it cannot be read at the moment."""
    looked: bool = True
    """False until it was looked at for the first time."""


@dataclass(frozen=True, slots=True)
class PrefixTrial:
    """Similarity of the stored vectors under one pair of prefixes."""

    query_prefix: str
    passage_prefix: str
    mean_cosine: float


Likeness = Literal["same", "related", "other"]
"""Whether stored vectors come from the model: from it, from a version of it or with other prefixes, or from another."""

SAME_FROM, RELATED_FROM = 0.98, 0.6
"""Mean cosines of 30 passages with the built-in model: with itself 1.00, under another prefix 0.97 (English) to 0.99
(Chinese), with the first half of the texts 0.96 to 0.97, with other texts 0.77 to 0.84; with another model
0.00 (-0.04 to 0.02)."""


@dataclass(frozen=True, slots=True)
class SelfSearch:
    """Passages asked for with their own words: with the right model and prefixes most come first."""

    asked: int
    first: int
    mean_cosine: float
    """Of a passage's stored vector with the one that the chosen model makes of its text: 1 for the right model."""
    better: PrefixTrial | None = None
    """Prefixes with which the vectors come clearly nearer; None where those chosen are the best of those tried."""
    without_vector: int = 0
    """Rows among the first ones that have no vector: no search finds them."""

    @property
    def likeness(self) -> Likeness:
        if self.mean_cosine >= SAME_FROM:
            return "same"
        return "related" if self.mean_cosine >= RELATED_FROM else "other"
