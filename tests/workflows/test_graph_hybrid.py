"""Graph + vector retrieval with hand-written roles: where a run goes, and what each mode leaves in its record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.builtin.generator import BuiltinGenerator
from engine.flow import compiled, workflow
from engine.flow.graph import graph_of
from engine.model.config import Mode, RoleModel, RoleModels, RunConfig
from engine.model.events import Analysed, Decided, Fused, PassageGraded, Reranked, Retrieved
from engine.model.values import LISTS_OF_MODE, Attachment, GraphEvidence, ModeNote, QueryAnalysis
from engine.replay import what_if
from engine.retrieval.graph_options import GraphOptions
from engine.retrieval.mode_values import ModeFound
from engine.workflows.graph_hybrid.workflow import GraphState
from tests.support.fakes import FakeGrader, path
from tests.support.loop_fakes import ScriptedReranker, ScriptedRewriter
from tests.support.mode_fakes import (
    FakeSearcher,
    GraphResources,
    ScriptedAnalyst,
    events_of,
    finished,
    found,
    graph_config,
)

BEGIN = ["analyze_query", "route_query"]
ROUND = ["retrieve", "grade_documents"]
ALL = frozenset(f"{letter}{place}" for letter in "vgca" for place in range(1, 9))
CHAT = RoleModels(generator=RoleModel("ollama:none"))
SEARCHING: tuple[Mode, ...] = ("naive", "local", "global", "hybrid", "mix")


def passing() -> GraphResources:
    return GraphResources(grader=FakeGrader(relevant=ALL))


def failing(**changes: Any) -> GraphResources:
    return GraphResources(grader=FakeGrader(), **changes)


def test_the_compiled_graph_is_the_flow_of_the_specification() -> None:
    """GH-01"""
    graph = graph_of(compiled("graph_hybrid"))
    assert graph.nodes == (*BEGIN, *ROUND, "refine_query", "generate_answer")
    assert {(edge.source, edge.target, edge.conditional) for edge in graph.edges} == {
        ("__start__", "analyze_query", False),
        ("analyze_query", "route_query", False),
        ("route_query", "retrieve", True),
        ("route_query", "generate_answer", True),
        ("retrieve", "grade_documents", False),
        ("grade_documents", "refine_query", True),
        ("grade_documents", "generate_answer", True),
        ("grade_documents", "__end__", True),
        ("refine_query", "retrieve", False),
        ("generate_answer", "__end__", False),
    }


@pytest.mark.parametrize("mode", SEARCHING)
def test_a_mode_searches_its_own_lists_and_answers_with_citations(mode: Mode) -> None:
    """GH-01, GH-02"""
    resources = passing()
    record = finished(resources, graph_config(mode=mode))
    assert path(record) == [*BEGIN, *ROUND, "generate_answer"]
    assert (record.outcome, record.reason, record.error, record.warnings) == ("answered", "passed", None, ())
    (only,) = record.rounds
    assert only.graph is not None
    assert only.graph.mode == mode
    assert {name for item in only.candidates for name in item.found_in} - {"near"} == set(LISTS_OF_MODE[mode])
    assert record.citations
    assert [(item.node, item.route) for item in record.decisions] == [
        ("route_query", "retrieve"),
        ("grade_documents", "generate_answer"),
    ]


@pytest.mark.parametrize("mode", SEARCHING)
def test_the_modes_of_the_graph_alone_do_without_a_new_order(mode: Mode) -> None:
    """GH-04: hybrid and mix are reranked, their scores non-increasing."""
    record = finished(passing(), graph_config(mode=mode))
    scores = [item.rerank_score for item in record.rounds[0].candidates if item.rerank_score is not None]
    assert bool(scores) == (mode in ("hybrid", "mix"))
    assert scores == sorted(scores, reverse=True)
    assert record.rounds[0].reranked == tuple(item.passage.id for item in record.rounds[0].candidates[: len(scores)])


def test_bypass_searches_judges_and_cites_nothing_and_says_honestly_that_it_knows_nothing() -> None:
    """GH-02"""
    resources = passing()
    record = finished(resources, graph_config(mode="bypass"))
    assert path(record) == [*BEGIN, "generate_answer"]
    assert (record.rounds, record.citations, record.outcome, record.reason) == ((), (), "abstained", "bypass")
    assert "no knowledge of its own" in record.answer
    assert "本身没有" in finished(passing(), graph_config(mode="bypass"), "胰岛素有什么用？").answer.replace(
        "自身", "本身"
    )
    assert (resources.searcher.requests, resources.grader.asked) == ([], [])


def test_what_a_model_says_in_bypass_counts_as_unverified_and_its_markers_point_nowhere() -> None:
    """GH-02, GH-07"""

    class Boasting:
        async def answer(self, request: Any, trace: Any) -> str:
            trace.token("It lowers glucose [1].")
            return "It lowers glucose [1]."

    resources = GraphResources(unsearched=Boasting())
    record = finished(resources, graph_config(mode="bypass", models=CHAT))
    assert record.outcome == "answered_unverified"
    assert (record.answer, record.citations) == ("It lowers glucose.", ())
    assert record.removed_markers == ("[1]",)


@pytest.mark.parametrize("question", ["Hello!", "谢谢"])
def test_small_talk_is_answered_without_a_search_unless_the_setting_says_otherwise(question: str) -> None:
    """GH-01"""
    resources = passing()
    record = finished(resources, question=question)
    assert (path(record), record.reason, record.outcome) == ([*BEGIN, "generate_answer"], "simple", "answered")
    assert resources.searcher.requests == []
    searched = finished(passing(), graph_config(answer_directly=False), question)
    assert path(searched) == [*BEGIN, *ROUND, "generate_answer"]


def test_low_relevance_refines_the_query_three_times_and_no_more() -> None:
    """GH-01"""
    resources = failing()
    record = finished(resources)
    assert path(record) == [*BEGIN, *[*ROUND, "refine_query"] * 3, *ROUND, "generate_answer"]
    assert [item.route for item in record.decisions] == ["retrieve", *["refine_query"] * 3, "generate_answer"]
    assert {item.node for item in record.decisions[1:]} == {"grade_documents"}
    assert [item.query for item in resources.searcher.requests] == [
        "What does insulin do?",
        "second",
        "third",
        "fourth",
    ]
    assert {item.question for item in resources.searcher.requests} == {"What does insulin do?"}
    assert (record.outcome, record.reason) == ("abstained", "max_rewrites")


def test_a_passage_is_judged_against_the_question_as_asked_whichever_query_found_it() -> None:
    """GH-01, SC-03"""
    later = ModeFound({"local": found("z", 3, graph=True)}, GraphEvidence(mode="local"), 0.7, "none", {})
    resources = failing(searcher=FakeSearcher(script=(None, later)))
    finished(resources, graph_config(mode="local", max_rewrites=1))
    assert [sorted(names) for _, names in resources.grader.asked][1:] == [["z1", "z2", "z3"]]
    assert {question for question, _ in resources.grader.asked} == {"What does insulin do?"}


@pytest.mark.parametrize("mode", ["naive", "mix"])
def test_no_passage_is_judged_twice_neither_by_the_reranker_nor_in_a_later_round(mode: Mode) -> None:
    """GH-04: the built-in reranker is the run's grader."""
    resources = failing()
    record = finished(resources, graph_config(mode=mode))
    judged = [name for _, asked in resources.grader.asked for name in asked]
    assert len(judged) == len(set(judged))
    assert all(name in item.verdicts for item in record.rounds for name in [kept.id for kept in item.kept])
    assert record.rounds[1].reused


