"""The dual loop: search strategies in turn within, corrections of the answer around them (SPEC DL-01)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from engine.config import RunConfig
from engine.nodes.dual.consolidate_memory import consolidate_memory
from engine.nodes.dual.direct_response import direct_response
from engine.nodes.dual.generate_response import generate_response
from engine.nodes.dual.grade_documents import grade_documents
from engine.nodes.dual.grade_relevance import grade_relevance
from engine.nodes.dual.retrieve_documents import retrieve_documents
from engine.nodes.dual.retrieve_memory import retrieve_memory
from engine.nodes.dual.rewrite_query import rewrite_query
from engine.nodes.dual.route_query import route_query
from engine.nodes.dual.state import DualState
from engine.nodes.run_context import RunContext, Step
from engine.policies.dual import dual_options, outcome_of
from engine.values import STRATEGIES, Outcome, RunRecord
from engine.workflows.binding import node

Graph = CompiledStateGraph[DualState, RunContext, DualState, DualState]

NODES: Mapping[str, Step] = {
    "retrieve_memory": retrieve_memory,
    "route_query": route_query,
    "rewrite_query": rewrite_query,
    "retrieve_documents": retrieve_documents,
    "grade_documents": grade_documents,
    "generate_response": generate_response,
    "direct_response": direct_response,
    "grade_relevance": grade_relevance,
    "consolidate_memory": consolidate_memory,
}


def build() -> Graph:
    """The compiled graph; every conditional edge has an explicit target map, so a drawing made from it is the truth."""
    graph = StateGraph(DualState, context_schema=RunContext)
    for name, step in NODES.items():
        graph.add_node(name, node(name, step))
    graph.add_edge(START, "retrieve_memory")
    graph.add_edge("retrieve_memory", "route_query")
    graph.add_conditional_edges("route_query", _route, _to("direct_response", "rewrite_query"))
    graph.add_edge("rewrite_query", "retrieve_documents")
    graph.add_edge("retrieve_documents", "grade_documents")
    targets = {**_to("generate_response", "retrieve_documents"), "end": END}
    graph.add_conditional_edges("grade_documents", _route, targets)
    graph.add_edge("generate_response", "grade_relevance")
    graph.add_edge("direct_response", "grade_relevance")
    graph.add_conditional_edges("grade_relevance", _route, _to("consolidate_memory", "rewrite_query"))
    graph.add_edge("consolidate_memory", END)
    return graph.compile()


def initial_state(question: str) -> DualState:
    return DualState(
        question=question,
        query=question,
        updated_query=question,
        rounds=(),
        rewrites=(),
        tried_routes=(),
        documents=(),
        documents_are_relevant=False,
        response="",
        is_relevant=False,
        correction_attempts=0,
        drafts=(),
        contexts=(),
        writer_failed=False,
    )


def recursion_limit(config: RunConfig) -> int:
    """Steps a run can take at most: two before the loops, in each pass a rewrite, every strategy, answer and judgement.

    One for remembering and one to spare (SPEC SC-13, DL-04).
    """
    per_pass = 1 + 2 * len(STRATEGIES) + 2
    return 2 + per_pass * (dual_options(config).max_corrections + 1) + 2


def worst_case_calls(config: RunConfig) -> int:
    """Chat-model calls of the longest possible run, retries apart but for the rewriter's own."""
    options, models = dual_options(config), config.models
    passes = options.max_corrections + 1
    searches = len(STRATEGIES) if options.web_search else len(STRATEGIES) - 1
    per_search = config.fetch_k if config.grade_probe else config.top_k
    calls = 0 if models.router.built_in else 1
    calls += 0 if models.rewriter.built_in else 1 + 2 * options.max_corrections
    calls += 0 if models.grader.built_in else per_search * searches * passes
    # One more puts into words what is remembered.
    calls += 0 if models.generator.built_in else passes + options.memory
    return calls + (0 if models.evaluator.built_in else passes)


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """By the last decision, by whether an answer stands, and by whether a search failed."""
    last = record.decisions[-1]
    return outcome_of(last, record.drafts, record.tried_routes), last.reason


def _route(state: DualState) -> str:
    return state["decision"].route


def _to(*nodes: str) -> dict[Any, str]:
    return {name: name for name in nodes}
