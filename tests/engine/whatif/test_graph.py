"""What the record of graph + vector retrieval tells of other settings, and where it has to say that it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from engine.builtin.generator import BuiltinGenerator
from engine.model.config import Mode, RoleModel, RoleModels, RunConfig
from engine.model.events import fold_all
from engine.model.values import ModeNote, PassageId, RunRecord
from engine.replay import WhatIf, what_if
from engine.replay.grid import paths
from engine.replay.settings import GAPS, STATES, SettingsGrid
from engine.replay.table import run_table
from engine.retrieval.graph_options import GraphOptions
from engine.retrieval.ordering import Found
from tests.components.graph_events import (
    FELL_BACK,
    GRAPH,
    LISTS,
    TABLE,
    FakeSearcher,
    GraphResources,
    events_of,
    graph_config,
    graph_run,
)
from tests.support.fakes import FakeGrader
from tests.support.loop_fakes import passage

CHAT = RoleModel("ollama:qwen3:8b")


@cache
def record(relevant: str = "g1 g2 v1 v2 v3", **settings: Any) -> RunRecord:
    return fold_all(graph_run(relevant, **settings))


def asked(run: RunRecord, *, options: dict[str, Any] | None = None, **changes: Any) -> WhatIf:
    assert isinstance(run.config.options, GraphOptions)
    return what_if(run, replace(run.config, options=replace(run.config.options, **(options or {})), **changes))


def ids(found: WhatIf) -> list[str]:
    return [item.passage.id for item in found.steps[0].round.candidates]


def test_the_own_settings_give_the_run_itself() -> None:
    """GH-01"""
    run = record()
    own = what_if(run, run.config)
    assert own.same_path and own.state == "known" and own.answer == run.answer
    assert own.decisions == run.decisions
    assert [step.round.candidates for step in own.steps] == [item.candidates for item in run.rounds]
    json.dumps(own.to_dict())


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        ("naive", ["v1", "v2", "v3", "v4"]),
        ("local", ["g1", "g2", "v1", "v2", "v3", "v4"]),
        ("global", ["g1", "v1", "v2", "v3", "v4"]),
    ],
)
def test_a_run_in_mix_has_searched_the_lists_of_every_mode(mode: Mode, found: list[str]) -> None:
    """GH-02"""
    other = asked(record(), mode=mode)
    assert ids(other) == found and other.path_known
    assert asked(record(mode=mode), mode="mix").gap == "retrieval"


def test_another_reach_of_the_graph_is_another_search_where_the_graph_is_searched() -> None:
    """GH-02"""
    for options in ({"hops": 1}, {"max_entities": 2}, {"max_communities": 1}):
        assert asked(record(), options=options).gap == "retrieval"
        assert asked(record(), options=options, mode="naive").path_known
    assert asked(record(), options={"hops": 1}, mode="global").path_known
    assert asked(record(), options={"max_communities": 1}, mode="local").path_known


def test_of_two_lists_of_the_graph_a_record_keeps_the_better_score() -> None:
    """GH-04: which of them it was, a threshold would have to know."""
    assert asked(record(), mode="local", options={"graph_threshold": 0.5}).gap == "retrieval"
    assert asked(record(), options={"graph_threshold": 0.65}).path_known


def test_a_mode_that_fell_back_tells_the_mode_that_it_fell_back_to() -> None:
    """GH-02"""
    run = fold_all(graph_run("v1 v2 v3", evidence=FELL_BACK, mode="local"))
    assert asked(run, mode="naive").path_known
    # Without a graph there are no entities to go farther from.
    assert asked(run, mode="naive", options={"hops": 1}).path_known
    assert asked(run, options={"hops": 1}).path_known
    assert asked(run, mode="global").gap == "retrieval"


def test_a_search_that_was_cut_off_tells_no_other_mode() -> None:
    """GH-02"""
    evidence = replace(GRAPH, notes=(ModeNote("graph_unreachable", "global"),))
    searcher = FakeSearcher(evidence, LISTS)
    run = fold_all(events_of(GraphResources(searcher=searcher), graph_config()))
    assert what_if(run, run.config).path_known
    assert asked(run, mode="naive").gap == "retrieval"


def test_scores_that_nobody_gave_leave_the_order_open() -> None:
    """GH-04"""
    run = record(options=GraphOptions(rerank_k=2))
    wider = asked(run, options={"rerank_k": 6})
    assert (wider.state, wider.gap) == ("needs_calls", "scores")
    # Two were scored, three more were judged among the kept: one of the six is unknown.
    assert len(wider.steps[-1].ungraded) == 1 and wider.calls_needed.next.built_in_calls == 1
    narrower = asked(run, options={"rerank_k": 1})
    assert narrower.path_known


def test_another_reranker_has_scored_nothing_and_costs_what_it_would_be_asked() -> None:
    """GH-04"""
    other = asked(record(), models=RoleModels(reranker=CHAT))
    assert other.gap == "scores" and other.calls_needed.next.calls == 1
    local = asked(record(), models=RoleModels(reranker=RoleModel("cross_encoder:owner/name")))
    assert local.gap == "scores" and (local.calls_needed.next.calls, local.calls_needed.next.built_in_calls) == (0, 1)
    # Where nothing is reranked it is not asked.
    assert asked(record(), models=RoleModels(reranker=CHAT), options={"rerank": "never"}).path_known


def test_a_grader_that_reranks_is_not_another_one_for_the_order_alone() -> None:
    """GH-04"""
    other = asked(record(), models=RoleModels(grader=CHAT))
    assert other.gap == "scores" and other.calls_needed.next.calls == 6


def test_without_scoring_again_what_nobody_judged_bounds_the_decision() -> None:
    """GH-04"""
    run = record(options=GraphOptions(rerank="never"), top_k=2)
    deeper = asked(run, top_k=4)
    assert deeper.steps[0].ungraded and deeper.steps[0].passed[0] < deeper.steps[0].passed[1]


def test_a_record_without_a_search_tells_nothing_of_one() -> None:
    """GH-01, GH-02"""
    run = record("", mode="bypass")
    own = what_if(run, run.config)
    assert own.state == "known" and own.answer == run.answer and own.outcome == run.outcome == "abstained"
    assert asked(run, mode="mix").gap == "unrecorded"
    searched = asked(record(), mode="bypass")
    assert (searched.state, searched.outcome, searched.decisions[0].reason) == ("generation", "abstained", "bypass")
    chat = RoleModels(generator=CHAT)
    assert asked(record(models=chat), mode="bypass").outcome == "answered_unverified"


def test_small_talk_is_answered_at_once_unless_the_settings_say_to_search() -> None:
    """GH-01"""
    run = record("", question="Hello!")
    assert what_if(run, run.config).state == "known"
    assert asked(run, options={"answer_directly": False}).gap == "unrecorded"
    searched = record("v1", question="Hello!", options=GraphOptions(answer_directly=False))
    assert asked(searched, options={"answer_directly": True}).decisions[0].reason == "simple"


def test_another_router_may_send_the_query_elsewhere() -> None:
    """GH-01"""
    assert asked(record(), models=RoleModels(router=CHAT)).gap == "routing"
    assert asked(record(), models=RoleModels(router=CHAT), mode="bypass").gap == "answer"


def test_the_recorded_answer_stands_only_where_all_that_was_given_is_the_same() -> None:
    """GH-06"""
    run = record()
    assert asked(run, options={"context_tokens": 4000}).state == "known"
    assert asked(run, options={"context_tokens": 100}).state == "generation"
    # Of passages of one sentence nothing is cut.
    assert asked(run, refine=True).state == "known"
    # The same passages, and no graph with them.
    assert asked(run, mode="naive", options={"rerank": "always"}).state == "generation"


def test_a_table_of_the_question_can_be_answered_from_where_nothing_passed() -> None:
    """GH-05"""
    grader = FakeGrader(relevant=frozenset())
    resources = GraphResources(grader=grader)
    run = fold_all(events_of(resources, graph_config(max_rewrites=0), attachments=(TABLE,)))
    own = what_if(run, run.config)
    assert own.path_known and own.outcome == run.outcome
    assert own.answer in ("", run.answer)


def test_tables_alone_are_no_search_and_only_their_own_run_tells_the_answer() -> None:
    """GH-01"""

    def real(config: RunConfig) -> RunRecord:
        resources = GraphResources(generator=BuiltinGenerator())
        return fold_all(events_of(resources, config, attachments=(TABLE,)))

    alone = graph_config(options=GraphOptions(tables_only=True))
    searched, from_table = real(graph_config()), real(alone)
    own = what_if(from_table, alone)
    assert (own.state, own.decisions, own.answer) == ("known", from_table.decisions, from_table.answer)
    assert own.outcome == from_table.outcome and not from_table.rounds
    replayed = what_if(searched, alone)
    assert (replayed.state, replayed.gap, replayed.outcome, replayed.reason) == (
        "generation",
        "answer",
        None,
        "tables_only",
    )
    assert replayed.decisions == from_table.decisions and replayed.path_known
    assert asked(from_table, options={"context_tokens": 300}).state == "generation"
    assert asked(from_table, options={"tables_only": False}).gap == "unrecorded"
    without = record()
    assert asked(without, options={"tables_only": True}).decisions == without.decisions
    columns = SettingsGrid.product(alone, {"top_k": [1, 3], "similarity_threshold": [0.0, 1.0]})
    tried = paths(run_table(searched), columns)
    assert {STATES[state] for state in tried.state} == {"generation"}


def test_a_deeper_list_is_another_search_and_a_list_that_was_exhausted_is_none() -> None:
    """GH-02"""
    assert asked(record(search="vector"), probe_k=40).path_known
    many = {**LISTS, "vector": tuple(Found(passage(f"v{at}", 0.8 - at / 50)) for at in range(1, 21))}
    resources = GraphResources(searcher=FakeSearcher(GRAPH, many))
    run = fold_all(events_of(resources, graph_config(max_rewrites=0)))
    assert asked(run, probe_k=40).gap == "retrieval"
    assert asked(run, probe_k=40, mode="local").gap == "retrieval"
    full = {**many, "local": tuple(Found(passage(f"g{at}"), 1 - at / 50, ("a",)) for at in range(1, 21))}
    local = fold_all(events_of(GraphResources(searcher=FakeSearcher(GRAPH, full)), graph_config(max_rewrites=0)))
    assert ids(asked(local, mode="local")) == [f"g{at}" for at in range(1, 21)]


def test_entities_of_the_nearest_passages_are_none_where_no_vectors_are_searched() -> None:
    """GH-02: a mode that found no entity falls back to vectors, which the record has."""
    linked = replace(GRAPH, entities=tuple(replace(item, linked_by="passage") for item in GRAPH.entities))
    run = fold_all(events_of(GraphResources(searcher=FakeSearcher(linked, LISTS)), graph_config()))
    local = asked(run, mode="local")
    assert ids(local) == ["v1", "v2", "v3", "v4"]
    assert local.steps[0].round.graph is not None and local.steps[0].round.graph.fell_back_to == ("vector",)


def test_the_columns_of_a_grid_say_what_the_what_if_says() -> None:
    """GH-04"""
    run = record()
    table = run_table(run)
    grid = SettingsGrid.product(run.config, {"top_k": [1, 3, 8], "similarity_threshold": [0.0, 0.5, 1.0]})
    tried = paths(table, grid)
    for place in range(len(grid)):
        alone = what_if(run, grid.config(place))
        assert STATES[tried.state[place]] == alone.state
        assert (None if tried.gap[place] < 0 else GAPS[tried.gap[place]]) == alone.gap
        assert set(tried.context_ids(place)) == {PassageId(item.id) for item in alone.passages}
