"""Input of a rewriter: built identically by the engine and every what-if, which compare its hash."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.config import RunConfig
from engine.model.decide import kept_passages
from engine.model.values import Evaluation, Passage, Rewrite, Round, Verdict
from engine.roles import FailedPassage, NearPassage, RewriteIssue, RewriteRequest, TriedRewrite

NEAREST = 5
"""Passages shown for their words; on the vague sample questions five give better queries than three."""


def rewrite_request(
    question: str,
    rounds: Sequence[Round],
    history: Sequence[Rewrite],
    config: RunConfig,
    issues: Sequence[RewriteIssue] = (),
    *,
    shows_nearest: bool = False,
) -> RewriteRequest:
    """The passages of the newest round that failed with the grader's reasons, and all former rewrites (SC-06).

    ``issues`` say what else was wrong, where a workflow knows it (QL-04); ``shows_nearest`` adds what came close
    without being kept.
    """
    current = rounds[-1]
    failed = tuple(
        FailedPassage(
            id=passage.id,
            text=passage.text,
            similarity=passage.similarity,
            reason=_seen(current.verdicts[passage.id], config),
            covered=current.verdicts[passage.id].covered,
            missing=current.verdicts[passage.id].missing,
            above=passage.above,
        )
        for passage in failed_passages(current, config)
    )
    tried = tuple(TriedRewrite(item.query, item.rewritten_query, item.reason, item.refused) for item in history)
    nearest = nearest_passages(current) if shows_nearest else ()
    return RewriteRequest(question, current.query, failed, tried, tuple(issues), nearest)


def _seen(verdict: Verdict, config: RunConfig) -> str:
    """The reason that was there in time: that of a token may come once the run is over."""
    return "" if verdict.kind == "token" and config.reasons != "before" else verdict.reason


def corrective_request(
    question: str,
    query: str,
    rounds: Sequence[Round],
    history: Sequence[Rewrite],
    *,
    evaluation: Evaluation | None,
    config: RunConfig,
) -> RewriteRequest:
    """Build the request after a rejected answer: what was wrong with it, and the passages that did not pass (DL-05).

    ``query`` is the one that led to the answer; a rewrite that left it as it was is no part of the history.
    """
    suggestions = evaluation.suggestions if evaluation else ()
    issues = tuple(RewriteIssue(item.code or "suggestion", item.text) for item in suggestions)
    tried = [item for item in history if item.rewritten_query != item.query]
    if rounds:
        return rewrite_request(question, rounds, tried, config, issues)
    return RewriteRequest(question, query, (), (), issues)


def nearest_passages(current: Round) -> tuple[NearPassage, ...]:
    """The round's most similar passages, of any gate; not of the dated history, whose words are those of a diary."""
    found = [item.passage for item in current.candidates if item.kind != "temporal"]
    found.sort(key=lambda passage: (-passage.similarity, passage.id))
    return tuple(
        NearPassage(passage.id, passage.text, passage.similarity, passage.above) for passage in found[:NEAREST]
    )


def failed_passages(current: Round, config: RunConfig) -> list[Passage]:
    """Kept passages whose verdict was read and does not pass; what could not be read says nothing of the passage."""
    verdicts = current.verdicts
    return [
        passage
        for passage in kept_passages(current, config)
        if passage.id in verdicts
        and verdicts[passage.id].relevant is not None
        and not verdicts[passage.id].passes(config.min_confidence)
    ]
