"""The dual loop with hand-written roles: DL-01 to DL-07."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import StoreError
from engine.flow import compiled, workflow
from engine.flow.graph import graph_of
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.events import TokenStreamed, fold_all
from engine.model.values import Decision, Evaluation, RouteChoice, RunRecord, Suggestion, TriedRoute
from engine.roles import SILENT, GenerationRequest, Trace
from engine.workflows.dual_loop.workflow import DualState
from tests.support.dual_fakes import (
    OFF,
    PASSAGE,
    SOLVED,
    WORSE,
    FakeDirect,
    FakeEvaluator,
    FakeSections,
    FakeStrategyRouter,
    FakeWeb,
    direct,
    dual,
    events_of,
    finished,
    relevant,
)
from tests.support.fakes import FakeGenerator, FakeRetriever, FakeRewriter, path

NODES = [
    "retrieve_memory",
    "route_query",
    "rewrite_query",
    "retrieve_documents",
    "grade_documents",
    "generate_response",
    "direct_response",
    "grade_relevance",
    "consolidate_memory",
]
PAGE = frozenset({"web:1"})


def tried(record: RunRecord) -> list[tuple[str, int, str, str]]:
    return [(item.strategy, item.attempt, item.status, item.why) for item in record.tried_routes]


def routes(record: RunRecord) -> list[tuple[str, str, str]]:
    return [(item.node, item.route, item.reason) for item in record.decisions]


# -- shape ----------------------------------------------------------------------------------------------------------


def test_the_compiled_graph_has_the_nine_nodes_and_draws_its_true_edges() -> None:
    """DL-01"""
    graph = graph_of(compiled("dual_loop"))
    assert list(graph.nodes) == NODES
    assert {(edge.source, edge.target) for edge in graph.edges} == {
        ("__start__", "retrieve_memory"),
        ("retrieve_memory", "route_query"),
        ("route_query", "direct_response"),
        ("route_query", "rewrite_query"),
        ("rewrite_query", "retrieve_documents"),
        ("retrieve_documents", "grade_documents"),
        ("grade_documents", "generate_response"),
        ("grade_documents", "retrieve_documents"),
        ("grade_documents", "__end__"),
        ("generate_response", "grade_relevance"),
        ("direct_response", "grade_relevance"),
        ("grade_relevance", "consolidate_memory"),
        ("grade_relevance", "rewrite_query"),
        ("consolidate_memory", "__end__"),
    }


def test_the_state_has_the_names_of_the_document() -> None:
    """DL-02"""
    named = "route tried_routes documents documents_are_relevant updated_query response is_relevant correction_attempts"
    assert set(named.split()) <= set(DualState.__annotations__)


# -- the inner loop -------------------------------------------------------------------------------------------------


def test_a_question_whose_first_strategy_finds_it_is_answered_at_once() -> None:
    """DL-01, DL-03"""
    record = finished(relevant())
    assert path(record) == [name for name in NODES if name != "direct_response"]
    assert (record.outcome, record.reason, record.answer) == ("answered", "answer_relevant", "It is so [1].")
    assert tried(record) == [("hierarchical_search", 0, "searched", "")]
    assert (record.rounds[0].strategy, record.rounds[0].sections[0].source) == ("hierarchical_search", "s1.md")
    assert routes(record) == [
        ("route_query", "rewrite_query", "search"),
        ("grade_documents", "generate_response", "documents_relevant"),
        ("grade_relevance", "consolidate_memory", "answer_relevant"),
    ]


def test_the_router_decides_and_does_not_search() -> None:
    """DL-02"""
    resources = relevant(PASSAGE, router=FakeStrategyRouter(RouteChoice("direct_chunk_search", "specific")))
    record = finished(resources)
    assert record.route == RouteChoice("direct_chunk_search", "specific")
    assert resources.router.requests[0].strategies == ("hierarchical_search", "direct_chunk_search")
    assert tried(record) == [("direct_chunk_search", 0, "searched", "")]
    assert resources.sections.found.queries == []
    node = record.nodes[path(record).index("route_query")]
    assert node.round == 0
    assert len(record.rounds) == 1


def test_all_strategies_tried_ends_without_an_answer_said_plainly() -> None:
    """DL-03"""
    record = finished(relevant(frozenset()))
    assert (record.outcome, record.reason) == ("fallback", "strategies_exhausted")
    assert record.drafts == ()
    assert "could not find an answer" in record.answer
    assert path(record)[-1] == "grade_documents"
    chinese = finished(relevant(frozenset()), question="什么是逻辑？")
    assert chinese.answer.startswith("没有找到能回答这个问题的内容")
    assert "网络" in chinese.answer, "what was skipped is said too"


def test_a_strategy_that_is_not_configured_is_skipped_and_has_not_failed() -> None:
    """DL-03, DL-07"""
    record = finished(relevant(frozenset(), sections=FakeSections(summaries=False)))
    assert tried(record) == [
        ("direct_chunk_search", 0, "searched", ""),
        ("hierarchical_search", 0, "skipped", "no_summaries"),
        ("web_search", 0, "skipped", "web_off"),
    ]
    assert record.warnings == ()
    unset = finished(relevant(frozenset()), dual(web_search=True))
    assert tried(unset)[-1] == ("web_search", 0, "skipped", "web_not_set")


def test_the_web_is_searched_last_and_its_pages_are_judged_like_any_other_passage() -> None:
    """DL-03, DL-07"""
    resources = relevant(PAGE, web=FakeWeb())
    record = finished(resources, dual(web_search=True))
    assert [item.strategy for item in record.tried_routes] == [
        "hierarchical_search",
        "direct_chunk_search",
        "web_search",
    ]
    assert [item.passage_id for item in record.citations] == ["web:1"]
    assert resources.grader.asked[-1] == ("first", ["web:1", "web:2"])


def test_nothing_found_locally_moves_on_to_the_web_by_itself_and_notes_both() -> None:
    """DL-03"""
    sections = FakeSections(FakeRetriever(otherwise={"s1": 0.1}))
    record = finished(relevant(PAGE, sections=sections, web=FakeWeb()), dual(web_search=True))
    assert tried(record) == [("hierarchical_search", 0, "nothing_found", ""), ("web_search", 0, "searched", "")]
    assert path(record).count("retrieve_documents") == 1, "within the same visit"
    assert [item.strategy for item in record.rounds] == ["hierarchical_search", "web_search"]
    assert [item.round for item in record.decisions if item.node == "grade_documents"] == [1]
    assert record.outcome == "answered"


def test_a_web_that_did_not_help_leaves_the_other_local_strategy() -> None:
    """DL-03"""
    sections = FakeSections(FakeRetriever(otherwise={}))
    record = finished(relevant(PASSAGE, sections=sections, web=FakeWeb()), dual(web_search=True))
    assert [item.strategy for item in record.tried_routes] == [
        "hierarchical_search",
        "web_search",
        "direct_chunk_search",
    ]
    assert record.outcome == "answered"


def test_nothing_found_without_a_web_continues_locally_and_notes_the_skip() -> None:
    """DL-03"""
    sections = FakeSections(FakeRetriever(otherwise={}))
    record = finished(relevant(PASSAGE, sections=sections))
    assert tried(record) == [
        ("hierarchical_search", 0, "nothing_found", ""),
        ("web_search", 0, "skipped", "web_off"),
        ("direct_chunk_search", 0, "searched", ""),
    ]


def test_a_choice_that_cannot_be_used_becomes_the_first_strategy_that_can() -> None:
    """DL-02"""
    router = FakeStrategyRouter(RouteChoice("web_search", "current"))
    record = finished(relevant(router=router))
    assert record.route is not None
    assert record.route.route == "hierarchical_search"


# -- the outer loop -------------------------------------------------------------------------------------------------


def test_an_answer_that_is_off_is_corrected_and_tried_routes_start_over() -> None:
    """DL-04, DL-05"""
    evaluator = FakeEvaluator(says=(OFF, SOLVED))
    resources = relevant(PASSAGE, evaluator=evaluator)
    record = finished(resources)
    assert tried(record) == [
        ("hierarchical_search", 0, "searched", ""),
        ("direct_chunk_search", 0, "searched", ""),
        ("hierarchical_search", 1, "searched", ""),
        ("direct_chunk_search", 1, "searched", ""),
    ]
    assert [item.attempt for item in record.rounds] == [0, 0, 1, 1]
    assert [item.attempt for item in record.drafts] == [0, 1]
    assert [item.evaluation for item in record.drafts] == [OFF, SOLVED]
    assert (record.outcome, record.answer) == ("answered", record.drafts[1].text)
    assert [item.strategy for item in record.rounds] == ["hierarchical_search", "direct_chunk_search"] * 2
    assert ("grade_documents", "retrieve_documents", "next_strategy") in routes(record)
    assert ("grade_relevance", "rewrite_query", "answer_off") in routes(record)


def test_the_corrective_rewrite_gets_what_the_answer_lacked_and_the_initial_one_nothing() -> None:
    """DL-05"""
    rewriter = FakeRewriter(queries=("first", "second"))
    record = finished(relevant(PASSAGE, evaluator=FakeEvaluator(says=(OFF, SOLVED)), rewriter=rewriter))
    initial, corrective = rewriter.requests
    assert [item.code for item in initial.issues] == ["initial"]
    assert (initial.failed, initial.history) == ((), ())
    assert [item.text for item in corrective.issues] == ["It does not say when."]
    assert [item.id for item in corrective.failed] == ["p2", "p3", "p4", "p5"]
    assert [(item.round, item.strategy, item.rewritten_query) for item in record.rewrites] == [
        (-1, "initial", "first"),
        (1, "", "second"),
    ]
    assert [item.query for item in record.rounds] == ["first", "first", "second", "second"]


def test_the_generator_and_every_judge_see_the_question_as_asked() -> None:
    """DL-04, SC-03"""
    resources = relevant(evaluator=FakeEvaluator(says=(OFF, SOLVED)))
    finished(resources)
    assert {item.question for item in resources.generator.requests} == {"first"}
    assert {item.question for item in resources.evaluator.requests} == {"first"}
    assert {question for question, _ in resources.grader.asked} == {"first"}
    assert {item.aim for item in resources.evaluator.requests} == {"relevance"}


def test_no_marker_that_points_nowhere_is_streamed() -> None:
    """SC-07, GH-07"""
    events = events_of(relevant(generator=FakeGenerator(text="It is so [1] and here [7].")))
    record = fold_all(events)
    assert record.answer == "It is so [1] and here."
    assert "".join(event.text for event in events if isinstance(event, TokenStreamed)) == record.answer
    assert record.drafts[0].removed_markers == ("[7]",)


def test_the_limit_of_corrections_ends_with_the_best_answer_marked() -> None:
    """DL-04"""
    texts = iter(["The first [1].", "The second [1].", "The third [1]."])

    class Varying(FakeGenerator):
        async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
            self.text = next(texts)
            return await super().generate(request, trace)

    record = finished(relevant(evaluator=FakeEvaluator(says=(WORSE, OFF, WORSE)), generator=Varying()))
    assert (record.outcome, record.reason) == ("answered_forced", "max_corrections")
    assert len(record.drafts) == 3
    assert record.answer == "The second [1]."
    assert [item.passage_id for item in record.citations] == ["s1"]
    assert path(record).count("rewrite_query") == 3


def test_rejected_answers_stay_in_the_record_of_a_run_that_falls_back() -> None:
    """DL-03, DL-04"""
    retriever = FakeRetriever(hits={"second": {"x": 0.9}})
    sections = FakeSections(FakeRetriever(hits={"second": {"y": 0.9}}))
    rewriter = FakeRewriter(queries=("first", "second"))
    resources = relevant(
        PASSAGE, retriever=retriever, sections=sections, rewriter=rewriter, evaluator=FakeEvaluator(says=(OFF,))
    )
    record = finished(resources)
    assert (record.outcome, record.reason) == ("fallback", "strategies_exhausted")
    assert len(record.drafts) == 1
    assert "did not pass its check" in record.answer
    assert record.citations == ()


def test_a_rewrite_that_repeats_itself_searches_nothing_again_and_the_answer_stands() -> None:
    """DL-04, SC-06"""
    resources = relevant(rewriter=FakeRewriter(queries=("first",)), evaluator=FakeEvaluator(says=(OFF,)))
    record = finished(resources)
    assert (record.outcome, record.reason) == ("answered_forced", "repeated_rewrite")
    assert resources.sections.found.queries == ["first"]
    assert [item.searched for item in record.rounds] == [True, False]
    assert record.rewrites[1].refused == ("first", "first")
    assert record.answer == record.drafts[0].text


def test_an_evaluation_that_contradicts_itself_counts_as_its_suggestions_do() -> None:
    """DL-04"""
    says = Evaluation(True, (Suggestion("reasonableness", "Say when."),), "fake")
    record = finished(relevant(evaluator=FakeEvaluator(says=(says, SOLVED))))
    assert record.drafts[0].evaluation == replace(says, passed=False)
    assert len(record.drafts) == 2


# -- direct answers -------------------------------------------------------------------------------------------------


def test_a_direct_answer_is_judged_too_and_searches_nothing() -> None:
    """DL-02"""
    resources = direct()
    record = finished(resources)
    assert path(record) == [
        "retrieve_memory",
        "route_query",
        "direct_response",
        "grade_relevance",
        "consolidate_memory",
    ]
    assert (record.outcome, record.answer, record.rounds) == ("answered", "As I said before.", ())
    assert record.drafts[0].direct
    assert resources.evaluator.requests[0].passages == ()
    assert resources.memory.kept == [], "an answer without a search is nothing new to remember"


def test_a_direct_answer_that_fails_enters_the_search_with_the_first_strategy() -> None:
    """DL-02, DL-05"""
    resources = direct(evaluator=FakeEvaluator(says=(OFF, SOLVED)), rewriter=FakeRewriter(queries=("first",)))
    record = finished(resources)
    assert [item.strategy for item in record.tried_routes] == ["hierarchical_search", "direct_chunk_search"]
    assert [item.attempt for item in record.tried_routes] == [1, 1]
    assert resources.rewriter.requests[0].issues[0].text == "It does not say when."
    assert not record.rewrites[0].repeated, "the question itself has not been searched yet"
    assert record.outcome == "answered"
    assert [item.direct for item in record.drafts] == [True, False]


# -- the record -----------------------------------------------------------------------------------------------------


def test_a_passage_is_judged_once_whichever_strategy_finds_it() -> None:
    """SC-03, DL-03"""
    sections = FakeSections(FakeRetriever(otherwise={"p1": 0.9, "p2": 0.8}))
    resources = relevant(frozenset({"p5"}), sections=sections)
    record = finished(resources)
    assert [ids for _, ids in resources.grader.asked] == [["p1", "p2"], ["p3", "p4", "p5"]]
    assert record.rounds[1].reused == ("p1", "p2")


def test_rounds_decisions_and_node_visits_say_where_they_belong() -> None:
    """SC-10"""
    record = finished(relevant(PASSAGE, evaluator=FakeEvaluator(says=(OFF, SOLVED))))
    graded = [item for item in record.decisions if item.node == "grade_documents"]
    assert [item.round for item in graded] == [0, 1, 2, 3]
    visits = [item.round for item in record.nodes if item.node == "retrieve_documents"]
    assert visits == [0, 1, 2, 3]
    assert {(item.role, item.node) for item in record.model_calls} == {
        ("router", "route_query"),
        ("rewriter", "rewrite_query"),
        ("grader", "grade_documents"),
        ("generator", "generate_response"),
        ("evaluator", "grade_relevance"),
    }


def test_the_worst_case_counts_every_chat_role_of_every_pass() -> None:
    """SC-10, DL-04"""
    module = workflow("dual_loop")
    assert module.worst_case_calls(RunConfig(workflow="dual_loop")) == 0
    chat = RoleModel("ollama:qwen3:8b")
    every = dual(models=RoleModels(chat, chat, chat, chat, chat), top_k=5)
    assert module.worst_case_calls(every) == 1 + 5 + 5 * 2 * 3 + 3 + 3 + 1 + 3, "and for memory"
    forgetful = dual(memory=False, models=RoleModels(chat, chat, chat, chat, chat), top_k=5)
    assert module.worst_case_calls(forgetful) == module.worst_case_calls(every) - 4
    web = dual(web_search=True, models=RoleModels(grader=chat), top_k=5)
    assert module.worst_case_calls(web) == 5 * 3 * 3 + 3


@pytest.mark.parametrize("corrections", [0, 1, 2, 5])
def test_the_longest_run_stays_within_the_engines_own_limit(corrections: int) -> None:
    """DL-04, SC-13: at most three strategies times ``max_corrections + 1`` passes."""
    rewriter = FakeRewriter(queries=[f"query {place}" for place in range(corrections + 1)])
    resources = relevant(PAGE, web=FakeWeb(), evaluator=FakeEvaluator(says=(OFF,)), rewriter=rewriter)
    config = dual(max_corrections=corrections, web_search=True)
    record = finished(resources, config)
    assert record.reason == "max_corrections"
    assert len(record.rounds) == 3 * (corrections + 1)
    assert len(record.nodes) <= workflow("dual_loop").recursion_limit(config)


def test_a_run_ends_as_its_record_says_it() -> None:
    module = workflow("dual_loop")
    record = finished(relevant())
    assert module.ending(record) == ("answered", "answer_relevant")
    last = Decision(0, "end", "strategies_exhausted", (), 0, 0, node="grade_documents")
    rejected = replace(record, decisions=(last,), tried_routes=(TriedRoute("web_search", 0, "failed", "WB901"),))
    assert module.ending(rejected) == ("answered_forced", "strategies_exhausted")


def test_a_store_that_no_strategy_reaches_fails_the_run_with_its_remedy() -> None:
    """DL-03: saying that nothing was found would not be true."""
    down = StoreError.unreachable(address="http://127.0.0.1:1")
    sections = FakeSections(FakeRetriever(error=down))
    record = finished(relevant(retriever=FakeRetriever(error=down), sections=sections))
    assert (record.outcome, record.reason) == ("failed", "WB202")
    assert [item.why for item in record.tried_routes] == ["WB202", "WB202"]


def test_a_direct_answerer_that_fails_is_stood_in_for_by_plain_words() -> None:
    """DL-02, SC-13"""
    resources = direct(direct=FakeDirect(error=StoreError.unreachable(address="http://127.0.0.1:1")))
    record = finished(resources)
    assert record.outcome == "answered"
    assert record.answer.startswith("There is nothing here to search for.")
    assert [item.node for item in record.warnings] == ["direct_response"]


def test_an_answer_whose_sources_contradict_each_other_is_not_remembered_as_a_fact() -> None:
    """DL-06"""
    contradicting = "It is so [1].\n\nThe sources differ: 7.0 mmol/L [1] / 7.8 mmol/L [2]."
    resources = relevant(generator=FakeGenerator(text=contradicting))
    record = finished(resources)
    assert record.answer.startswith("It is so")
    assert (resources.memory.kept, record.remembered) == ([], None)
