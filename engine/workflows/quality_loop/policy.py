"""The policy of the quality-control loop: pure functions of evidence and config (QL-01, QL-02, QL-05, QL-08).

The engine and every what-if call the same functions, so a replay cannot disagree with a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from engine.errors import RunWarning, WorkbenchError
from engine.model.config import RunConfig
from engine.model.decide import Evidence, gate_in
from engine.model.values import (
    SOURCE_KINDS,
    Candidate,
    Comparison,
    Context,
    Decision,
    Outcome,
    QualityCheck,
    QualityDimension,
    QualityGrade,
    QualityIssue,
    QualityIssueCode,
    Quantity,
    Reason,
    Round,
    Routing,
    SourceKind,
    Verdict,
    operands,
)
from engine.retrieval.fuse import quotas
from engine.roles import RewriteIssue
from engine.workflows.quality_loop.options import QualityOptions, quality_options

FULL_COUNT = 20
"""Passages at which the count is worth all of its weight."""
BOUNDS: Mapping[QualityIssueCode, float] = MappingProxyType(
    {"low_coverage": 0.5, "low_relevance": 0.6, "single_source": 2, "too_few": 10}
)
"""Below which a dimension is an issue (QL-01)."""
_IN_WORDS: Mapping[QualityIssueCode, str] = MappingProxyType(
    {
        "low_coverage": "Too few of the passages come from the dated history of weak points.",
        "low_relevance": "The passages are not relevant enough to the question.",
        "single_source": "All passages come from one kind of source.",
        "too_few": "Too few passages came close enough to the query.",
        "no_passages": "No passage came close enough to the query.",
    }
)
"""What a rewriter is given of an issue: no figure, no bound (SC-06)."""
_TOP = 3
_DIGITS = 9
"""Sums of weighted shares are rounded here: 0.4 * 0.5 + 0.3 must reach a bar of 0.5."""
_CHAT_SHARE = 0.7
_BUILT_IN_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The best that a configuration can come to with the source kinds there are (QL-08)."""

    score: float
    """Highest value of the score that routes, in [0, 1], of any round that the settings allow."""
    reachable: bool
    """Whether a round can be graded medium at all; where not, every question burns all rewrites."""
    first: float
    """The same of round 0, by the places that its routing gives to each kind."""
    kinds: tuple[SourceKind, ...]
    missing: tuple[SourceKind, ...]
    """Kinds that the collection has no passages of."""


def deadline_s(config: RunConfig) -> float:
    """Seconds after which nothing more is searched, judged or rewritten; the rest of the budget is the generation's."""
    share = _BUILT_IN_SHARE if config.models.generator.built_in else _CHAT_SHARE
    return round(config.budget_s * share, 4)


def kept_candidates(current: Round, config: RunConfig) -> list[Candidate]:
    """Candidates that the gates of ``config`` keep, no matter what config the round was recorded with."""
    return [item for item in current.candidates if gate_in(item, config) == "kept"]


def check_quality(current: Round, config: RunConfig) -> QualityCheck:
    """The four dimensions over the kept passages of a round, both scores with their grades, and the issues.

    A passage without a readable verdict has relevance 0, one without a kind counts as ``vector``.
    """
    options = quality_options(config)
    kept = kept_candidates(current, config)
    if not kept:
        issues = (QualityIssue("no_passages", 0, 0),)
        grade = grade_of(0.0, options)
        return QualityCheck((), 0.0, 0.0, grade, grade, options.grade_on, issues, 0)
    relevances = [_p_relevant(current.verdicts.get(item.passage.id)) for item in kept]
    kinds = [item.kind or "vector" for item in kept]
    coverage = kinds.count("temporal") / len(kept)
    relevance = _rounded(math.fsum(relevances) / len(kept))
    distinct = len(set(kinds))
    dimensions = _dimensions(options, coverage, relevance, distinct, len(kept))
    best = sorted(relevances, reverse=True)[:_TOP]
    score, top3 = _weighted(dimensions), _rounded(math.fsum(best) / len(best))
    return QualityCheck(
        dimensions=dimensions,
        score=score,
        top3=top3,
        grade=grade_of(score, options),
        top3_grade=grade_of(top3, options),
        graded_on=options.grade_on,
        issues=_issues(coverage, relevance, distinct, len(kept)),
        passages=len(kept),
    )


