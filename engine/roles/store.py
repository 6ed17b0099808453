"""Embedders and passage stores, and what they keep."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from engine.model.values import (
    NEW_CONTEXT,
    SOURCE_KINDS,
    Account,
    Fault,
    PassageContext,
    PassageId,
    SourceKind,
    heading_of,
    kind_named,
)
from engine.roles.trace import Vector


class Embedder(Protocol):
    """Turns text into vectors.

    Contract (tests/contracts/test_embedder.py): float32, L2-normalised, ``dim`` wide, deterministic;
    ``embed_passages`` keeps order and returns shape (n, dim), (0, dim) for nothing;
    prefixes are applied inside, and are part of the identity recorded with a collection.
    """

    @property
    def model_id(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def query_prefix(self) -> str: ...

    @property
    def passage_prefix(self) -> str: ...

    async def embed_query(self, text: str) -> Vector: ...

    async def embed_passages(self, texts: Sequence[str]) -> Vector: ...


UNKNOWN_MODEL = "unknown"
"""Embedding model of a collection that another program made."""


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """Properties of a collection at its creation, stored with it."""

    name: str
    embedding_model: str
    dim: int
    query_prefix: str
    passage_prefix: str
    created_at: str
    """ISO 8601, UTC."""
    context: PassageContext = "none"
    """In what form its passages are embedded and searched by words; see :meth:`StoredPassage.searched`."""
    context_model: str = ""
    """The chat model that writes its sentences of context; empty in every form but ``written``."""
    metric: str = "COSINE"
    passages: int = 0
    sources: int = 0
    fingerprint: str = ""
    """Hash over the ids and texts of all passages: changes when the content does."""
    kinds: tuple[SourceKind, ...] = ()
    """Kinds of its sources, in the order of ``SOURCE_KINDS``."""
    summaries: int = 0
    """Summaries of its sources and their sections, kept next to the passages."""
    incomplete: int = 0
    """Sources of which parts were left out."""
    unaccounted: int = 0
    """Sources of which it was not recorded what was left out."""
    full_text: bool = False
    """Whether its passages can be searched by words (BM25) too."""
    segmenting: str = ""
    """Version of the rules that cut its passages into words; empty without full text."""
    aliases: tuple[str, ...] = ()
    """Other names under which it can be asked for."""
    breadth: int = 0
    """How far a search of its index looks; 0 where that is the server's choice."""
    description: str = ""
    """What its owner says of it."""
    address: str = ""
    """Where a connected collection of others lives; empty for those of the settings' own store."""
    remote_name: str = ""
    """Its name there; ``name`` is what it is called here."""
    read_only: bool = False
    fault: Fault | None = None
    """Why a connected collection cannot be read at the moment; None where it can."""

    def of_kinds(self, *more: SourceKind) -> CollectionInfo:
        """The same with further kinds of sources."""
        return replace(self, kinds=tuple(kind for kind in SOURCE_KINDS if kind in (*self.kinds, *more)))

    @classmethod
    def new(
        cls,
        name: str,
        embedder: Embedder,
        description: str = "",
        context: PassageContext = NEW_CONTEXT,
        context_model: str = "",
    ) -> CollectionInfo:
        """Describe an empty collection that is made now, for vectors of an embedder that knows its width."""
        created_at = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(
            name=name,
            embedding_model=embedder.model_id,
            dim=embedder.dim,
            query_prefix=embedder.query_prefix,
            passage_prefix=embedder.passage_prefix,
            created_at=created_at,
            context=context,
            context_model=context_model,
            description=description,
        )


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage as the store keeps it."""

    id: PassageId
    source: str
    text: str
    section: str = ""
    title: str = ""
    ordinal: int = 0
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Anything else that ingestion knows: language, date, source hash, kind of source."""

    @property
    def heading(self) -> str:
        """Title and section as one path; empty where it has neither."""
        return heading_of(self.title, self.section)

    def searched(self, context: PassageContext) -> str:
        """Return what is embedded and searched by words (BE-04): its text, below its heading path in the form for it.

        >>> passage = StoredPassage(PassageId("server.md#2"), "server.md", "Default: 5173", section="server.port")
        >>> passage.searched("path")
        'server.port\\nDefault: 5173'
        """
        if context == "none":
            return self.text
        return "\n".join(filter(None, (self.heading, self.written if context == "written" else "", self.text)))

    @property
    def context(self) -> str:
        """What it continues in addition to its headings: see :class:`engine.model.values.Passage`."""
        return str(self.meta.get("context") or "")

    @property
    def written(self) -> str:
        """The sentence of context that a chat model wrote; empty where none did."""
        return str(self.meta.get("written") or "")

    @property
    def above(self) -> str:
        """What it stands under: see :class:`engine.model.values.Passage`."""
        return "\n".join(filter(None, (self.heading, self.context, self.written)))

    @property
    def kind(self) -> SourceKind:
        """The kind of its source; ``vector`` where none is recorded, as by other programs and earlier versions."""
        return kind_named(self.meta.get("kind"))


