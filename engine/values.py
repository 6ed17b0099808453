"""The values that a run is made of: frozen, comparable, without behaviour that calls anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NewType

from engine.config import BUILTIN, GradeOn, RoleName, RunConfig, WorkflowName

PassageId = NewType("PassageId", str)
RunId = NewType("RunId", str)

Language = Literal["zh", "en", "other"]
Gate = Literal["kept", "below_threshold", "beyond_top_k"]
Relation = Literal["<", ">=", "=="]
Quantity = Literal[
    "pass_rate",
    "relevant_passages",
    "rewrites",
    "repeated_rewrites",
    "failed_rewrites",
    "elapsed_s",
    "candidates",
    "unreadable",
    "ungraded",
    "quality_score",
    "top3_relevance",
    "untried_strategies",
    "corrections",
    "suggestions",
    "epoch",
    "unreached_evaluators",
    "failed_answers",
]
SourceKind = Literal["vector", "graph", "temporal"]
"""Where a passage comes from: the knowledge base, notes on entities and their relations, a dated history."""
SOURCE_KINDS: tuple[SourceKind, ...] = ("vector", "graph", "temporal")
Strategy = Literal["hierarchical_search", "direct_chunk_search", "web_search"]
STRATEGIES: tuple[Strategy, ...] = ("hierarchical_search", "direct_chunk_search", "web_search")
"""Search strategies of the dual loop, in the order in which they are tried (SPEC DL-03)."""
QualityGrade = Literal["high", "medium", "low"]
QualityDimensionName = Literal["coverage", "relevance", "diversity", "count"]
QualityIssueCode = Literal["low_coverage", "low_relevance", "single_source", "too_few", "no_passages"]
EvaluationDimension = Literal["reasonableness", "evidence_marking"]
GateReason = Literal[
    "passed",
    "deadline",
    "below_gate",
    "max_rewrites",
    "repeated_rewrite",
    "no_passages",
    "rewriter_failed",
    "grader_unavailable",
    "grader_failed",
]
"""Why the gate of the four-node loop decided as it did."""
LoopReason = Literal[
    "quality_met",
    "low_quality",
    "direct",
    "search",
    "documents_relevant",
    "next_strategy",
    "strategies_exhausted",
    "answer_relevant",
    "answer_off",
    "max_corrections",
    "evaluation_passed",
    "revise",
    "max_epochs",
    "evaluator_failed",
    "writer_failed",
]
"""What only the deciding nodes of the other loops say."""
Reason = Literal[GateReason, LoopReason]
Outcome = Literal[
    "answered",
    "answered_forced",
    "answered_unverified",
    "abstained",
    "fallback",
    "cancelled",
    "failed",
    "interrupted",
]
BY_HAND = "by_hand"
"""Grader of a verdict that a reader set, and strategy of a rewrite that a reader wrote."""
AnswerKind = Literal["date", "number", "person", "place", "cause", "way", "definition", "other"]


def kind_named(name: object) -> SourceKind:
    """The source kind of that name; ``vector`` where there is none."""
    return next((kind for kind in SOURCE_KINDS if kind == name), "vector")


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrievable chunk of a source, as one search saw it."""

    id: PassageId
    source: str
    text: str
    similarity: float
    """In [0, 1], higher is better, whatever metric, sign or scale the store uses (SPEC SC-09)."""
    raw_score: float
    """The store's own number: for dense search the cosine, in [-1, 1]."""
    section: str = ""
    title: str = ""
    ordinal: int = 0
    """Place within the source, from 1."""
    vector_rank: int | None = None
    """Place among the hits by vectors, from 1; None where no list by words was searched too, or it was not in it."""
    text_rank: int | None = None
    """Place among the hits by words (BM25), from 1; None where these were not searched or it was not among them."""
    text_score: float | None = None
    """BM25 score, 0 and up; comparable within one query only."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its place in one search and what the gates made of it."""

    passage: Passage
    rank: int
    """From 1, best first."""
    gate: Gate
    margin: float
    """Similarity minus threshold: below 0 where the similarity gate dropped it."""
    kind: SourceKind | None = None
    """Which source kind it was found under; None where a workflow does not tell them apart."""
    found_at: Mapping[SourceKind, int] = field(default_factory=dict)
    """Its rank in each list that was fused, from 1."""
    fused: float = 0.0
    """Reciprocal-rank score that gave ``rank``; 0 where nothing was fused."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One grader's judgement of one passage against the question as asked."""

    relevant: bool | None
    """None where the reply could not be read: visible, not passed, never cached."""
    confidence: float
    """In [0, 1], in *this* verdict."""
    reason: str
    covered: tuple[str, ...] = ()
    """Terms of the question that the passage covers; a page renders built-in reasons from these."""
    missing: tuple[str, ...] = ()
    wanted: AnswerKind = "other"
    """Kind of answer the question asks for."""
    wanted_found: bool | None = None
    """Whether an answer of that kind stands near the question's terms; None where no kind is asked for."""
    grader: str = "builtin"

    @property
    def p_relevant(self) -> float:
        """P(relevant): confidence of a yes, its complement of a no, 0 where unreadable (SPEC SC-03)."""
        if self.relevant is None:
            return 0.0
        return self.confidence if self.relevant else 1.0 - self.confidence

    def passes(self, min_confidence: float) -> bool:
        """Whether P(relevant) reaches ``min_confidence`` (inclusive); an unreadable verdict never does."""
        # Rounded: 1 - 0.7 is 0.30000000000000004 and 1 - 0.9 is 0.09999999999999998, which would cross a bar of 0.1.
        return self.relevant is not None and round(self.p_relevant, 9) >= min_confidence


