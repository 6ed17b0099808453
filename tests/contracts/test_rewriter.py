"""The contract of :class:`engine.roles.Rewriter`, for every implementation."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from engine.model.language import language_of, normalised_query
from engine.model.values import PassageId
from engine.roles import FailedPassage, RewriteProposal, Rewriter, RewriteRequest, TriedRewrite
from tests.contracts.implementations import REWRITERS
from tests.support.listening import Listening

NEAR_MISS_EN = FailedPassage(
    PassageId("p1"),
    "Rapid-acting insulin starts within 15 minutes. It is injected into the abdomen, where absorption is fastest.",
    0.5,
    "Does not name a storage temperature.",
)
NEAR_MISS_ZH = FailedPassage(PassageId("p1"), "胰岛素打在皮下脂肪里，腹部吸收最快。", 0.5, "没有讲保存温度。")

REQUESTS = {
    "english": RewriteRequest(
        "How should unopened insulin be stored?", "How should unopened insulin be stored?", (NEAR_MISS_EN,), ()
    ),
    "chinese": RewriteRequest("没开封的胰岛素应该怎样保存？", "没开封的胰岛素应该怎样保存？", (NEAR_MISS_ZH,), ()),
    "nothing kept": RewriteRequest("Who was Kruskal?", "Who was Kruskal?", (), ()),
    "one vague word": RewriteRequest("胰岛素", "胰岛素", (NEAR_MISS_ZH,), ()),
}


@pytest.fixture(params=REWRITERS)
def rewriter(request: pytest.FixtureRequest) -> Rewriter:
    return REWRITERS[request.param]()


@pytest.fixture(params=REQUESTS)
def asked(request: pytest.FixtureRequest) -> RewriteRequest:
    return REQUESTS[request.param]


def rewrite(rewriter: Rewriter, request: RewriteRequest) -> RewriteProposal:
    return asyncio.run(rewriter.rewrite(request))


def test_a_proposal_is_a_query_in_the_language_of_the_question(rewriter: Rewriter, asked: RewriteRequest) -> None:
    """SC-06."""
    proposal = rewrite(rewriter, asked)
    assert proposal.query.strip()
    assert proposal.reason.strip()
    assert proposal.keywords
    assert language_of(proposal.query) == language_of(asked.question)


def test_five_rewrites_in_a_row_are_all_different(rewriter: Rewriter, asked: RewriteRequest) -> None:
    """SC-06: works from the question plus history and proposes nothing listed there."""
    tried = {normalised_query(asked.question)}
    request = asked
    for _ in range(5 if len(asked.question) > 8 and asked.failed else 2):
        proposal = rewrite(rewriter, request)
        assert normalised_query(proposal.query) not in tried
        tried.add(normalised_query(proposal.query))
        done = TriedRewrite(request.current_query, proposal.query, proposal.reason)
        request = replace(request, current_query=proposal.query, history=(*request.history, done))


def test_a_refused_proposal_is_not_made_again(rewriter: Rewriter, asked: RewriteRequest) -> None:
    """SC-06: the one retry inside the node sees the refusal."""
    first = rewrite(rewriter, asked)
    refusal = TriedRewrite(asked.current_query, asked.question, "refused", refused=(first.query,))
    again = rewrite(rewriter, replace(asked, history=(refusal,)))
    assert normalised_query(again.query) != normalised_query(first.query)


def test_the_invocation_is_reported_as_sent_and_received(rewriter: Rewriter, asked: RewriteRequest) -> None:
    """SC-10."""
    trace = Listening()
    proposal = asyncio.run(rewriter.rewrite(asked, trace))
    call = trace.calls[-1]
    assert call.role == "rewriter"
    assert asked.question in "".join(message.content for message in call.messages)
    assert call.parsed is not None
    assert proposal.query in call.reply
    assert call.duration_ms > 0
