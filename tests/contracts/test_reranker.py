"""The contract of :class:`engine.roles.Reranker`, for every implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest

from engine.retrieval.rerank import GraderReranker, by_relevance
from engine.roles import SILENT, Reranker, Trace
from engine.values import Passage, PassageId, Verdict
from tests.contracts.test_grader import GRADERS
from tests.support.listening import Listening
from tests.support.loop_fakes import verdict

RERANKERS: Mapping[str, Callable[[], Reranker]] = {
    f"grader: {name}": lambda make=make: GraderReranker(make())  # type: ignore[misc]
    for name, make in GRADERS.items()
}
QUESTION = "Where is rapid-acting insulin injected, and why there?"
RIGHT = Passage(
    PassageId("right"), "a.md", "Rapid-acting insulin is injected into the abdomen: absorption is fastest.", 0.6, 0.9
)
WRONG = Passage(PassageId("wrong"), "b.md", "A tree with n vertices has exactly n − 1 edges.", 0.05, 0.7)
ODD = Passage(PassageId("odd"), "c.md", "}{][ \x00", 0.05, 0.7)


@pytest.fixture(params=RERANKERS)
def reranker(request: pytest.FixtureRequest) -> Reranker:
    return RERANKERS[request.param]()


def rerank(reranker: Reranker, *passages: Passage, trace: Trace = SILENT) -> list[tuple[Passage, Verdict]]:
    return asyncio.run(reranker.rerank(QUESTION, passages, trace))


def test_every_passage_comes_back_once_most_relevant_first(reranker: Reranker) -> None:
    """QL-01: relevance is the reranker's P(relevant)."""
    ranked = rerank(reranker, WRONG, ODD, RIGHT)
    assert sorted(item.id for item, _ in ranked) == ["odd", "right", "wrong"]
    chances = [judged.p_relevant for _, judged in ranked]
    assert chances == sorted(chances, reverse=True)
    assert all(0 <= chance <= 1 for chance in chances)
    assert ranked[0][0] is RIGHT


def test_the_order_given_changes_nothing(reranker: Reranker) -> None:
    assert rerank(reranker, WRONG, RIGHT) == rerank(reranker, RIGHT, WRONG)


def test_every_verdict_is_reported(reranker: Reranker) -> None:
    """SC-10"""
    trace = Listening()
    ranked = rerank(reranker, WRONG, RIGHT, trace=trace)
    assert trace.verdicts == {item.id: judged for item, judged in ranked}


def test_nothing_gives_nothing(reranker: Reranker) -> None:
    assert rerank(reranker) == []


def test_equal_relevance_is_ordered_by_similarity_and_a_missing_verdict_comes_last() -> None:
    """QL-01"""
    verdicts: Mapping[PassageId, Verdict] = {WRONG.id: verdict(0.5), ODD.id: verdict(0.5)}
    given: Sequence[Passage] = (RIGHT, WRONG, ODD)
    assert [item.id for item in by_relevance(given, verdicts)] == ["odd", "wrong", "right"]
