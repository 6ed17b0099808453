"""The quality-control loop with hand-written roles: QL-02 to QL-05, and faults in every node (SC-13)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.builtin.source_router import LEAST_SHARE
from engine.errors import UnreadableReply
from engine.flow import compiled, workflow
from engine.flow.graph import graph_of
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.events import Fused, Reranked, Routed, RunFinished, Warned, fold_all
from engine.model.values import SOURCE_KINDS, Routing
from engine.workflows.quality_loop.build_roles import warned_of_bar
from engine.workflows.quality_loop.policy import deadline_s
from engine.workflows.quality_loop.workflow import QualityState
from tests.support.fakes import FakeGrader, FakeRewriter, path
from tests.support.loop_fakes import (
    HANG,
    FakeKinds,
    LoopResources,
    ScriptedReranker,
    ScriptedRewriter,
    ScriptedRouter,
    a_list,
    events_of,
    finished,
)
from tests.workflows.quality_runs import GONE, ONE_LOOP, config, good, knowledge_base


def test_the_compiled_graph_is_the_flow_of_the_specification() -> None:
    """QL-03"""
    graph = graph_of(compiled("quality_loop"))
    assert graph.nodes == (*ONE_LOOP, "rewrite", "generate")
    assert {(edge.source, edge.target) for edge in graph.edges} == {
        ("__start__", "question_router"),
        ("question_router", "retrieve"),
        ("retrieve", "fuse"),
        ("fuse", "rerank"),
        ("rerank", "grade_documents"),
        ("grade_documents", "rewrite"),
        ("grade_documents", "generate"),
        ("grade_documents", "__end__"),
        ("rewrite", "question_router"),
        ("generate", "__end__"),
    }


def test_the_first_round_searches_every_kind_there_is_and_good_passages_end_the_loop() -> None:
    """QL-03, QL-08: a plain question is not kept in one kind of source, whose ceiling is below the bar."""
    resources = good()
    record = finished(resources, question="离散数学")
    assert path(record) == [*ONE_LOOP, "generate"]
    (only,) = record.rounds
    assert only.routing is not None and only.quality is not None
    assert dict(only.routing.shares) == pytest.approx({"vector": 0.6, "graph": 0.2, "temporal": 0.2})
    assert only.quality.grade == "medium"
    assert (record.outcome, record.reason, record.warnings) == ("answered", "quality_met", ())


@pytest.mark.parametrize("shares", [{"vector": 1.0}, {"vector": 0.98, "temporal": 0.02}, {"graph": 0.5, "vector": 0.5}])
def test_no_router_can_leave_a_kind_out_of_the_first_round(shares: Any) -> None:
    """QL-03: it sets the shares; a later round may leave kinds out."""
    resources = LoopResources(
        router=ScriptedRouter([Routing("first", shares), Routing("second", {"vector": 1.0})]),
        reranker=ScriptedReranker(),
        rewriter=ScriptedRewriter(["second"]),
    )
    first, second = finished(resources, config(max_rewrites=1)).rounds
    assert first.routing is not None and second.routing is not None
    assert {kind for query, kind in resources.kinds.searched if query == "first"} == {"vector", "graph", "temporal"}
    assert sum(first.routing.shares.values()) == pytest.approx(1.0)
    assert all(share >= LEAST_SHARE - 1e-9 for share in first.routing.shares.values())
    assert dict(second.routing.shares) == {"vector": 1.0}


def test_a_poor_round_asks_for_more_of_the_history_and_is_answered() -> None:
    """QL-03, QL-04, QL-05"""
    resources = good(0.55)
    record = finished(resources, question="离散数学")
    assert path(record) == [*ONE_LOOP, "rewrite", *ONE_LOOP, "generate"]
    first, second = record.rounds
    assert first.routing is not None and second.routing is not None
    assert (first.routing.shares["temporal"], second.routing.shares["temporal"]) == (0.2, 0.5)
    assert second.routing.query == "离散数学 text"
    assert first.quality is not None and second.quality is not None
    assert (first.quality.grade, second.quality.grade) == ("low", "medium")
    assert [item.reason for item in record.decisions] == ["low_quality", "quality_met"]


def test_the_history_is_searched_for_weak_points_and_the_rest_for_the_subject() -> None:
    """QL-03"""
    resources = good(0.55)
    finished(resources, question="图论")
    assert resources.kinds.searched == [
        ("图论", "vector"),
        ("图论", "graph"),
        ("图论", "temporal"),
        ("图论 text", "vector"),
        ("图论 text", "graph"),
        ("图论 text的薄弱点", "temporal"),
    ]


@pytest.mark.parametrize(
    ("kinds", "settings", "codes"),
    [
        (("vector", "graph", "temporal"), {}, []),
        # 0.3 + 0.2 / 3 + 0.05: the knowledge base alone can never be good enough.
        (("vector",), {}, ["WB602"]),
        (("vector", "graph", "temporal"), {"top_k": 2}, ["WB603"]),
        (("vector", "graph", "temporal"), {"top_k": 2, "max_rewrites": 0}, ["WB602"]),
        (("vector",), {"grade_on": "top3"}, []),
    ],
)
def test_a_bar_that_cannot_be_reached_is_warned_of_before_anything_is_searched(
    kinds: tuple[Any, ...], settings: dict[str, Any], codes: list[str]
) -> None:
    """QL-08: of the routing that really follows, and by the same words beforehand."""
    resources = LoopResources(kinds=FakeKinds({kind: a_list(kind) for kind in kinds}), reranker=ScriptedReranker())
    events = events_of(resources, config(**settings))
    seen = [event.kind for event in events]
    warned = [event.warning.code for event in events if isinstance(event, Warned)]
    assert warned == codes
    if codes:
        assert seen.index("warned") < seen.index("retrieved")

    class Known:
        async def source_kinds(self, chosen: RunConfig, question: str = "") -> tuple[Any, ...]:
            return kinds

    before = asyncio.run(warned_of_bar("first", config(**settings), Known()))
    warnings = [event.warning.fact for event in events if isinstance(event, Warned)]
    assert [item.fact for item in before] == warnings


def test_what_each_step_found_is_an_event_and_ends_up_in_the_round() -> None:
    """QL-03"""
    events = events_of(good(), config(max_rewrites=0))
    record = fold_all(events)
    kinds = [event.kind for event in events if event.kind in ("routed", "retrieved", "fused", "reranked", "decided")]
    assert kinds == ["routed", "retrieved", "fused", "reranked", "decided"]
    (routed,) = (event for event in events if isinstance(event, Routed))
    (fused,) = (event for event in events if isinstance(event, Fused))
    (reranked,) = (event for event in events if isinstance(event, Reranked))
    (only,) = record.rounds
    assert only.routing == routed.routing
    assert only.candidates == fused.candidates
    assert only.reranked == reranked.order
    assert len(only.kept) == 10


def test_the_state_has_the_names_of_the_schema() -> None:
    """QL-05"""
    names = {"fused_results", "quality_grade", "quality_score", "quality_issues", "retry_count", "original_queries"}
    assert names <= set(QualityState.__annotations__)
    assert names <= set(workflow("quality_loop").initial_state("q"))


def test_at_the_limit_it_answers_all_the_same_and_says_that_the_quality_is_low() -> None:
    """QL-05: generate, and mark the answer as resting on low quality."""
    reranker = ScriptedReranker(relevance={"v1": 0.9}, otherwise=0.1)
    router = ScriptedRouter([Routing("q", {"vector": 1.0})])
    record = finished(LoopResources(router=router, reranker=reranker))
    assert len(record.rewrites) == 2
    assert (record.outcome, record.reason) == ("answered_forced", "max_rewrites")
    assert [item.code for item in record.warnings] == ["WB601"]
    assert record.warnings[0].params == {"score": "0.17", "bar": "0.50"}


def test_where_nothing_passed_it_abstains_without_a_warning_about_an_answer() -> None:
    """QL-05"""
    record = finished(LoopResources(reranker=ScriptedReranker()), config(max_rewrites=1))
    assert (record.outcome, record.reason, record.warnings) == ("abstained", "max_rewrites", ())
    assert record.answer


def test_a_rewrite_gets_the_issues_and_what_came_near() -> None:
    """QL-04"""
    rewriter = FakeRewriter()
    finished(
        LoopResources(kinds=knowledge_base(), reranker=ScriptedReranker(otherwise=0.2), rewriter=rewriter),
        config(max_rewrites=1),
    )
    (request,) = rewriter.requests
    assert [item.code for item in request.issues] == ["low_coverage", "low_relevance", "single_source"]
    assert [item.id for item in request.nearest] == ["v1", "v2", "v3", "v4", "v5"]


@pytest.mark.parametrize(
    ("rewritten", "wide", "shares"),
    [
        ("first (include the history of my weak points)", False, (0.375, 0.125, 0.5)),
        ("first, using several sources", False, (0.5, 0.25, 0.25)),
        ("first with a wider scope", True, (0.6, 0.2, 0.2)),
        ("in other words", False, (0.6, 0.2, 0.2)),
    ],
)
def test_a_rewrite_changes_what_the_router_does(rewritten: str, wide: bool, shares: tuple[float, ...]) -> None:
    """QL-03"""
    rewriter = ScriptedRewriter([rewritten])
    record = finished(LoopResources(reranker=ScriptedReranker(), rewriter=rewriter), config(max_rewrites=1))
    routing = record.rounds[1].routing
    assert routing is not None
    assert routing.wide is wide
    assert dict(routing.shares) == pytest.approx(dict(zip(SOURCE_KINDS, shares, strict=True)))


def test_the_reranker_judges_against_the_question_as_asked_and_never_twice() -> None:
    """QL-03"""
    reranker = ScriptedReranker(otherwise=0.4)
    router = ScriptedRouter([Routing("q", {"vector": 1.0})])
    record = finished(LoopResources(kinds=knowledge_base(), router=router, reranker=reranker))
    assert reranker.asked == [("first", [f"v{place}" for place in range(1, 11)])]
    assert record.rounds[2].reused == record.rounds[0].reranked


def test_grading_the_whole_probe_judges_every_candidate() -> None:
    reranker = ScriptedReranker(otherwise=0.4)
    finished(LoopResources(kinds=knowledge_base(), reranker=reranker), config(max_rewrites=0, grade_probe=True))
    assert len(reranker.asked[0][1]) == 12


def test_a_repeated_rewrite_counts_and_nothing_is_routed_or_searched_again() -> None:
    """QL-05"""
    router = ScriptedRouter([Routing("q", {"vector": 0.5, "graph": 0.5})])
    resources = LoopResources(router=router, reranker=ScriptedReranker(), rewriter=ScriptedRewriter(["FIRST!"]))
    record = finished(resources)
    assert record.decisions[-1].reason == "repeated_rewrite"
    assert len(router.requests) == 1
    assert [item.searched for item in record.rounds] == [True, False]
    assert record.rounds[1].candidates == record.rounds[0].candidates
    assert record.rounds[1].quality == record.rounds[0].quality


def test_a_blank_rewrite_is_never_searched() -> None:
    """QL-04"""
    record = finished(LoopResources(reranker=ScriptedReranker(), rewriter=ScriptedRewriter(["  ", "？！"])))
    assert record.rewrites[0].repeated
    assert record.query == "first"


def test_only_unreadable_verdicts_end_the_run_as_failed() -> None:
    """QL-05"""
    record = finished(LoopResources(reranker=ScriptedReranker(otherwise=-1)))
    assert (record.outcome, record.reason) == ("failed", "grader_failed")
    assert path(record) == ONE_LOOP


def test_an_empty_collection_is_said_and_not_rewritten() -> None:
    """QL-05"""
    record = finished(LoopResources(kinds=FakeKinds({})))
    assert (record.outcome, record.reason) == ("abstained", "no_passages")


def test_a_grader_as_reranker_reports_every_verdict() -> None:
    grader = FakeGrader(relevant=frozenset({"v3"}))
    record = finished(LoopResources(grader=grader), config(max_rewrites=0))
    assert len(record.rounds[0].verdicts) == 10
    assert record.rounds[0].reranked[0] == "v3"
    assert [item.model_calls for item in record.nodes if item.node == "rerank"] == [10]


# Limits (SC-13).


def test_the_longest_run_is_counted_before_it_begins() -> None:
    """SC-13"""
    module = workflow("quality_loop")
    assert module.worst_case_calls(config()) == 0
    chat = RoleModel("ollama:x")
    models = RoleModels(grader=chat, rewriter=chat, generator=chat, router=chat)
    # Three routings, three times ten judgements, two rewrites with their retry, one answer.
    assert module.worst_case_calls(config(models=models)) == 3 + 30 + 4 + 1
    assert module.worst_case_calls(config(models=models, grade_probe=True)) == 3 + 3 * 60 + 4 + 1
    assert module.recursion_limit(config()) == 20


SAID = st.sampled_from([GONE, UnreadableReply(model="x"), RuntimeError("secret"), None])
ROUTINGS = st.sampled_from(
    [
        Routing("q", {"vector": 1.0}),
        Routing("q", {"graph": 0.5, "temporal": 0.5}, wide=True),
        Routing("", {}),
        Routing("q", {"vector": float("nan")}),
        GONE,
        RuntimeError("secret"),
    ]
)
QUERIES = st.sampled_from(["first", "second", "third", "", "search several sources", "fourth", GONE, RuntimeError("x")])


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(
    st.lists(ROUTINGS, min_size=1, max_size=6),
    st.lists(QUERIES, min_size=1, max_size=6),
    st.lists(SAID, max_size=6),
    st.sampled_from([-1.0, 0.0, 0.4, 0.9]),
    st.integers(0, 5),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
def test_whatever_the_roles_do_a_run_has_one_outcome_within_its_limits(
    routings: Sequence[Any],
    queries: Sequence[Any],
    reranked: Sequence[Any],
    relevance: float,
    budget: int,
    bar: float,
    probe: bool,
) -> None:
    """QL-05, SC-13: never more rewrites than the limit, never more steps than the engine's own, never no outcome."""
    chosen = config(max_rewrites=budget, medium_score=bar, high_score=1.0, grade_probe=probe)
    resources = LoopResources(
        router=ScriptedRouter(routings),
        rewriter=ScriptedRewriter(queries),
        reranker=ScriptedReranker(otherwise=relevance, script=reranked),
    )
    events = events_of(resources, chosen)
    record = fold_all(events)
    assert record.outcome is not None and record.reason
    assert len(record.rewrites) <= budget
    assert len(record.nodes) < workflow("quality_loop").recursion_limit(chosen)
    assert len(record.decisions) <= len(record.rounds) <= budget + 1
    assert [event for event in events if isinstance(event, RunFinished)] == events[-1:]
    assert all(item.duration_ms is not None for item in record.nodes)
    assert "secret" not in f"{record.error}{record.warnings}"


def test_roles_that_hang_together_never_outlast_the_budget() -> None:
    """QL-05, SC-13"""
    resources = LoopResources(
        router=ScriptedRouter([HANG]),
        kinds=FakeKinds(hanging=frozenset(SOURCE_KINDS)),
        reranker=ScriptedReranker(script=[HANG]),
        rewriter=ScriptedRewriter([HANG]),
    )
    chosen = config(budget_s=1)
    record = finished(resources, chosen)
    assert record.reason == "deadline"
    assert deadline_s(chosen) * 1000 <= record.duration_ms
