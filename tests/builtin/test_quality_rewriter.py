"""What the built-in rewriter of the quality-control loop answers to each issue: QL-04."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.builtin.quality_rewriter import BuiltinQualityRewriter, propose, strategy_of
from engine.builtin.query_intents import intents_in, without_intents
from engine.model.language import language_of, normalised_query
from engine.model.values import PassageId
from engine.roles import NearPassage, RewriteIssue, RewriteProposal, RewriteRequest, TriedRewrite

NEAR_ZH = NearPassage(PassageId("p1"), "图论研究顶点和边。图论里的连通图任意两个顶点之间都有路径，树没有回路。", 0.28)
NEAR_EN = NearPassage(PassageId("p1"), "Graphs have vertices and edges. Graphs without cycles are trees.", 0.28)
ALL = ("low_coverage", "low_relevance", "single_source", "too_few")


def request(question: str, *codes: str) -> RewriteRequest:
    near = NEAR_ZH if language_of(question) == "zh" else NEAR_EN
    issues = tuple(RewriteIssue(code, "…") for code in codes)
    return RewriteRequest(question, question, (), (), issues, (near,))


def after(asked: RewriteRequest, proposal: RewriteProposal) -> RewriteRequest:
    tried = TriedRewrite(asked.current_query, proposal.query, proposal.reason)
    return replace(asked, current_query=proposal.query, history=(*asked.history, tried))


@pytest.mark.parametrize(
    ("code", "wishes"),
    [
        ("low_coverage", ("history",)),
        ("single_source", ("several",)),
        ("too_few", ("wider",)),
        ("no_passages", ("history", "several", "wider")),
    ],
)
@pytest.mark.parametrize("question", ["图论", "graphs"])
def test_each_issue_is_answered_by_its_wish(question: str, code: str, wishes: tuple[str, ...]) -> None:
    """QL-04"""
    proposal = propose(request(question, code))
    assert intents_in(proposal.query) == wishes
    assert language_of(proposal.query) == language_of(question)


@pytest.mark.parametrize(("question", "word"), [("图论", "顶点"), ("graphs", "edges")])
def test_low_relevance_is_answered_by_words_of_the_collection(question: str, word: str) -> None:
    """QL-04: sharper keywords."""
    proposal = propose(request(question, "low_relevance"))
    assert proposal.query.startswith(question)
    assert word in proposal.query
    assert intents_in(proposal.query) == ()
    assert proposal.strategy == "sharper"
    assert word in proposal.reason


def test_words_that_were_good_enough_are_searched_again() -> None:
    """QL-04"""
    proposal = propose(request("图论", "low_coverage", "too_few"))
    assert without_intents(proposal.query, "图论") == "图论"
    assert proposal.strategy == "history+wider"


def test_wishes_and_words_of_the_rewrite_before_stay() -> None:
    """QL-04: works from the question plus history; a wish that is dropped would bring its issue back."""
    asked = request("图论", *ALL)
    first = propose(asked)
    second = propose(replace(after(asked, first), issues=(RewriteIssue("low_relevance", "…"),)))
    assert intents_in(second.query) == ("history", "several", "wider")
    assert set(first.keywords) <= set(without_intents(second.query, "图论").split()) | {"图论"}
    assert normalised_query(second.query) != normalised_query(first.query)


def test_a_question_that_says_more_than_a_subject_is_not_guessed_at() -> None:
    """QL-04"""
    question = "Why does a tree with ten vertices have nine edges and not ten?"
    proposal = propose(request(question, "low_relevance"))
    assert "Graphs" not in proposal.query and "cycles" not in proposal.query


def test_a_wish_of_the_question_itself_is_no_strategy_of_a_rewrite() -> None:
    """QL-04"""
    question = "What are my weak points in graphs?"
    assert strategy_of("graphs weak points edges (search several sources)", request(question)) == "several+sharper"


def test_ten_rewrites_in_a_row_never_repeat_one() -> None:
    """QL-04, SC-06"""
    asked, tried = request("图论", *ALL), set[str]()
    for _ in range(5):
        proposal = propose(asked)
        assert normalised_query(proposal.query) not in tried
        tried.add(normalised_query(proposal.query))
        asked = after(asked, proposal)


@given(
    st.text(min_size=1, max_size=40).filter(lambda text: any(char.isalnum() for char in text)),
    st.sets(st.sampled_from([*ALL, "no_passages", "unknown"])),
)
def test_any_question_gets_the_same_usable_query_every_time(question: str, codes: set[str]) -> None:
    """QL-04"""
    asked = request(question, *sorted(codes))
    proposal = asyncio.run(BuiltinQualityRewriter().rewrite(asked))
    assert proposal.query.strip() and proposal.reason
    assert proposal == propose(asked)