def test_what_another_reranker_says_is_a_score_and_no_judgement() -> None:
    """GH-04, SC-03"""
    resources = GraphResources(reranker=ScriptedReranker(otherwise=0.9), grader=FakeGrader())
    config = graph_config(models=RoleModels(reranker=RoleModel("ollama:reranker")), max_rewrites=0)
    events = events_of(resources, config)
    record = finished(GraphResources(reranker=ScriptedReranker(otherwise=0.9), grader=FakeGrader()), config)
    assert [item.rerank_score for item in record.rounds[0].candidates[:5]] == [0.9] * 5
    assert {event.verdict.grader for event in events if isinstance(event, PassageGraded)} == {"fake"}
    assert not any(event.verdict.relevant for event in events if isinstance(event, PassageGraded))
    assert record.outcome == "abstained"


def test_each_step_says_what_it_found_in_an_event_and_the_record_is_made_of_these() -> None:
    """GH-01, SC-10"""
    events = events_of(passing())
    kinds_of = (Analysed, Decided, Retrieved, Fused, Reranked)
    kinds = [event.kind for event in events if isinstance(event, kinds_of)]
    assert kinds == ["analysed", "decided", "retrieved", "fused", "reranked", "decided"]
    record = finished(passing())
    (analysed,) = (event for event in events if isinstance(event, Analysed))
    (fused,) = (event for event in events if isinstance(event, Fused))
    assert record.analysis == analysed.analysis
    assert record.rounds[0].candidates == fused.candidates
    assert record.rounds[0].graph is not None
    assert record.rounds[0].graph.relationships


