"""The roles of a run as Protocols; each has one contract suite under ``tests/contracts`` that every version passes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.values import Language, ModelCall, Passage, PassageId, Verdict

Vector = NDArray[np.float32]


class Trace(Protocol):
    """Where a role reports what it does while it does it; every method returns at once."""

    def call(self, call: ModelCall) -> None:
        """One model invocation ended; node, round and start are filled in by the receiver where left at defaults."""

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        """A passage was judged; passages may be reported in any order."""

    def token(self, text: str) -> None:
        """A piece of the answer arrived."""

    def now_ms(self) -> float:
        """Milliseconds since the run began, for ``ModelCall.start_ms``."""

    def time_left_s(self) -> float:
        """Seconds that the step may still take; bounds every model call."""


class SilentTrace:
    """A trace that hears nothing and never runs out of time; for direct use of a role."""

    def call(self, call: ModelCall) -> None: ...

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None: ...

    def token(self, text: str) -> None: ...

    def now_ms(self) -> float:
        return 0.0

    def time_left_s(self) -> float:
        return float("inf")


SILENT: Trace = SilentTrace()


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


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """What a collection was built with; recorded in the store beside it."""

    name: str
    embedding_model: str
    dim: int
    query_prefix: str
    passage_prefix: str
    created_at: str
    """ISO 8601, UTC."""
    metric: str = "COSINE"
    passages: int = 0
    sources: int = 0
    fingerprint: str = ""
    """Hash over the ids and texts of all passages: changes when the content does."""


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
    """Anything else that ingestion knows: language, date, source hash."""


@dataclass(frozen=True, slots=True)
class SourceInfo:
    source: str
    title: str
    passages: int
    content_hash: str
    added_at: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: the passage and its cosine to the query, best first."""

    passage: StoredPassage
    cosine: float


class PassageStore(Protocol):
    """Keeps passages with their vectors, by collection.

    Contract (tests/contracts/test_store.py): search is exact or nearly so, best first, cosine in [-1, 1] whatever the
    store's own sign; an unknown collection, a wrong dimension, a lock, an unreachable server are our errors;
    filters built from names cannot be injected; inserting an id again replaces it; deletes are seen by the next search.
    """

    async def collections(self) -> list[CollectionInfo]: ...

    async def describe(self, collection: str) -> CollectionInfo: ...

    async def create(self, info: CollectionInfo) -> None: ...

    async def drop(self, collection: str) -> None: ...

    async def insert(self, collection: str, passages: Sequence[StoredPassage], vectors: Vector) -> None: ...

    async def search(self, collection: str, vector: Vector, limit: int) -> list[Hit]: ...

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]: ...

    async def sources(self, collection: str) -> list[SourceInfo]: ...

    async def passages(self, collection: str, source: str) -> list[StoredPassage]: ...

    async def delete_source(self, collection: str, source: str) -> int: ...

    async def close(self) -> None: ...


class Grader(Protocol):
    """Says, for each passage, whether it helps to answer the question.

    Contract (tests/contracts/test_grader.py): one verdict per passage, in the order given;
    never an answer to the question; text inside a passage is evidence and cannot change the
    format or the verdict of another passage; a reply that cannot be read becomes a visible
    ``unreadable`` verdict (``relevant`` None) and never a silent pass. A server that cannot be
    reached is a ``ModelError``.
    """

    async def grade(self, question: str, passages: Sequence[Passage], trace: Trace = SILENT) -> list[Verdict]: ...


@dataclass(frozen=True, slots=True)
class FailedPassage:
    id: PassageId
    text: str
    similarity: float
    reason: str
    covered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TriedRewrite:
    query: str
    rewritten_query: str
    reason: str
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """Everything a rewriter may see (SPEC SC-06): never a threshold, a budget or a pass rate."""

    question: str
    current_query: str
    failed: tuple[FailedPassage, ...]
    """Passages of the last round that did not pass, with the grader's reasons, in rank order."""
    history: tuple[TriedRewrite, ...]

    def digest(self) -> str:
        """Hash that makes later rounds of a what-if knowable: same input, same recorded rewrite."""
        content = [
            self.question,
            self.current_query,
            [
                (item.id, item.text, round(item.similarity, 6), item.reason, item.covered, item.missing)
                for item in self.failed
            ],
            [(item.query, item.rewritten_query, item.reason, item.refused) for item in self.history],
        ]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class RewriteProposal:
    query: str
    reason: str
    keywords: tuple[str, ...] = ()
    strategy: str = ""


class Rewriter(Protocol):
    """Proposes another query after a round that did not pass.

    Contract (tests/contracts/test_rewriter.py): non-blank query in the question's language, works from the original
    question plus history, keeps the intent, and proposes nothing listed in ``history`` (queries or refused ones)
    where it can think of anything else. A reply that cannot be read is a ``ModelError``.
    """

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal: ...


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    question: str
    passages: tuple[Passage, ...]
    """In the order of their markers: the first is ``[1]``."""
    language: Language
    verified: bool = True


class Generator(Protocol):
    """Answers from the passages alone, citing them ``[n]``.

    Contract (tests/contracts/test_generator.py): answers in the question's language; every marker points to a passage
    given; says honestly what is missing; streams pieces through ``trace.token`` whose concatenation is the returned
    text; with no passages it is never called. Blank output is ``EmptyReply``.
    """

    @property
    def context_tokens(self) -> int:
        """Budget for the passages, in tokens; the assembling step cuts there."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, estimated where the model's tokenizer is not at hand."""

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str: ...


class Evaluator(Protocol):
    """Judges a finished answer against question and context (answer evaluation and dual loop)."""

    async def evaluate(
        self, question: str, answer: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> Evaluation: ...


@dataclass(frozen=True, slots=True)
class Evaluation:
    passed: bool
    suggestions: tuple[str, ...] = ()


class Reranker(Protocol):
    """Orders passages by how well they match the question; returns calibrated P(relevant), non-increasing."""

    async def rerank(self, question: str, passages: Sequence[Passage], top_k: int) -> list[tuple[Passage, float]]: ...


class Router(Protocol):
    """Chooses which source kinds or strategies a question needs."""

    async def route(self, question: str, choices: Sequence[str], trace: Trace = SILENT) -> list[str]: ...


class Memory(Protocol):
    """Long-term memory of answers that passed."""

    async def recall(self, question: str, limit: int) -> list[str]: ...

    async def remember(self, question: str, answer: str, *, passed: bool) -> None: ...


class WebSearch(Protocol):
    """Searches the web; its results are untrusted text."""

    async def search(self, query: str, limit: int) -> list[StoredPassage]: ...


@dataclass(frozen=True, slots=True)
class Entity:
    id: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Relationship:
    source: str
    target: str
    type: str


class GraphStore(Protocol):
    """Entities and relationships of a collection."""

    async def entities(self, collection: str, names: Sequence[str]) -> list[Entity]: ...

    async def neighbours(self, collection: str, entity: str, depth: int) -> list[Relationship]: ...


class ImageReader(Protocol):
    """Describes an image in words."""

    async def read(self, image: bytes, media_type: Literal["image/png", "image/jpeg", "image/webp"]) -> str: ...
