"""Closed sets and ids used by the values of a run."""

from __future__ import annotations

from typing import Literal, NewType

PassageId = NewType("PassageId", str)
RunId = NewType("RunId", str)
QueryKind = Literal["asked", "translated"]
Language = Literal["zh", "en", "other"]
WEB_ID = "web-"
"""What the ids of passages from the web begin with."""
Gate = Literal["kept", "below_threshold", "beyond_top_k", "below_graph", "below_rerank"]
"""``below_graph`` and ``below_rerank`` are cut by the thresholds of those stages (graph + vector retrieval)."""
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
    "table_coverage",
    "sufficiency",
    "covered_parts",
]
Sufficiency = Literal["yes", "part", "no"]
"""Whether passages answer a question together."""
PassageContext = Literal["none", "path", "written"]
"""What is embedded, and searched by words, in front of a passage: nothing, its heading path, or that and a
sentence that a chat model wrote."""

CONTEXTS: tuple[PassageContext, ...] = ("none", "path", "written")
NEW_CONTEXT: PassageContext = "path"
"""That of new collections where none is asked for."""

SourceKind = Literal["vector", "graph", "temporal"]
"""Where a passage comes from: the knowledge base, notes on entities and their relations, a dated history."""
SOURCE_KINDS: tuple[SourceKind, ...] = ("vector", "graph", "temporal")
SAMPLE_COLLECTION = "samples"
WEAK_POINT = "weak-point:"
"""What ids of entries of the history of weak points begin with; they are searched, and never shown to a generator."""
Strategy = Literal["hierarchical_search", "direct_chunk_search", "web_search"]
STRATEGIES: tuple[Strategy, ...] = ("hierarchical_search", "direct_chunk_search", "web_search")
"""Search strategies of the dual loop, in the order in which they are tried (DL-03)."""
QualityGrade = Literal["high", "medium", "low"]
GradeOn = Literal["weighted", "top3"]
"""The number that routes the quality-control loop: its weighted score, or the mean relevance of the best three."""
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
    "bypass",
    "simple",
    "tables_only",
    "needs_search",
    "table_answers",
]
"""What only the deciding nodes of the other loops say."""
Reason = Literal[GateReason, LoopReason]
AnswerNote = Literal["", "cannot_tell", "uncited", "unsupported", "unchecked"]
"""What a note adds to the outcome of an answer: that it says it cannot tell, that it names no passage, that it says
what stands in none of what it cites, or that a sentence of it could not be checked."""
Support = Literal["supported", "unsupported", "uncited", "cannot_tell", "unchecked"]
"""Whether what an answer says stands in what it cites; ``unchecked`` where it was written from nothing, or where the
verifier failed."""

Outcome = Literal[
    "answered",
    "answered_forced",
    "answered_unverified",
    "abstained",
    "fallback",
    "cancelled",
    "failed",
    "interrupted",
    "unanswered",
]
"""``unanswered``: the imported trace of another program holds no answer."""
ANSWERED: frozenset[Outcome | None] = frozenset({"answered", "answered_forced", "answered_unverified"})
COMPLETE: frozenset[Outcome | None] = ANSWERED | {"abstained", "fallback"}
"""Outcomes of runs that came to their end by themselves."""
BY_HAND = "by_hand"
"""Grader of a verdict that a reader set, and strategy of a rewrite that a reader wrote."""
VerdictKind = Literal["builtin", "score", "token", "said"]
"""What P(relevant) of a verdict is: made of words by the built-in grader, the score of a model that gives scores, the
probability of a token that means yes, or what a model, program or reader said of itself."""
AnswerKind = Literal["date", "number", "person", "place", "cause", "way", "definition", "other"]


def kind_named(name: object) -> SourceKind:
    """The source kind of that name; ``vector`` where there is none."""
    return next((kind for kind in SOURCE_KINDS if kind == name), "vector")