@dataclass(frozen=True, slots=True)
class Routing:
    """Which source kinds a query is searched in, and with what share of ``top_k`` (SPEC QL-03)."""

    query: str
    """What is searched: the round's query without words that were meant for the router alone."""
    shares: Mapping[SourceKind, float]
    """By kind, each above 0, summing to 1."""
    wide: bool = False
    """Whether places that a kind cannot fill with passages above the similarity threshold go to the other kinds."""
    code: str = ""
    """What the router went by (``plain``, ``relations``, ``history``, ``asked`` …), for rendering per language."""
    reason: str = ""
    missing: tuple[SourceKind, ...] = ()
    """Kinds that were wanted and that the collection does not have."""
    history_query: str = ""
    """What the ``temporal`` kind is searched with where weak points were asked for; empty: ``query``, as for all."""

    def query_for(self, kind: SourceKind) -> str:
        """What one kind is searched with."""
        return (self.history_query if kind == "temporal" else "") or self.query


@dataclass(frozen=True, slots=True)
class QualityDimension:
    """One term of the quality score; it adds ``value * weight``."""

    name: QualityDimensionName
    value: float
    """In [0, 1]."""
    weight: float


@dataclass(frozen=True, slots=True)
class QualityIssue:
    """What is wrong with a round, with the inequality that says so; no bound holds for ``no_passages``."""

    code: QualityIssueCode
    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class QualityCheck:
    """A round's quality by both definitions (SPEC QL-01, QL-02); the score that ``graded_on`` names routes."""

    dimensions: tuple[QualityDimension, ...]
    """In the order coverage, relevance, diversity, count; empty where there were no passages."""
    score: float
    """Weighted sum, in [0, 1]."""
    top3: float
    """Mean P(relevant) of the three most relevant passages, in [0, 1]."""
    grade: QualityGrade
    """By the weighted score."""
    top3_grade: QualityGrade
    graded_on: GradeOn
    issues: tuple[QualityIssue, ...]
    passages: int
    """How many were judged."""

    @property
    def routing_score(self) -> float:
        return self.score if self.graded_on == "weighted" else self.top3

    @property
    def routing_grade(self) -> QualityGrade:
        return self.grade if self.graded_on == "weighted" else self.top3_grade


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A source or one section of it whose summary came near the query."""

    source: str
    section: str
    """Empty for the summary of a whole source."""
    summary: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Round:
    """One retrieve + grade pass; round 0 is the original query."""

    index: int
    query: str
    candidates: tuple[Candidate, ...]
    """Every probed candidate in rank order, dropped ones included."""
    floor: float = 0.0
    """Cosine that maps to similarity 0 for this query."""
    anchors: str = ""
    """Which anchor set gave the floor, e.g. ``zh-100@3f2a``."""
    searched: bool = True
    """False where a repeated rewrite or a spent budget left nothing to search again."""
    verdicts: Mapping[PassageId, Verdict] = field(default_factory=dict)
    reused: tuple[PassageId, ...] = ()
    """Passages whose verdict came from an earlier round."""
    rewrite_input: str = ""
    """Hash of what the rewriter saw to make this round's query; empty for round 0."""
    routing: Routing | None = None
    """Which source kinds were searched (quality-control loop)."""
    reranked: tuple[PassageId, ...] = ()
    """The kept passages by P(relevant), best first; empty where a workflow does not rerank."""
    quality: QualityCheck | None = None
    strategy: Strategy | None = None
    """How it was searched (dual loop)."""
    attempt: int = 0
    """The pass of the outer loop that it belongs to, from 0 (dual loop)."""
    sections: tuple[FoundSection, ...] = ()
    """What a hierarchical search looked inside, best first."""

    @property
    def kept(self) -> tuple[Passage, ...]:
        return tuple(item.passage for item in self.candidates if item.gate == "kept")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One inequality of a decision, kept as operands so that every language can print it."""

    quantity: Quantity
    value: float
    relation: Relation
    bound: float


@dataclass(frozen=True, slots=True)
class Decision:
    """One routing outcome with the inequality that caused it."""

    round: int
    route: str
    """Target of the edge: a node's name or ``end``."""
    reason: Reason
    comparisons: tuple[Comparison, ...]
    passed: int
    kept: int
    node: str = "grade"

    @property
    def pass_rate(self) -> float:
        return self.passed / self.kept if self.kept else 0.0

    @property
    def inequality(self) -> str:
        """The comparisons in English, with as many digits as make them true."""
        from engine.wording import inequality

        return inequality(self.comparisons)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A new query made after a round that did not pass."""

    round: int
    """The round that failed; the new query opens round + 1."""
    query: str
    """The query that failed."""
    rewritten_query: str
    reason: str
    keywords: tuple[str, ...] = ()
    strategy: str = ""
    """Code of what was done (``broader``, ``narrower``, ``feedback``, ``split`` …), for rendering per language."""
    repeated: bool = False
    """Equal to a query already tried, after one retry."""
    refused: tuple[str, ...] = ()
    """Proposals refused because they repeated a query."""
    failed: bool = False
    """The rewriter itself failed; the old query stands."""
    input_hash: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One invocation of a role's model, exactly as sent and received (SPEC SC-10)."""

    role: RoleName
    node: str
    round: int
    model: str
    messages: tuple[Message, ...]
    reply: str
    parsed: Mapping[str, Any] | None = None
    """What was read from the reply; None where nothing could be."""
    passage_id: PassageId | None = None
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    start_ms: float = 0.0
    """Since the run began."""
    duration_ms: float = 0.0
    built_in: bool = False
    cached: bool = False
    attempt: int = 1
    truncated: bool = False
    """The reply reached its limit of tokens and breaks off there."""
    error: str = ""
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class NodeExecution:
    """One visit of one node."""

    node: str
    round: int
    visit: int
    """From 1, per node."""
    start_ms: float
    duration_ms: float | None = None
    """None while it runs."""
    model_calls: int = 0
    """Chat-model invocations, cached ones included; built-in ones are not model calls."""
    built_in_calls: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What the generator was given, in its order."""

    passages: tuple[Passage, ...]
    cut: tuple[PassageId, ...] = ()
    """Passages left out because the token budget was spent."""
    verified: bool = True
    tokens: int = 0
    token_budget: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker ``[n]`` of the answer and the passage it points to."""

    marker: int
    passage_id: PassageId
    source: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """An earlier question with its answer, as long-term memory keeps it (SPEC DL-06)."""

    id: str
    question: str
    answer: str
    collection: str
    run_id: str
    kept_at: str
    """ISO 8601, UTC."""
    passed: bool = True
    """False for an answer that did not pass: kept apart, and never recalled."""
    sources: tuple[str, ...] = ()
    """Names of the sources that the answer cited."""
    fingerprint: str = ""
    """Of the collection as it was then."""
    similarity: float = 0.0
    """Of its question to the one asked, where it was recalled."""