def test_the_mode_may_be_left_to_the_analysis() -> None:
    """GH-01"""
    analysis = QueryAnalysis("single", suggested_mode="local")
    analyst = ScriptedAnalyst([analysis])
    resources = GraphResources(analyst=analyst, grader=FakeGrader(relevant=ALL))
    record = finished(resources, graph_config(mode="naive", mode_from="analysis"))
    assert [item.mode for item in resources.searcher.requests] == ["local"]
    assert record.rounds[0].graph is not None
    assert record.rounds[0].graph.mode == "local"
    kept = GraphResources(analyst=ScriptedAnalyst([analysis]), grader=FakeGrader(relevant=ALL))
    finished(kept, graph_config(mode="naive"))
    assert [item.mode for item in kept.searcher.requests] == ["naive"]


def test_what_a_mode_could_not_do_stands_in_the_record_and_is_warned_of_once() -> None:
    """GH-02"""
    notes = (ModeNote("no_graph", "local"), ModeNote("no_graph", "global"))
    searcher = FakeSearcher({"vector": found("v")}, notes=notes, fell_back_to=("vector",))
    record = finished(GraphResources(searcher=searcher, grader=FakeGrader(relevant=ALL)), graph_config(mode="hybrid"))
    assert record.rounds[0].graph is not None
    assert (record.rounds[0].graph.notes, record.rounds[0].graph.fell_back_to) == (notes, ("vector",))
    assert (record.outcome, [item.code for item in record.warnings]) == ("answered", ["WB120"])
    again = finished(GraphResources(searcher=searcher, grader=FakeGrader()), graph_config(mode="hybrid"))
    assert (len(again.rounds), [item.code for item in again.warnings]) == (4, ["WB120"])


def test_mix_that_has_only_vectors_left_is_warned_of_once_as_well() -> None:
    """GH-02: it is then what ``naive`` is, and must not be so silently."""
    notes = (ModeNote("no_graph", "local"), ModeNote("no_graph", "global"))
    searcher = FakeSearcher({"vector": found("v")}, notes=notes)
    for grader in (FakeGrader(relevant=ALL), FakeGrader()):
        record = finished(GraphResources(searcher=searcher, grader=grader), graph_config(mode="mix"))
        assert [item.code for item in record.warnings] == ["WB120"]
    half = FakeSearcher({"vector": found("v"), "global": found("c", graph=True)}, notes=notes[:1])
    resources = GraphResources(searcher=half, grader=FakeGrader(relevant=ALL))
    assert finished(resources, graph_config(mode="mix")).warnings == ()


def test_attachments_that_bypass_leaves_out_are_warned_of() -> None:
    """GH-02, GH-05"""
    table = Attachment("table", "doses.csv", rows=(("Drug", "Dose"), ("Metformin", "500 mg")))
    record = finished(passing(), graph_config(mode="bypass"), "What dose?", (table,))
    assert [item.code for item in record.warnings] == ["WB358"]
    assert finished(passing(), graph_config(mode="bypass"), "What dose?").warnings == ()


DOSES = Attachment("table", "doses.csv", rows=(("Drug", "Dose (mg)"), ("Metformin", "500"), ("Insulin", "10")))
OF_METFORMIN = "What is the dose of Metformin?"


@pytest.mark.parametrize("mode", ["mix", "bypass"])
def test_a_question_about_attached_tables_alone_is_answered_from_them_without_a_search(mode: Mode) -> None:
    """GH-01"""
    analyst = ScriptedAnalyst([AssertionError("nothing is to be searched")])
    resources = GraphResources(generator=BuiltinGenerator(), analyst=analyst)
    record = finished(resources, graph_config(mode=mode, tables_only=True), OF_METFORMIN, (DOSES,))
    assert (path(record), record.reason, record.outcome) == ([*BEGIN, "generate_answer"], "tables_only", "answered")
    assert (resources.searcher.requests, resources.grader.asked, record.rounds) == ([], [], ())
    assert [(item.marker, item.value) for item in record.cell_citations] == [("T1:B2", "500")]
    assert record.context is not None and (record.context.tables, record.context.passages) == ((1,), ())
    assert record.warnings == () and record.config.options == GraphOptions(tables_only=True)