@dataclass(frozen=True, slots=True)
class SourceInfo:
    source: str
    title: str
    passages: int
    content_hash: str
    added_at: str
    kind: SourceKind = "vector"
    summaries: int = 0
    """Summaries kept of it and its sections; 0 for what was ingested without."""
    chunks: str = ""
    """Key of the options that it was cut with; empty for the defaults."""
    account: Account | None = None
    """What was read of it and what was left out; None where that was not recorded, as by earlier versions."""

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> SourceInfo:
        """Rebuild one from its ``asdict``; unknown names are ignored, missing ones default."""
        known = {item.name: plain[item.name] for item in fields(cls) if item.name in plain}
        return cls(**{**known, "kind": kind_named(known.get("kind")), "account": Account.of(known.get("account"))})


@dataclass(frozen=True, slots=True)
class Within:
    """Filter of passages in a search; empty fields restrict nothing."""

    kinds: tuple[SourceKind, ...] = ()
    sections: tuple[tuple[str, str], ...] = ()
    """Sources with one of their sections; an empty section stands for the whole source."""


ANYWHERE = Within()


@dataclass(frozen=True, slots=True, eq=False)
class Summaries:
    """Summaries of whole sources with those of their sections, and their vectors."""

    rows: tuple[StoredPassage, ...] = ()
    """``text`` is the summary; an empty ``section`` stands for the whole source."""
    vectors: Vector | None = None
    """Shape (len(rows), dim); None where there are no rows."""


NO_SUMMARIES = Summaries()
NO_ACCOUNTS: Mapping[str, Account] = {}


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: the passage and its cosine to the query, best first."""

    passage: StoredPassage
    cosine: float
    text_score: float | None = None
    """BM25 score, 0 and up, of a search by words; None in a search by vectors."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Places of a source, from the first to the last, both included."""

    source: str
    first: int
    last: int


class PassageReader(Protocol):
    """Reads passages with their vectors, by collection.

    Contract (tests/contracts/test_store.py): search is exact or nearly so, best first, cosine in [-1, 1], not in the
    store's own sign; an unknown collection, a wrong dimension, a lock, an unreachable server are our errors;
    filters built from names cannot be injected; a search within kinds or sections finds what a full one would have
    found of them.
    """

    async def describe(self, collection: str) -> CollectionInfo: ...

    async def search_summaries(
        self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]: ...

    async def search(self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]: ...

    async def search_text(
        self, collection: str, text: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]:
        """Best BM25 score first, each with its cosine to ``vector``; raises ``FullTextMissing``."""

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]: ...

    async def vectors(self, collection: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]: ...

    async def ids(self, collection: str) -> list[PassageId]:
        """Every id, in a fixed order and however many there are."""

    async def page(self, collection: str, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        """Passages with their vectors, in the order asked for; ids that are not there are left out."""

    async def sources(self, collection: str) -> list[SourceInfo]: ...

    async def passages(self, collection: str, source: str) -> list[StoredPassage]: ...

    async def stretches(self, collection: str, wanted: Sequence[Stretch]) -> list[StoredPassage]:
        """Passages by their places, each once and in any order; none where a collection records no places."""


class PassageStore(PassageReader, Protocol):
    """Keeps passages with their vectors, by collection.

    Contract (tests/contracts/test_store.py): inserting an id again replaces it; deletes are seen by the next search;
    summaries go with the source that they tell of, and no count or fingerprint knows them; so does the account of a
    source, which a new version of it without one does not keep.
    """

    async def collections(self) -> list[CollectionInfo]: ...

    async def create(self, info: CollectionInfo) -> None: ...

    async def drop(self, collection: str) -> None: ...

    async def insert(
        self,
        collection: str,
        passages: Sequence[StoredPassage],
        vectors: Vector,
        summaries: Summaries = NO_SUMMARIES,
        accounts: Mapping[str, Account] = NO_ACCOUNTS,
    ) -> None: ...

    async def record_accounts(self, collection: str, accounts: Mapping[str, Account]) -> None:
        """Record what was read of sources that are there, by their names; others are left out."""

    async def summarise(self, collection: str, summaries: Summaries) -> None: ...

    async def delete_source(self, collection: str, source: str) -> int: ...

    async def close(self) -> None: ...


def slug(embedder: Embedder) -> str:
    """A file name for a model: what it is, and a hash of all that its vectors depend on."""
    identity = "\n".join((embedder.model_id, embedder.query_prefix, embedder.passage_prefix, str(embedder.dim)))
    readable = re.sub(r"[^A-Za-z0-9]+", "-", embedder.model_id).strip("-").lower()[:60]
    return f"{readable}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"
