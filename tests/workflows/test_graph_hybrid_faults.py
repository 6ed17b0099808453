"""Graph + vector retrieval where something fails, hangs, is stopped, or breaks its contract: SC-13, GH-02."""

from __future__ import annotations

import asyncio
from typing import Any, cast, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import GraphStoreError, ModelError, StoreError, UnreadableReply
from engine.flow import compiled, workflow
from engine.model.config import Mode, RoleModel, RoleModels
from engine.model.values import GraphEvidence, ModeNote, Outcome, QueryAnalysis, RunId, RunRecord, Verdict
from engine.retrieval.mode_values import ModeFound
from engine.running.execution import execute
from engine.running.runs import LiveRun
from engine.settings import Settings
from tests.support.fakes import FakeGrader, FakeRewriter
from tests.support.loop_fakes import HANG, ScriptedReranker, ScriptedRewriter, passage, verdict
from tests.support.mode_fakes import (
    ALL_LISTS,
    FakeSearcher,
    GraphResources,
    ScriptedAnalyst,
    finished,
    graph_config,
)

GONE = ModelError.ollama_unreachable(address="http://127.0.0.1:1")
NO_STORE = StoreError.unreachable(address="http://127.0.0.1:1")
NO_GRAPH = GraphStoreError.file_unusable(path="graphs.db", found="locked")
OTHER_MODEL = StoreError.embedding_mismatch(collection="c", built_with="a", offered="b")
ALL = frozenset(f"{letter}{place}" for letter in "vgca" for place in range(1, 9))
SOON = Settings(generation_allowance_s=1.0)


def codes(record: RunRecord) -> list[str]:
    return [item.code for item in record.warnings]


@pytest.mark.parametrize("failure", [GONE, UnreadableReply(model="ollama:m")])
def test_an_analyst_that_fails_is_stood_in_for_and_the_run_continues(failure: Exception) -> None:
    """GH-01"""
    resources = GraphResources(analyst=ScriptedAnalyst([failure]), grader=FakeGrader(relevant=ALL))
    record = finished(resources)
    assert (record.outcome, [(item.code, item.node) for item in record.warnings]) == (
        "answered",
        [(failure.code, "analyze_query")],  # type: ignore[attr-defined]
    )
    assert record.analysis is not None
    assert record.analysis.by == "builtin"


def test_an_analyst_that_hangs_leaves_half_of_the_time_to_the_rest() -> None:
    """SC-13"""
    resources = GraphResources(analyst=ScriptedAnalyst([HANG]), grader=FakeGrader(relevant=ALL))
    record = finished(resources, graph_config(budget_s=1))
    assert (record.outcome, [item.node for item in record.warnings]) == ("answered", ["analyze_query"])


@pytest.mark.parametrize(
    "said",
    [
        QueryAnalysis("single", suggested_mode="global"),
        QueryAnalysis("single", suggested_mode="sesame"),  # type: ignore[arg-type]
        QueryAnalysis("hard", suggested_mode="mix"),  # type: ignore[arg-type]
        QueryAnalysis("single", entities=("not in the query",)),
        QueryAnalysis("single", direct="yes"),  # type: ignore[arg-type]
    ],
)
def test_an_analysis_that_breaks_its_contract_steers_nothing(said: QueryAnalysis) -> None:
    """GH-01"""
    resources = GraphResources(analyst=ScriptedAnalyst([said]), grader=FakeGrader(relevant=ALL))
    record = finished(resources, graph_config(mode_from="analysis"))
    assert record.outcome == "answered"
    assert record.analysis != said
    assert resources.searcher.requests[0].mode in ("naive", "mix")


@pytest.mark.parametrize("trouble", [NO_GRAPH, HANG])
def test_a_graph_that_cannot_be_looked_at_does_not_hinder_a_mode_that_needs_none(trouble: Any) -> None:
    """GH-02"""
    searcher = FakeSearcher(look_error=trouble)
    config = graph_config(mode="naive", budget_s=1)
    record = finished(GraphResources(searcher=searcher, grader=FakeGrader(relevant=ALL)), config)
    assert (record.outcome, codes(record)) == ("answered", [])


def test_a_list_that_fails_costs_its_own_passages_and_is_said_once() -> None:
    """GH-02"""
    notes = (ModeNote("graph_unreachable", "local"), ModeNote("graph_unreachable", "global"))
    searcher = FakeSearcher(faults={"local": NO_GRAPH, "global": NO_GRAPH}, notes=notes)
    record = finished(GraphResources(searcher=searcher, grader=FakeGrader(relevant=ALL)))
    assert (record.outcome, codes(record)) == ("answered", ["WB236"])
    assert record.rounds[0].graph is not None
    assert record.rounds[0].graph.notes == notes
    assert {name for item in record.rounds[0].candidates for name in item.found_in} == {"vector"}


