"""Scores of the graph, and where a query goes: GH-01, GH-02."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import Mode, RoleModel, RoleModels, RunConfig
from engine.model.values import (
    LISTS_OF_MODE,
    Community,
    Context,
    Decision,
    FoundCommunity,
    PassageId,
    QueryAnalysis,
    Relationship,
    RunId,
    RunRecord,
    lists_of_mode,
)
from engine.retrieval.graph_options import GraphOptions
from engine.retrieval.graph_scores import DECAY, GraphPassage, graph_score, lead_to, most_important, passages_of, spread
from engine.workflows.graph_hybrid.policy import decide_route, outcome_of, outcome_searched, unless_a_table_answers

NAMES = "abcdef"
ids = st.sampled_from(NAMES)
passages = st.lists(st.sampled_from([PassageId(f"p{place}") for place in range(5)]), max_size=3).map(tuple)
relationships = st.lists(
    st.builds(Relationship, ids, ids, st.just("R"), st.just(""), passages, st.floats(0.01, 50)),
    max_size=8,
    unique_by=lambda item: item.id,
)
shares = st.floats(0, 1)


def config(mode: Mode = "mix", **options: Any) -> RunConfig:
    return RunConfig(workflow="graph_hybrid", mode=mode, options=GraphOptions(**options))


def hops_from(seeds: dict[str, float], edges: list[Relationship]) -> dict[str, int]:
    hops = dict.fromkeys(seeds, 0)
    for distance in range(1, 4):
        for edge in edges:
            for near, far in ((edge.source, edge.target), (edge.target, edge.source)):
                if hops.get(near) == distance - 1:
                    hops.setdefault(far, distance)
    return hops


@given(st.dictionaries(ids, shares, min_size=1, max_size=3), relationships)
def test_scores_lie_between_0_and_1_and_only_what_can_be_reached_has_one(
    seeds: dict[str, float], edges: list[Relationship]
) -> None:
    """GH-02, GH-08"""
    hops = hops_from(seeds, edges)
    scores = spread(seeds, hops, edges)
    assert set(scores) == set(hops)
    assert all(0 <= value <= 1 for value in scores.values())
    assert all(scores[name] == value for name, value in seeds.items())
    assert scores == pytest.approx(spread(seeds, hops, list(reversed(edges))), abs=1e-5)


def test_each_step_away_counts_for_less_and_two_ways_for_more_than_one() -> None:
    """GH-02"""
    chain = [Relationship("a", "b", "R"), Relationship("b", "c", "R")]
    scores = spread({"a": 1.0}, {"a": 0, "b": 1, "c": 2}, chain)
    assert scores == {"a": 1.0, "b": DECAY, "c": pytest.approx(DECAY**2)}
    fork = [Relationship("a", "c", "R"), Relationship("b", "c", "R")]
    assert spread({"a": 1.0, "b": 1.0}, {"a": 0, "b": 0, "c": 1}, fork)["c"] > DECAY


def test_a_light_relationship_lets_less_through_than_a_heavy_one() -> None:
    """GH-02"""
    edges = [Relationship("a", "b", "R", weight=4.0), Relationship("a", "c", "R", weight=1.0)]
    scores = spread({"a": 1.0}, {"a": 0, "b": 1, "c": 1}, edges)
    assert scores["b"] > scores["c"] > 0


@given(st.dictionaries(ids, shares, max_size=4), st.dictionaries(ids, passages, max_size=4), relationships)
def test_passages_are_led_to_in_order_of_weight_and_say_by_what(
    scores: dict[str, float], mentioned: dict[str, tuple[PassageId, ...]], edges: list[Relationship]
) -> None:
    """GH-02"""
    led = lead_to(scores, mentioned, edges)
    assert [item.weight for item in led] == sorted((item.weight for item in led), reverse=True)
    named = {name for names in mentioned.values() for name in names} | {
        name for edge in edges for name in edge.passages
    }
    assert {item.id for item in led} == named
    known = set(mentioned) | {edge.id for edge in edges}
    assert all(0 <= item.weight <= 1 and set(item.via) <= known and item.via for item in led)


def test_a_passage_that_tells_the_relationship_comes_before_one_that_only_speaks_of_the_entity() -> None:
    """GH-02"""
    edge = Relationship("a", "b", "R", passages=(PassageId("telling"),))
    led = lead_to({"a": 1.0, "b": DECAY}, {"a": (PassageId("spoken"), PassageId("telling"))}, [edge])
    assert [item.id for item in led] == ["telling", "spoken"]
    assert led[0].via == (edge.id, "a")


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_a_graph_score_is_never_outside_0_and_1_and_grows_with_both(weight: float, similarity: float) -> None:
    """GH-08"""
    score = graph_score(weight, similarity)
    assert 0 <= score <= 1
    assert graph_score(weight, similarity + 0.1) >= score
    assert graph_score(weight + 0.1, similarity) >= score
    assert graph_score(0.5, 0.9) > graph_score(0.5, 0.1) and graph_score(0.9, 0.5) > graph_score(0.1, 0.5)


def test_the_most_telling_passages_of_the_nearest_communities_come_first() -> None:
    """GH-02"""
    near = Community("c1", "", "", (), (PassageId("a"), PassageId("b")))
    far = Community("c2", "", "", (), (PassageId("c"),))
    led = passages_of([FoundCommunity(near, 0.8), FoundCommunity(far, 0.3)])
    assert [item.id for item in led] == ["a", "b", "c"]
    assert led[0] == GraphPassage(PassageId("a"), 0.8, ("c1",))


def test_relationships_are_as_important_as_their_ends() -> None:
    """GH-06"""
    edges = [Relationship("a", "b", "R"), Relationship("b", "c", "R", weight=9.0), Relationship("a", "c", "S")]
    ordered = most_important(edges, {"a": 1.0, "b": 0.6, "c": 0.4}, 2)
    assert [item.id for item in ordered] == ["a|R|b", "a|S|c"]


@pytest.mark.parametrize("mode", get_args(Mode))
def test_every_mode_but_bypass_is_searched_and_takes_attachments_along(mode: Mode) -> None:
    """GH-02, GH-05"""
    decision = decide_route(QueryAnalysis("single"), config(mode))
    assert (decision.route, decision.reason) == (
        ("generate_answer", "bypass") if mode == "bypass" else ("retrieve", "needs_search")
    )
    assert lists_of_mode(mode) == LISTS_OF_MODE[mode]
    assert ("attachment" in lists_of_mode(mode, attached=True)) == (mode != "bypass")


def test_a_simple_query_is_answered_directly_where_the_setting_allows_and_nothing_came_with_it() -> None:
    """GH-01"""
    simple = QueryAnalysis("simple", direct=True)
    assert decide_route(simple, config()).reason == "simple"
    assert decide_route(simple, config(answer_directly=False)).reason == "needs_search"
    assert decide_route(simple, config(), attached=True).reason == "needs_search"
    suggested = replace(simple, direct=False, suggested_mode="bypass")
    assert decide_route(suggested, config(mode_from="analysis")).reason == "bypass"


@pytest.mark.parametrize(
    ("question", "model", "outcome"),
    [
        ("What is a tree?", "builtin", "abstained"),
        ("What is a tree?", "ollama:m", "answered_unverified"),
        ("Hello", "builtin", "answered"),
    ],
)
def test_what_was_said_without_a_search_is_no_verified_answer(question: str, model: str, outcome: str) -> None:
    """GH-02"""
    chosen = replace(config("bypass"), models=RoleModels(generator=RoleModel(model)))
    decision = decide_route(QueryAnalysis("single"), chosen)
    record = RunRecord(RunId("r"), question, chosen, "now", decisions=(decision,))
    assert outcome_of(record) == outcome


@pytest.mark.parametrize(("reason", "outcome"), [("passed", "answered"), ("max_rewrites", "answered_forced")])
def test_an_answer_from_a_table_of_the_question_is_no_abstention(reason: Any, outcome: str) -> None:
    """GH-05"""
    decision = Decision(0, "generate_answer", reason, (), 0, 0)
    assert outcome_searched(decision, Context((), tables=(1,)), quoted=True) == outcome
    assert outcome_searched(decision, Context((), tables=(1,)), quoted=False) == "abstained"


def test_a_table_that_covers_the_question_is_answered_from_at_once_unless_the_gate_is_met_anyway() -> None:
    """GH-05"""
    below = Decision(0, "refine_query", "below_gate", (), 1, 5, node="grade_documents")
    at_once = unless_a_table_answers(below, 0.5)
    assert (at_once.route, at_once.reason, at_once.passed) == ("generate_answer", "table_answers", 1)
    assert at_once.inequality == "share of the question that a table covers 0.50 >= 0.50"
    assert unless_a_table_answers(below, 0.49) == below
    for reason in ("passed", "grader_failed"):
        assert unless_a_table_answers(replace(below, reason=reason), 1.0).reason == reason
