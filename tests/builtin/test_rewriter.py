"""What is particular to the rewriter that needs no model: its strategies, their order, and that it never repeats."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.builtin.failure_analysis import asking_clauses, other_names, read
from engine.builtin.rewriter import BuiltinRewriter, failure_of, proposals, propose, tried_queries
from engine.builtin.terms import question_terms, terms
from engine.model.language import normalised_query
from engine.model.values import PassageId
from engine.roles import FailedPassage, RewriteRequest, TriedRewrite
from tests.support.listening import Listening

INSULIN = FailedPassage(
    PassageId("a"), "Rapid insulin starts within minutes. Keep a spare pen in the refrigerator.", 0.6, "no temperature"
)
TREES = FailedPassage(PassageId("b"), "A spanning tree reaches every vertex of a connected graph.", 0.4, "no cost")


def ask(question: str, *failed: FailedPassage, history: tuple[TriedRewrite, ...] = ()) -> RewriteRequest:
    return RewriteRequest(question, question, failed, history)


def strategies(request: RewriteRequest) -> list[str]:
    return [proposal.strategy for proposal in proposals(request)]


def after(request: RewriteRequest, *queries: str) -> RewriteRequest:
    history = tuple(TriedRewrite(request.question, query, "because") for query in queries)
    return replace(request, history=history)


def test_question_words_and_filler_go_and_key_terms_stay() -> None:
    request = ask("Please tell me, what is the name of the formula that Cayley found for trees?")
    keywords = next(item for item in proposals(request) if item.strategy == "keywords")
    assert keywords.query == "formula Cayley found trees"


def test_terms_of_the_sentence_nearest_to_the_question_are_added() -> None:
    """SC-06: related concepts."""
    far = "Sanger sequenced a protein in Cambridge."
    passage = replace(INSULIN, text=f"{far} An insulin pen is kept in a refrigerator.")
    near = read(ask("How is an insulin pen stored?", passage)).near
    assert near[0] == "refrigerator"
    assert near.index("refrigerator") < near.index("Cambridge")


def test_a_close_passage_outweighs_a_distant_one() -> None:
    close = FailedPassage(PassageId("a"), "An insulin needle.", 0.9, "")
    distant = FailedPassage(PassageId("b"), "An insulin abscess.", 0.1, "")
    near = read(ask("How is insulin stored?", distant, close)).near
    assert near == ("needle", "abscess")


def test_nothing_that_the_question_or_the_history_has_is_added_again() -> None:
    request = after(ask("How is insulin stored?", INSULIN), "insulin stored pen refrigerator")
    near = {term for form in read(request).near for term in terms(form)}
    assert near.isdisjoint(terms("insulin stored pen refrigerator"))


def test_a_compound_question_is_split_and_the_uncovered_part_comes_first() -> None:
    """SC-06: split compound questions."""
    request = ask("How fast does rapid insulin start, and which surgeon first isolated it?", INSULIN)
    split = [item for item in proposals(request) if item.strategy == "split"]
    assert propose(request) == split[0]
    assert "surgeon" in split[0].query
    assert "fast" not in split[0].query


@pytest.mark.parametrize(
    ("question", "clauses"),
    [
        ("What is a set, and who founded set theory?", 2),
        ("糖尿病有哪些症状？怎么治疗？", 2),
        ("得了糖尿病，将来会不会瞎？", 1),
        ("What is the difference between sets and relations?", 1),
        ("怀孕时查出糖尿病的人，产后什么时候复查，复查那天要喝多少克葡萄糖？", 2),
    ],
)
def test_a_clause_that_asks_nothing_stays_with_its_question(question: str, clauses: int) -> None:
    assert len(asking_clauses(question)) == clauses


def test_everyday_words_get_the_names_that_textbooks_use() -> None:
    """SC-06: synonyms."""
    request = ask("Can slimming make diabetes go away?")
    proposal = propose(request)
    assert proposal.strategy == "synonyms"
    assert "weight loss" in proposal.query
    assert other_names("血糖太高会有什么感觉") == (("血糖太高", ("高血糖",)), ("感觉", ("症状", "表现")))


def test_a_name_that_the_question_has_already_is_no_synonym() -> None:
    assert other_names("Is weight loss the same as slimming?") == ()


@pytest.mark.parametrize(
    ("request_", "failure", "first"),
    [
        (ask("Who proved Cayley's formula for trees?"), "nothing_kept", "broader"),
        (ask("胰岛素", FailedPassage(PassageId("a"), "胰岛素由胰腺分泌。", 0.5, "")), "too_wide", "qualify"),
        (ask("How much do insulin pens cost at Walmart?", INSULIN), "term_missing", "emphasise"),
        (ask("Does every connected graph have a spanning tree?", TREES), "near_miss", "feedback"),
    ],
    ids=["nothing kept", "too wide", "term missing", "near miss"],
)
def test_the_failure_decides_what_is_tried_first(request_: RewriteRequest, failure: str, first: str) -> None:
    """SC-06: qualifiers when too wide, more general terms when too narrow."""
    assert failure_of(read(request_)) == failure
    assert propose(request_).strategy == first


def test_missing_terms_come_first_and_the_subject_stays() -> None:
    request = ask("How much do insulin pens cost at Walmart?", INSULIN)
    emphasised = next(item for item in proposals(request) if item.strategy == "emphasise")
    assert emphasised.query.split()[0] in {"cost", "Walmart"}
    assert "insulin" in emphasised.query


def test_a_broader_query_has_fewer_terms_and_keeps_the_weightiest() -> None:
    request = ask("How many vertices did the minimum spanning tree of Moravia have in 1926?")
    reading = read(request)
    for proposal in proposals(request):
        if proposal.strategy == "broader":
            assert len(proposal.keywords) < len(reading.keys)
            assert reading.keys[reading.core] in proposal.keywords


def test_the_strategy_moves_on_with_the_history() -> None:
    request = ask("Does every connected graph have a spanning tree?", TREES)
    later = after(request, "some other query")
    assert strategies(request)[0] != strategies(later)[0]


def test_the_same_request_gives_the_same_proposal_and_no_threshold_is_needed() -> None:
    """SC-06: the request is all that a rewriter sees."""
    request = ask("How is insulin stored?", INSULIN, TREES)
    assert propose(request) == propose(replace(request))


def test_when_everything_has_been_tried_it_says_so() -> None:
    request = ask("???")
    proposal = propose(request)
    assert proposal.query == "???"
    assert "has been tried" in proposal.reason


def test_the_call_is_reported_as_built_in_with_the_request_as_json() -> None:
    """SC-10."""
    trace = Listening()
    request = ask("How is insulin stored?", INSULIN)
    proposal = asyncio.run(BuiltinRewriter().rewrite(request, trace))
    (call,) = trace.calls
    assert call.built_in
    assert json.loads(call.messages[0].content)["failed"][0]["text"] == INSULIN.text
    assert json.loads(call.reply)["query"] == proposal.query


ENGLISH = "insulin glucose tree graph vertex proof set what how why and the of 7 1926"
CHINESE = "糖尿病 胰岛素 症状 怎么 什么 和 图 集合 幂集 ， ？"
WORDS = st.sampled_from(f"{ENGLISH} {CHINESE}".split())
SENTENCES = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=60)
FAILED = st.builds(
    FailedPassage, id=st.uuids().map(str).map(PassageId), text=SENTENCES, similarity=st.floats(0, 1), reason=st.just("")
)


@settings(deadline=None)
@given(SENTENCES, st.lists(FAILED, max_size=4), st.lists(SENTENCES, max_size=4))
def test_no_proposal_repeats_the_history_while_there_is_another_idea(
    question: str, failed: list[FailedPassage], queries: list[str]
) -> None:
    """SC-06."""
    request = after(ask(question, *failed), *queries)
    for _ in range(6):
        proposal = propose(request)
        tried = {normalised_query(text) for text in tried_queries(request)}
        if normalised_query(proposal.query) in tried:
            assert all(normalised_query(item.query) in tried for item in proposals(request))
        done = TriedRewrite(request.current_query, proposal.query, proposal.reason)
        request = replace(request, current_query=proposal.query, history=(*request.history, done))


@settings(deadline=None)
@given(SENTENCES, st.lists(FAILED, max_size=4))
def test_every_proposal_keeps_a_key_term_of_the_question(question: str, failed: list[FailedPassage]) -> None:
    """SC-06: keeps the intent."""
    request = ask(question, *failed)
    forms = set(read(request).keys.values())
    for proposal in proposals(request):
        assert forms & set(proposal.keywords) or not forms
        assert proposal.query == " ".join(proposal.keywords)
    assert len(forms) <= len(question_terms(question))