def test_a_first_search_of_which_every_list_fails_ends_the_run_with_the_fault() -> None:
    """SC-13"""
    faults = {"vector": NO_STORE, "local": NO_STORE, "global": NO_STORE}
    record = finished(GraphResources(searcher=FakeSearcher(faults=faults)))  # type: ignore[arg-type]
    assert record.outcome == "failed"
    assert record.error is not None
    assert (record.error.code, record.error.node) == (NO_STORE.code, "retrieve")


def test_a_later_search_that_fails_leaves_what_was_found_before() -> None:
    """SC-13"""
    gone = ModeFound({"vector": ()}, GraphEvidence("naive"), faults={"vector": NO_STORE})
    searcher = FakeSearcher(script=[None, gone])
    resources = GraphResources(searcher=searcher, grader=FakeGrader(relevant=frozenset({"v1"})))
    record = finished(resources, graph_config(mode="naive", max_rewrites=1, gate="pass_rate"))
    first, second = record.rounds
    assert (second.searched, second.candidates) == (False, first.candidates)
    assert (record.outcome, codes(record)) == ("answered_forced", [NO_STORE.code])


@pytest.mark.parametrize("trouble", [GONE, OTHER_MODEL])
def test_a_reranker_that_fails_leaves_the_order_and_the_grader_judges(trouble: Exception) -> None:
    """GH-04"""
    models = RoleModels(reranker=RoleModel("cross_encoder:none"))
    resources = GraphResources(reranker=ScriptedReranker(script=[trouble]), grader=FakeGrader(relevant=ALL))
    record = finished(resources, graph_config(models=models))
    assert (record.outcome, [item.node for item in record.warnings]) == ("answered", ["retrieve"])
    assert all(item.rerank_score is None for item in record.rounds[0].candidates)
    assert resources.grader.asked


def test_a_reranker_that_breaks_its_contract_orders_nothing_it_was_not_asked_for() -> None:
    """GH-04"""
    nonsense = [
        (passage("stranger"), verdict(0.9)),
        (passage("v1"), Verdict(True, float("nan"), "")),
        (passage("g1"), Verdict(True, 7.0, "")),
        (passage("c1"), verdict(-1)),
    ]
    resources = GraphResources(reranker=ScriptedReranker(script=[nonsense]), grader=FakeGrader(relevant=ALL))
    models = RoleModels(reranker=RoleModel("ollama:reranker"))
    record = finished(resources, graph_config(models=models))
    scores = {str(item.passage.id): item.rerank_score for item in record.rounds[0].candidates}
    assert "stranger" not in scores
    assert (scores["v1"], scores["g1"], scores["c1"]) == (0.0, 1.0, None)


def test_a_grader_that_is_gone_fails_the_first_round_as_everywhere() -> None:
    """SC-13"""
    resources = GraphResources(grader=FakeGrader(errors=[GONE, GONE]))
    record = finished(resources)
    assert record.outcome == "failed"
    assert record.error is not None
    assert (record.error.code, record.error.node) == (GONE.code, "grade_documents")


def test_a_rewriter_that_fails_says_so_under_the_name_of_its_node() -> None:
    resources = GraphResources(rewriter=FakeRewriter(error=GONE))
    record = finished(resources, graph_config(mode="naive", gate="pass_rate"))
    assert (record.reason, [item.node for item in record.warnings]) == ("rewriter_failed", ["refine_query"])


@pytest.mark.parametrize(
    ("hanging", "node"), [("search", "retrieve"), ("rerank", "retrieve"), ("grade", "grade_documents")]
)
def test_the_deadline_ends_whatever_hangs_and_the_run_is_over_in_time(hanging: str, node: str) -> None:
    """SC-13"""
    searcher = FakeSearcher(script=[HANG]) if hanging == "search" else FakeSearcher()
    reranker = ScriptedReranker(script=[HANG]) if hanging == "rerank" else None
    grader = FakeGrader(gate=asyncio.Event if hanging == "grade" else None)
    resources = GraphResources(settings=SOON, searcher=searcher, reranker=reranker, grader=grader)
    record = finished(resources, graph_config(budget_s=1, mode="naive" if hanging == "grade" else "mix"))
    assert (record.outcome, record.reason) == ("abstained", "deadline")
    assert node in {item.node for item in record.nodes}


