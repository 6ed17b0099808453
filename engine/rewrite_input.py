"""What a rewriter is shown: made alike by the engine and by every what-if, which compare its hash."""

from __future__ import annotations

from collections.abc import Sequence

from engine.config import RunConfig
from engine.decide import kept_passages
from engine.roles import FailedPassage, RewriteRequest, TriedRewrite
from engine.values import Passage, Rewrite, Round


def rewrite_request(
    question: str, rounds: Sequence[Round], history: Sequence[Rewrite], config: RunConfig
) -> RewriteRequest:
    """The passages of the newest round that failed with the grader's reasons, and all former rewrites (SPEC SC-06)."""
    current = rounds[-1]
    failed = tuple(
        FailedPassage(
            id=passage.id,
            text=passage.text,
            similarity=passage.similarity,
            reason=current.verdicts[passage.id].reason,
            covered=current.verdicts[passage.id].covered,
            missing=current.verdicts[passage.id].missing,
        )
        for passage in failed_passages(current, config)
    )
    tried = tuple(TriedRewrite(item.query, item.rewritten_query, item.reason, item.refused) for item in history)
    return RewriteRequest(question=question, current_query=current.query, failed=failed, history=tried)


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
