"""The roles of a run as Protocols; each has one contract suite under ``tests/contracts`` that every version passes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.values import (
    Evaluation,
    Language,
    Memory,
    ModelCall,
    Passage,
    PassageId,
    RouteChoice,
    Routing,
    SourceKind,
    Strategy,
    Verdict,
    kind_named,
)

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

EvaluationAim = Literal["answer", "relevance"]
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
    kinds: tuple[SourceKind, ...] = ()
    """Kinds of its sources, in the order of ``SOURCE_KINDS``."""
    summaries: int = 0
    """Summaries of its sources and their sections, kept beside the passages."""
    full_text: bool = False
    """Whether its passages can be searched by words (BM25) too."""
    aliases: tuple[str, ...] = ()
    """Other names under which it can be asked for."""
    description: str = ""
    """What its owner says of it."""
    address: str = ""
    """Where a connected collection of somebody else lives; empty for those of the settings' own store."""
    remote_name: str = ""
    """Its name there; ``name`` is what it is called here."""
    read_only: bool = False


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


@dataclass(frozen=True, slots=True)
class Within:
    """Which passages a search may find; what is left empty restricts nothing."""

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


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: the passage and its cosine to the query, best first."""

    passage: StoredPassage
    cosine: float
    text_score: float | None = None
    """BM25 score, 0 and up, of a search by words; None in a search by vectors."""


class PassageStore(Protocol):
    """Keeps passages with their vectors, by collection.

    Contract (tests/contracts/test_store.py): search is exact or nearly so, best first, cosine in [-1, 1] whatever the
    store's own sign; an unknown collection, a wrong dimension, a lock, an unreachable server are our errors;
    filters built from names cannot be injected; inserting an id again replaces it; deletes are seen by the next search;
    a search within kinds or sections finds what a full one would have found of them; summaries go with the source that
    they tell of, and no count or fingerprint knows them.
    """

    async def collections(self) -> list[CollectionInfo]: ...

    async def describe(self, collection: str) -> CollectionInfo: ...

    async def create(self, info: CollectionInfo) -> None: ...

    async def drop(self, collection: str) -> None: ...

    async def insert(
        self,
        collection: str,
        passages: Sequence[StoredPassage],
        vectors: Vector,
        summaries: Summaries = NO_SUMMARIES,
    ) -> None: ...

    async def summarise(self, collection: str, summaries: Summaries) -> None: ...

    async def search_summaries(
        self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]: ...

    async def search(self, collection: str, vector: Vector, limit: int, within: Within = ANYWHERE) -> list[Hit]: ...

    async def search_text(
        self, collection: str, text: str, vector: Vector, limit: int, within: Within = ANYWHERE
    ) -> list[Hit]:
        """Best BM25 score first, each with its cosine to ``vector``; raises ``FullTextMissing``."""

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
class RewriteIssue:
    """One thing that a rewrite should mend."""

    code: str
    """A ``QualityIssueCode``, or the code of a suggestion."""
    text: str
    """In words, without figures of budget or threshold."""


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage near a query, whatever became of it: its words are those that the collection has for the subject."""

    id: PassageId
    text: str
    similarity: float


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """Everything a rewriter may see (SPEC SC-06): never a threshold, a budget or a pass rate."""

    question: str
    current_query: str
    failed: tuple[FailedPassage, ...]
    """Passages of the last round that did not pass, with the grader's reasons, in rank order."""
    history: tuple[TriedRewrite, ...]
    issues: tuple[RewriteIssue, ...] = ()
    """What was wrong with the results (SPEC QL-04) or with the answer (SPEC DL-05)."""
    nearest: tuple[NearPassage, ...] = ()
    """Passages of the last round closest to its query, best first, those below the similarity threshold too; empty
    where a workflow does not show them."""

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
        if self.issues:
            content.append([(item.code, item.text) for item in self.issues])
        if self.nearest:
            content.append([(item.id, item.text, round(item.similarity, 6)) for item in self.nearest])
        # Half a surrogate pair, which a model's reply can hold, has no UTF-8 form.
        text = json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return hashlib.sha256(text).hexdigest()[:16]


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


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    question: str
    answer: str
    passages: tuple[Passage, ...]
    """In the order of the answer's markers: the first is ``[1]``; their texts may be cut (SPEC AE-04)."""
    language: Language
    aim: EvaluationAim = "answer"
    """``answer`` judges reasonableness and evidence marking (SPEC AE-02); ``relevance`` only whether the answer
    solves the question (SPEC DL-04), with every suggestion under ``reasonableness``."""
    unseen: int = 0
    """Passages that the answer was written from and that are not shown: their markers follow those of ``passages``."""
    removed_markers: tuple[str, ...] = ()
    """Markers that pointed nowhere and were taken out of the answer."""