def test_a_run_that_is_cancelled_ends_as_cancelled_and_keeps_what_it_found() -> None:
    """SC-13"""
    events: list[Any] = []
    compiled("graph_hybrid")

    async def main() -> None:
        searching = asyncio.Event()
        searcher = FakeSearcher(script=[None, HANG])
        searcher.entered = lambda: searching.set() if len(searcher.requests) == 2 else None
        run = LiveRun(RunId("r"), lambda _, event: events.append(event))
        config = graph_config(mode="naive")
        run.begin("first", config)
        task = asyncio.create_task(
            execute(run, "first", config, GraphResources(searcher=searcher, grader=FakeGrader()))
        )
        await searching.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (run.record.outcome, len(run.record.rounds)) == ("cancelled", 1)
        assert run.record.rounds[0].candidates

    asyncio.run(main())
    assert [event.kind for event in events][-2:] == ["node_finished", "run_finished"]


analyses = st.one_of(
    st.builds(
        QueryAnalysis,
        st.sampled_from(["simple", "single", "multi_hop", "overview", "sesame"]),
        st.just(()),
        st.sampled_from([*get_args(Mode), "sesame"]),
        st.booleans(),
    ),
    st.just(GONE),
)
reranked = st.one_of(
    st.none(),
    st.just(GONE),
    st.lists(
        st.tuples(
            st.sampled_from([passage("v1"), passage("g1"), passage("c2"), passage("x")]),
            st.floats(-1, 1).map(verdict),
        ),
        max_size=4,
    ),
)
lists = st.dictionaries(
    st.sampled_from(["vector", "local", "global"]),
    st.integers(0, 6),
    max_size=3,
).map(lambda sizes: {name: ALL_LISTS[name][:size] for name, size in sizes.items()})  # type: ignore[index]
searches = st.one_of(
    st.none(), lists.map(lambda made: ModeFound(cast(Any, {"vector": (), **made}), GraphEvidence("mix")))
)
queries = st.lists(st.sampled_from(["second", "third", "What does insulin do?", "  "]), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    analyses,
    st.lists(reranked, max_size=3),
    st.lists(searches, max_size=4),
    queries,
    st.frozensets(st.sampled_from(sorted(ALL))),
    st.frozensets(st.sampled_from(sorted(ALL)), max_size=3),
    st.sampled_from(get_args(Mode)),
    st.sampled_from(["config", "analysis"]),
    st.integers(0, 3),
)
def test_whatever_the_roles_do_a_run_ends_lawfully(
    said: Any,
    orders: list[Any],
    made: list[Any],
    words: list[str],
    relevant: frozenset[str],
    unreadable: frozenset[str],
    mode: Mode,
    mode_from: str,
    rewrites: int,
) -> None:
    """GH-01, GH-02, GH-04, GH-08, SC-13"""
    resources = GraphResources(
        searcher=FakeSearcher(script=made),
        analyst=ScriptedAnalyst([said]),
        reranker=ScriptedReranker(script=orders),
        grader=FakeGrader(relevant=relevant, unreadable=unreadable),
        rewriter=ScriptedRewriter(words),
    )
    config = graph_config(mode=mode, mode_from=mode_from, max_rewrites=rewrites)
    record = finished(resources, config)
    assert record.outcome in get_args(Outcome)
    assert (record.outcome == "failed") == (record.error is not None)
    assert len(record.nodes) < workflow("graph_hybrid").recursion_limit(config)
    assert [item.node for item in record.nodes].count("refine_query") <= rewrites
    lead = {
        "route_query": {"retrieve", "generate_answer"},
        "grade_documents": {"refine_query", "generate_answer", "end"},
    }
    assert all(item.route in lead[item.node] for item in record.decisions)
    for current in record.rounds:
        assert [item.rank for item in current.candidates] == list(range(1, len(current.candidates) + 1))
        assert len(current.kept) <= config.top_k
        scores = [item.rerank_score for item in current.candidates if item.rerank_score is not None]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
    cited = {item.passage_id for item in record.citations}
    assert record.context is None or cited <= {item.id for item in record.context.passages}


def test_passages_that_a_reranker_left_without_a_score_come_last_and_that_is_said() -> None:
    """GH-04: its verdicts are shown nowhere, so no one could tell why they are last."""
    partly = ScriptedReranker(otherwise=0.9, relevance={"v1": -1.0})
    other = RoleModels(reranker=RoleModel("ollama:m"))
    record = finished(GraphResources(reranker=partly, grader=FakeGrader(relevant=ALL)), graph_config(models=other))
    assert [(item.code, item.node) for item in record.warnings] == [("WB411", "retrieve")]
    unscored = [item.passage.id for item in record.rounds[0].candidates if item.rerank_score is None]
    assert unscored[0] == "v1"