def test_what_attached_tables_do_not_answer_is_not_searched_either() -> None:
    """GH-01"""
    resources = GraphResources(generator=BuiltinGenerator())
    config = graph_config(tables_only=True)
    record = finished(resources, config, "Who invented the bicycle?", (DOSES,))
    assert (record.outcome, record.cell_citations, resources.searcher.requests) == ("abstained", (), [])
    tight = graph_config(tables_only=True, context_tokens=200)
    wide = Attachment("table", "wide.csv", rows=tuple(("word " * 60,) * 40 for _ in range(3)))
    crowded = finished(resources, tight, OF_METFORMIN, (wide,))
    assert crowded.outcome == "abstained" and "Not even one row" in crowded.answer


def test_without_a_table_the_collection_is_searched_and_an_image_next_to_one_is_warned_of() -> None:
    """GH-01"""
    image = Attachment("image", "page.png", text="Insulin lowers glucose. " * 3, read_by="ocr")
    config = graph_config(tables_only=True)
    searched = finished(passing(), config, OF_METFORMIN, (image,))
    assert path(searched) == [*BEGIN, *ROUND, "generate_answer"] and searched.warnings == ()
    both = finished(GraphResources(generator=BuiltinGenerator()), config, OF_METFORMIN, (image, DOSES))
    assert both.rounds == () and [item.code for item in both.warnings] == ["WB358"]
    assert "1 attached images were not looked at" in both.warnings[0].fact


SUMS = Attachment("table", "sums.csv", rows=(("Item", "Amount"), ("Tea", "10.5"), ("Rice", "21.19")), read_by="csv")


def test_work_on_the_attached_table_alone_is_simple_and_its_sum_is_answered() -> None:
    """GH-01"""
    resources = failing()
    record = finished(resources, question="What is the sum of the amounts?", attachments=(SUMS,))
    assert (path(record), resources.searcher.requests) == ([*BEGIN, "generate_answer"], [])
    assert (record.outcome, record.reason, record.answer_note) == ("answered", "tables_only", "")
    assert record.answer == "The sum of Amount is 31.69 (over 2 rows)."
    assert what_if(record, record.config).answer == record.answer
    named = replace(SUMS, rows=(("Item", "Maker"), ("Tea", "x"), ("Rice", "y")))
    unknown = finished(failing(), question="What is the sum of the makers?", attachments=(named,))
    assert (unknown.outcome, unknown.reason) == ("abstained", "tables_only")
    assert finished(passing(), attachments=(SUMS,)).decisions[0].route == "retrieve"


def test_a_router_that_says_direct_is_not_overruled_where_a_table_came_with_the_question() -> None:
    """GH-01"""
    says = ScriptedAnalyst([QueryAnalysis("simple", direct=True, by="fake")])
    resources = GraphResources(grader=FakeGrader(relevant=ALL), analyst=says)
    record = finished(resources, question="Put it into words.", attachments=(SUMS,))
    assert record.decisions[0].reason == "tables_only"


def test_images_join_query_and_candidates_and_small_talk_with_one_is_searched() -> None:
    """GH-05"""
    image = Attachment("image", "page.png", text="Insulin lowers glucose. " * 3, read_by="ocr")
    resources = passing()
    record = finished(resources, graph_config(max_rewrites=0), "Hello", (image,))
    (request,) = resources.searcher.requests
    assert request.query.startswith("Hello Insulin lowers glucose.")
    assert [item.source for item in request.attached] == ["page.png"]
    assert record.rounds[0].query == "Hello"
    assert any("attachment" in item.found_in for item in record.rounds[0].candidates)


def test_a_rewrite_that_repeats_itself_leaves_the_former_candidates_standing() -> None:
    """SC-06"""
    resources = failing(rewriter=ScriptedRewriter(["What does insulin do?"]))
    record = finished(resources)
    assert len(resources.searcher.requests) == 1
    first, second = record.rounds
    assert (second.searched, second.candidates, second.graph) == (False, first.candidates, first.graph)
    assert record.decisions[-1].reason == "repeated_rewrite"


def test_the_limits_of_a_run_hold_for_its_longest_path() -> None:
    """SC-13"""
    module = workflow("graph_hybrid")
    config = graph_config(max_rewrites=5, mode="naive")
    record = finished(failing(rewriter=ScriptedRewriter()), config)
    assert len(record.nodes) < module.recursion_limit(config)
    assert module.worst_case_calls(RunConfig(workflow="graph_hybrid")) == 0
    chat = RoleModel("ollama:m")
    roles = {name: RoleModels(**{name: chat}) for name in ("grader", "rewriter", "generator", "router", "reranker")}
    calls = {
        name: module.worst_case_calls(RunConfig(workflow="graph_hybrid", models=models))
        for name, models in roles.items()
    }
    assert calls == {"grader": 60, "rewriter": 6, "generator": 1, "router": 1, "reranker": 60}
    assert "analysis" in GraphState.__annotations__