@dataclass(frozen=True, slots=True)
class Recall:
    """What long-term memory brought up for a question."""

    memories: tuple[Memory, ...] = ()
    """Best first."""
    stale: tuple[str, ...] = ()
    """Ids of memories made when the collection held something else: shown, and not answered from."""
    off: bool = False
    """Memory was switched off."""
    failed: bool = False
    """Memory could not be read; a warning says why."""


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """How the dual loop begins (SPEC DL-02)."""

    route: Literal["direct"] | Strategy
    code: str = ""
    """What it went by (``remembered``, ``smalltalk``, ``overview``, ``specific`` …), for rendering per language."""
    reason: str = ""
    without_memory: Literal["direct"] | Strategy | None = None
    """What would have been chosen had nothing been recalled; None where that is not known."""


@dataclass(frozen=True, slots=True)
class TriedRoute:
    """One strategy of one pass: searched, or why not (SPEC DL-03)."""

    strategy: Strategy
    attempt: int
    status: Literal["searched", "nothing_found", "skipped", "failed"]
    why: str = ""
    """Code of a skip or a failure: ``web_off``, ``web_not_set``, ``no_summaries``, or the code of an error."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What an evaluator wants changed in an answer: concrete and actionable (SPEC AE-03)."""

    dimension: EvaluationDimension
    text: str
    code: str = ""
    """Of a built-in evaluator, for rendering per language from ``params``; empty where ``text`` is a model's own."""
    params: Mapping[str, str] = field(default_factory=dict)
    quote: str = ""
    """The sentence of the answer that it is about; empty where it is about the whole."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What an evaluator saw of one passage (SPEC AE-04)."""

    passage_id: PassageId
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A judgement of an answer; passed exactly where there is nothing to suggest (SPEC AE-03)."""

    passed: bool
    suggestions: tuple[Suggestion, ...] = ()
    evaluator: str = BUILTIN


@dataclass(frozen=True, slots=True)
class Draft:
    """One answer of a run that may write several."""

    index: int
    """From 0."""
    text: str
    citations: tuple[Citation, ...] = ()
    removed_markers: tuple[str, ...] = ()
    attempt: int = 0
    """The pass of the outer loop that wrote it (dual loop)."""
    direct: bool = False
    """Written without a search."""
    evaluation: Evaluation | None = None
    """None where it was not evaluated."""
    seen: tuple[Excerpt, ...] = ()
    """What the evaluator saw of the passages."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error or warning as a record keeps it."""

    code: str
    fact: str
    remedy: str
    params: Mapping[str, str] = field(default_factory=dict)
    node: str = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """Where a run branched off another one, and what was changed there; everything before was reused."""

    parent: RunId
    round: int = 0
    """The round whose decision is made anew; the rounds before it stand as the parent had them."""
    settings: tuple[str, ...] = ()
    """Names of the settings that were changed."""
    query: str = ""
    """The query that this round searches instead of its own; empty where it was not changed."""
    verdicts: Mapping[PassageId, bool] = field(default_factory=dict)
    """Verdicts set by hand: whether the passage counts as relevant."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The picture of a run, made by folding its events; while it goes on, ``outcome`` is None."""

    id: RunId
    question: str
    config: RunConfig
    started_at: str
    """ISO 8601, UTC."""
    manifest: Mapping[str, str] = field(default_factory=dict)
    """Versions, models with digests, collection fingerprint: what is needed to explain the run later."""
    fork: Fork | None = None
    """None for a run that began by itself."""
    rounds: tuple[Round, ...] = ()
    decisions: tuple[Decision, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    nodes: tuple[NodeExecution, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    context: Context | None = None
    answer: str = ""
    citations: tuple[Citation, ...] = ()
    removed_markers: tuple[str, ...] = ()
    drafts: tuple[Draft, ...] = ()
    """Every answer of a workflow that evaluates its answers; ``answer`` is the one that stands."""
    recall: Recall | None = None
    route: RouteChoice | None = None
    tried_routes: tuple[TriedRoute, ...] = ()
    remembered: Memory | None = None
    """What this run left in long-term memory."""
    outcome: Outcome | None = None
    reason: str = ""
    error: Fault | None = None
    warnings: tuple[Fault, ...] = ()
    duration_ms: float = 0.0
    last_seq: int = 0

    @property
    def workflow(self) -> WorkflowName:
        return self.config.workflow

    @property
    def active(self) -> bool:
        return self.outcome is None

    @property
    def query(self) -> str:
        """The query of the newest round."""
        return self.rounds[-1].query if self.rounds else self.question

    @property
    def calls(self) -> int:
        """Chat-model invocations as if nothing had been cached; built-in ones are counted apart."""
        return sum(not call.built_in for call in self.model_calls)

    @property
    def cached_calls(self) -> int:
        return sum(call.cached for call in self.model_calls)

    @property
    def built_in_calls(self) -> int:
        return sum(call.built_in for call in self.model_calls)

    def graded(self, round_index: int) -> list[tuple[Passage, Verdict]]:
        """Passages of a round that have a verdict, in rank order."""
        verdicts = self.rounds[round_index].verdicts
        passages = (candidate.passage for candidate in self.rounds[round_index].candidates)
        return [(passage, verdicts[passage.id]) for passage in passages if passage.id in verdicts]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values; ``records.codec.record_from_dict`` reads them back."""
        from engine.records.codec import record_to_dict

        return record_to_dict(self)