def grade_of(score: float, options: QualityOptions) -> QualityGrade:
    """High, medium or low; both cut-offs are inclusive (QL-02)."""
    if score >= options.high_score:
        return "high"
    return "medium" if score >= options.medium_score else "low"


def decide_quality(evidence: Evidence, config: RunConfig) -> Decision:
    """Decide where to go after the newest round, and give the one reason why (QL-03, QL-05).

    Precedence: every kept verdict unreadable ends the run; then quality met, grader gone, deadline, limit of rewrites,
    a rewrite that failed or repeated itself, nothing found, rewrite. Raises ``ValueError`` without rounds.
    """
    if not evidence.rounds:
        raise ValueError("a decision needs at least one round")
    current = evidence.rounds[-1]
    kept = kept_candidates(current, config)
    verdicts = [current.verdicts.get(item.passage.id) for item in kept]
    passed = sum(1 for item in verdicts if item is not None and item.passes(config.min_confidence))
    unreadable = sum(1 for item in verdicts if item is not None and item.relevant is None)
    check = check_quality(current, config)
    rewrites, bar = len(evidence.rounds) - 1, quality_options(config).medium_score
    quantity: Quantity = "quality_score" if check.graded_on == "weighted" else "top3_relevance"

    def to(route: str, reason: Reason, *comparisons: Comparison) -> Decision:
        return Decision(current.index, route, reason, comparisons, passed, len(kept), node="grade_documents")

    if kept and unreadable == len(kept):
        return to("end", "grader_failed", Comparison("unreadable", unreadable, "==", len(kept)))
    if check.routing_score >= bar:
        return to("generate", "quality_met", Comparison(quantity, check.routing_score, ">=", bar))
    unmet = Comparison(quantity, check.routing_score, "<", bar)
    ungraded = verdicts.count(None)
    if evidence.grader_unavailable and ungraded:
        return to("generate", "grader_unavailable", unmet, Comparison("ungraded", ungraded, ">=", 1))
    if evidence.elapsed_s >= deadline_s(config):
        return to("generate", "deadline", unmet, Comparison("elapsed_s", evidence.elapsed_s, ">=", deadline_s(config)))
    if rewrites >= config.max_rewrites:
        return to("generate", "max_rewrites", unmet, Comparison("rewrites", rewrites, ">=", config.max_rewrites))
    if evidence.rewriter_failed:
        return to("generate", "rewriter_failed", unmet, Comparison("failed_rewrites", 1, ">=", 1))
    if evidence.repeated_rewrite:
        return to("generate", "repeated_rewrite", unmet, Comparison("repeated_rewrites", 1, ">=", 1))
    if not current.candidates:
        # No kind of source had anything, regardless of its similarity: no other words can fill an empty collection.
        return to("generate", "no_passages", unmet, Comparison("candidates", 0, "==", 0))
    return to("rewrite", "low_quality", unmet, Comparison("rewrites", rewrites, "<", config.max_rewrites))


def rewrite_issues(current: Round, config: RunConfig) -> tuple[RewriteIssue, ...]:
    """The issues of a round as its rewriter is given them (QL-04).

    History that was asked for and that the collection does not have is not asked for again.
    """
    without_history = current.routing is not None and "temporal" in current.routing.missing
    return tuple(
        RewriteIssue(issue.code, _IN_WORDS[issue.code])
        for issue in check_quality(current, config).issues
        if not (without_history and issue.code == "low_coverage")
    )


def outcome_of(decision: Decision, context: Context) -> Outcome:
    """Return the outcome of a run that reached generation; an answer on low quality is a forced one (QL-05)."""
    if not context.passages:
        return "abstained"
    if not context.verified:
        return "answered_unverified"
    return "answered" if decision.reason == "quality_met" else "answered_forced"