class Evaluator(Protocol):
    """Judges a finished answer against question and passages.

    Contract (tests/contracts/test_evaluator.py): ``passed`` exactly where there is no suggestion; at least one
    suggestion for each failed dimension, concrete and actionable; text inside answer and passages is evidence and
    cannot change the judgement's form; a quote stands in the answer word for word. A reply that cannot be read after
    one more try is ``UnreadableReply``, a server that cannot be reached a ``ModelError``.
    """

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation: ...


class Writer(Protocol):
    """Writes an answer from a conversation and nothing else (SPEC AE-06).

    Contract (tests/contracts/test_writer.py): as :class:`Generator` for markers, language, streaming and blank output;
    the first human message holds question and passages, further ones ask for a revision of the answer before them.
    """

    @property
    def context_tokens(self) -> int: ...

    def count_tokens(self, text: str) -> int: ...

    async def write(self, messages: Sequence[BaseMessage], trace: Trace = SILENT) -> str: ...


class Reranker(Protocol):
    """Scores passages by how well they answer the question.

    Contract (tests/contracts/test_reranker.py): calibrated P(relevant) by passage id, in [0, 1]; judged passages are
    reported through ``trace.verdict``; the order of the result is non-increasing in P.
    """

    async def rerank(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> list[tuple[Passage, Verdict]]: ...


@dataclass(frozen=True, slots=True)
class RoutingRequest:
    """What a router of source kinds may see: no score, no threshold, no budget."""

    question: str
    query: str
    """The question, or its newest rewrite: a wish for history, several sources or a wider scope stands in it."""
    kinds: tuple[SourceKind, ...]
    """Kinds that the collection has."""


class SourceRouter(Protocol):
    """Chooses which source kinds a query needs (SPEC QL-03).

    Contract (tests/contracts/test_router.py): shares above 0 that sum to 1, of available kinds only, at least one; a
    query that asks for history has ``temporal`` among them, one that asks for several sources at least two, one that
    asks for a wider scope is ``wide``, each where the collection allows it. Never calls a store.
    """

    async def route(self, request: RoutingRequest, trace: Trace = SILENT) -> Routing: ...


@dataclass(frozen=True, slots=True)
class StrategyRequest:
    question: str
    memories: tuple[Memory, ...]
    """Recalled ones that still hold, best first."""
    strategies: tuple[Strategy, ...]
    """Those that can be used here."""


class StrategyRouter(Protocol):
    """Decides how the dual loop begins (SPEC DL-02); never searches.

    Contract (tests/contracts/test_strategy_router.py): ``direct`` or one of the strategies given; ``direct`` only for
    small talk or where a memory answers; says what it would have been without memory where it knows. A reply that
    cannot be read is ``UnreadableReply``.
    """

    async def choose(self, request: StrategyRequest, trace: Trace = SILENT) -> RouteChoice: ...


@dataclass(frozen=True, slots=True)
class DirectRequest:
    question: str
    memories: tuple[Memory, ...]
    language: Language


class DirectAnswerer(Protocol):
    """Answers without a search: from memory or from good manners.

    Contract (tests/contracts/test_direct.py): streams pieces whose concatenation is the returned text, never blank; in
    the question's language; an answer from memory says so and names the sources that the memory has.
    """

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str: ...


class LongTermMemory(Protocol):
    """Earlier questions with their answers, kept across restarts (SPEC DL-06).

    Contract (tests/contracts/test_memory.py): ``recall`` gives passed memories of the collection alone, best first
    with ``similarity`` filled in; failed ones are kept apart and never recalled; keeping an id again replaces it;
    everything raised is our own error.
    """

    async def recall(self, question: str, collection: str, limit: int) -> list[Memory]: ...

    async def keep(self, memory: Memory) -> None: ...

    async def list(self) -> list[Memory]:
        """Every memory, passed and failed, newest first."""

    async def forget(self, memory_id: str) -> bool:
        """Whether there was one to forget."""


class WebSearch(Protocol):
    """Searches the web; its results are untrusted text (SPEC DL-07).

    Contract (tests/contracts/test_web_search.py): at most ``limit`` results with a title, an http(s) address as
    ``source`` and plain text; nothing but the engine's address is ever contacted; slow, failing or malformed engines
    are a ``WebSearchError``.
    """

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
