"""The contract of :class:`engine.roles.Reranker`, for every implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from engine.builtin.rerank import GraderReranker, by_relevance
from engine.llm.reranker import ChatReranker
from engine.model.values import Passage, PassageId, Verdict
from engine.roles import SILENT, Reranker, Trace
from tests.contracts.chat_models import ollama
from tests.contracts.scoring_models import server_reranker, tiny_reranker
from tests.contracts.test_grader import GRADERS
from tests.support.listening import Listening
from tests.support.loop_fakes import verdict
from tests.support.rerank_stand_in import KINDS

QUESTION = "Where is rapid-acting insulin injected, and why there?"
RIGHT = Passage(
    PassageId("right"), "a.md", "Rapid-acting insulin is injected into the abdomen: absorption is fastest.", 0.6, 0.9
)
WRONG = Passage(PassageId("wrong"), "b.md", "A tree with n vertices has exactly n − 1 edges.", 0.05, 0.7)
ODD = Passage(PassageId("odd"), "c.md", "}{][ \x00", 0.05, 0.7)


GRADING: Mapping[str, Callable[[], Reranker]] = {
    f"grader: {name}": lambda make=make: GraderReranker(make())  # type: ignore[misc]
    for name, make in GRADERS.items()
}
SCORING: Mapping[str, Callable[[], Reranker]] = {
    "cross encoder": tiny_reranker,
    "ollama": ollama(ChatReranker),
    **{f"rerank server: {kind}": lambda kind=kind: server_reranker(kind) for kind in KINDS},  # type: ignore[misc]
}
"""Whose scores are no verdicts of the run's grader."""
RERANKERS = {**GRADING, **SCORING, "ollama: one word": ollama(ChatReranker, weighs=True)}


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


@pytest.mark.parametrize("name", GRADING)
def test_every_verdict_is_reported(name: str) -> None:
    """SC-10"""
    trace = Listening()
    ranked = rerank(GRADING[name](), WRONG, RIGHT, trace=trace)
    assert trace.verdicts == {item.id: judged for item, judged in ranked}


@pytest.mark.parametrize("name", SCORING)
def test_a_score_is_no_verdict_and_its_call_is_reported(name: str) -> None:
    """GH-04, SC-10: nothing but the run's grader may say what is relevant."""
    trace = Listening()
    ranked = rerank(SCORING[name](), WRONG, RIGHT, trace=trace)
    assert trace.verdicts == {}
    assert [(call.role, call.error) for call in trace.calls] == [("reranker", "")]
    assert QUESTION in "".join(message.content for message in trace.calls[0].messages)
    scores = {passage.id: judged.p_relevant for passage, judged in ranked}
    assert scores[RIGHT.id] > 0.5 > scores[WRONG.id]


def test_one_word_on_each_passage_is_no_verdict_either() -> None:
    """BE-03, GH-04"""
    trace = Listening()
    ranked = rerank(RERANKERS["ollama: one word"](), WRONG, RIGHT, trace=trace)
    assert trace.verdicts == {}
    assert [(call.role, call.error, call.reply) for call in trace.calls] == [
        ("reranker", "", "No"),
        ("reranker", "", "Yes"),
    ]
    assert [(passage, judged.kind) for passage, judged in ranked] == [(RIGHT, "token"), (WRONG, "token")]
    assert ranked[0][1].p_relevant > 0.9 and ranked[1][1].p_relevant < 0.1


@pytest.mark.parametrize("name", SCORING)
def test_many_passages_come_back_whatever_the_batches_they_are_scored_in(name: str) -> None:
    """GH-04"""
    many = [replace(WRONG, id=PassageId(f"w{place}")) for place in range(23)]
    ranked = rerank(SCORING[name](), *many, RIGHT)
    assert len({item.id for item, _ in ranked}) == 24 and ranked[0][0] is RIGHT


def test_nothing_gives_nothing(reranker: Reranker) -> None:
    assert rerank(reranker) == []


def test_equal_relevance_is_ordered_by_similarity_and_a_missing_verdict_comes_last() -> None:
    """QL-01"""
    verdicts: Mapping[PassageId, Verdict] = {WRONG.id: verdict(0.5), ODD.id: verdict(0.5)}
    given: Sequence[Passage] = (RIGHT, WRONG, ODD)
    assert [item.id for item in by_relevance(given, verdicts)] == ["odd", "wrong", "right"]