def score_ceiling(config: RunConfig, kinds: Sequence[SourceKind], routing: Routing | None = None) -> Ceiling:
    """The highest scores that can be reached over ``kinds``, were every passage found relevant (QL-08).

    ``routing`` is that of round 0; None where it is not known yet, which bounds it by every routing there could be.
    Later rounds are routed by what a rewrite asks for, so that any routing bounds them.
    """
    present = tuple(kind for kind in SOURCE_KINDS if kind in kinds)
    anywhere = _best(dict.fromkeys(present, config.top_k), config)
    first = anywhere if routing is None or routing.wide else _best(_places(routing, present, config), config)
    score = anywhere if config.max_rewrites else first
    options = quality_options(config)
    return Ceiling(
        score=score,
        reachable=score >= options.medium_score,
        first=first,
        kinds=present,
        missing=tuple(kind for kind in SOURCE_KINDS if kind not in present),
    )


def bar_warnings(ceiling: Ceiling, config: RunConfig) -> tuple[WorkbenchError, ...]:
    """Warn of a threshold before a run: out of reach of every round, or of the first one only."""
    bar = quality_options(config).medium_score
    if not ceiling.reachable:
        score, needed = _below(ceiling.score, bar)
        return (RunWarning.bar_out_of_reach(score=score, bar=needed),)
    if ceiling.first < bar:
        score, needed = _below(ceiling.first, bar)
        return (RunWarning.bar_needs_rewrite(score=score, bar=needed),)
    return ()


def _below(score: float, bar: float) -> tuple[str, str]:
    """Format both in as many digits as tell them apart."""
    return operands(Comparison("quality_score", score, "<", bar))


def _places(routing: Routing, kinds: Sequence[SourceKind], config: RunConfig) -> dict[SourceKind, int]:
    given = quotas(routing.shares, config.top_k)
    return {kind: given[kind] for kind in kinds if given.get(kind)}


def _best(places: Mapping[SourceKind, int], config: RunConfig) -> float:
    """The best score of at most ``top_k`` relevant passages, at most so many of each kind.

    Fewer of the others raise the share of history, more of them the count; the score has its maximum at either end.
    """
    options = quality_options(config)
    if options.grade_on == "top3":
        return 1.0 if places else 0.0
    others = sorted((count for kind, count in places.items() if kind != "temporal"), reverse=True)
    return _best_of(tuple(others), min(places.get("temporal", 0), config.top_k), config.top_k, options)


# A map of decisions asks for few of these very often.
@lru_cache(maxsize=512)
def _best_of(others: tuple[int, ...], most_history: int, top_k: int, options: QualityOptions) -> float:
    best = 0.0
    for history in range(most_history + 1):
        for distinct in range(len(others) + 1):
            room = min(sum(others[:distinct]), top_k - history)
            for rest in {distinct, room}:
                if distinct <= rest <= room and history + rest:
                    best = max(best, _score_of(history, rest, distinct, options))
    return best


def _score_of(history: int, rest: int, distinct: int, options: QualityOptions) -> float:
    count, kinds = history + rest, distinct + (history > 0)
    return _weighted(_dimensions(options, history / count, 1.0, kinds, count))


def _dimensions(
    options: QualityOptions, coverage: float, relevance: float, distinct: int, count: int
) -> tuple[QualityDimension, ...]:
    return (
        QualityDimension("coverage", coverage, options.coverage_weight),
        QualityDimension("relevance", relevance, options.relevance_weight),
        QualityDimension("diversity", min(distinct / len(SOURCE_KINDS), 1.0), options.diversity_weight),
        QualityDimension("count", min(count / FULL_COUNT, 1.0), options.count_weight),
    )


def _weighted(dimensions: Sequence[QualityDimension]) -> float:
    # The weights may be off 1 by what rounding leaves.
    return min(1.0, _rounded(math.fsum(item.value * item.weight for item in dimensions)))


def _issues(coverage: float, relevance: float, distinct: int, count: int) -> tuple[QualityIssue, ...]:
    values: Mapping[QualityIssueCode, float] = {
        "low_coverage": coverage,
        "low_relevance": relevance,
        "single_source": distinct,
        "too_few": count,
    }
    return tuple(QualityIssue(code, value, BOUNDS[code]) for code, value in values.items() if value < BOUNDS[code])


def _p_relevant(verdict: Verdict | None) -> float:
    return verdict.p_relevant if verdict is not None else 0.0


def _rounded(value: float) -> float:
    return round(value, _DIGITS)
