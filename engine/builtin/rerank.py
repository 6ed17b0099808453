"""Order by P(relevant): the grader as reranker, and the order itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.values import Passage, PassageId, Verdict
from engine.roles import SILENT, Grader, Trace

BATCH = 8
"""Passages that a cross encoder scores at a time: after each batch the time that is left is looked at again."""
CHAT_BATCH = 10
"""Passages that a chat model scores in one call: with more of them, models begin to leave some out."""
_EVEN = 0.5


class GraderReranker:
    """Reranks by a grader's verdicts (contract: :class:`engine.roles.Reranker`); raises what the grader raises."""

    def __init__(self, grader: Grader) -> None:
        self._grader = grader

    async def rerank(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> list[tuple[Passage, Verdict]]:
        """Each passage with its verdict, most relevant first."""
        if not passages:
            return []
        judged = await self._grader.grade(question, passages, trace)
        verdicts = {passage.id: verdict for passage, verdict in zip(passages, judged, strict=True)}
        return [(passage, verdicts[passage.id]) for passage in by_relevance(passages, verdicts)]


def by_relevance(passages: Sequence[Passage], verdicts: Mapping[PassageId, Verdict]) -> list[Passage]:
    """Sort passages by P(relevant), then similarity, then id; without a verdict the relevance is 0."""

    def order(passage: Passage) -> tuple[float, float, str]:
        verdict = verdicts.get(passage.id)
        return -(verdict.p_relevant if verdict is not None else 0.0), -passage.similarity, passage.id

    return sorted(passages, key=order)


def scored_verdict(score: float, name: str) -> Verdict:
    """A score in [0, 1] of a reranker that judges nothing else, as the verdict that its P(relevant) stands for."""
    relevant = score >= _EVEN
    return Verdict(relevant, score if relevant else 1.0 - score, "", grader=name)
