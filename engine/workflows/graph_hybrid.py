"""Graph + vector retrieval: analyze_query → route_query → (retrieve → grade_documents …) | generate_answer.

SPEC GH-01 … GH-08. ``grade_documents`` is the four-node loop's own grade step, ``refine_query`` its rewrite step.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from engine.config import CROSS_ENCODER, RoleName, RunConfig
from engine.nodes import rewrite
from engine.nodes.graph.analyze_query import analyze_query
from engine.nodes.graph.generate_answer import generate_answer
from engine.nodes.graph.grade_documents import grade_documents
from engine.nodes.graph.retrieve import retrieve
from engine.nodes.graph.route_query import route_query
from engine.nodes.graph.state import GraphState
from engine.nodes.run_context import RunContext
from engine.policies.graph import outcome_of
from engine.policies.ordering import graph_options
from engine.values import RETRIEVAL_LISTS, Outcome, RunRecord
from engine.workflows.binding import node

_NODES_A_ROUND = 3

Graph = CompiledStateGraph[GraphState, RunContext, GraphState, GraphState]


def build() -> Graph:
    """The compiled graph; every conditional edge has an explicit target map, so a drawing made from it is the truth."""
    graph = StateGraph(GraphState, context_schema=RunContext)
    graph.add_node("analyze_query", node("analyze_query", analyze_query))
    graph.add_node("route_query", node("route_query", route_query))
    graph.add_node("retrieve", node("retrieve", retrieve))
    graph.add_node(
        "grade_documents",
        node("grade_documents", grade_documents),
    )
    graph.add_node("refine_query", node("refine_query", rewrite.rewrite))
    graph.add_node("generate_answer", node("generate_answer", generate_answer))
    graph.add_edge(START, "analyze_query")
    graph.add_edge("analyze_query", "route_query")
    graph.add_conditional_edges("route_query", _route, _to("retrieve", "generate_answer"))
    graph.add_edge("retrieve", "grade_documents")
    targets = {**_to("refine_query", "generate_answer"), "end": END}
    graph.add_conditional_edges("grade_documents", _route, targets)
    graph.add_edge("refine_query", "retrieve")
    graph.add_edge("generate_answer", END)
    return graph.compile()


def initial_state(question: str) -> GraphState:
    return GraphState(question=question, query=question, rounds=(), rewrites=())


def recursion_limit(config: RunConfig) -> int:
    """Steps a run can take at most: two before the rounds, three per round, one generation, one to spare (SC-13)."""
    return 2 + _NODES_A_ROUND * (config.max_rewrites + 1) + 2


def worst_case_calls(config: RunConfig) -> int:
    """Chat-model calls of the longest possible run, retries apart: analysis, scores, judgements, rewrites, answer."""
    rounds, options = config.max_rewrites + 1, graph_options(config)
    graded = _probed(config) if config.grade_probe else config.top_k
    if config.models.reranker.built_in and options.rerank != "never":
        # The grader scores the rerank window, and what it judged there it does not judge again.
        graded = max(graded, min(options.rerank_k, _probed(config)))
    calls: dict[RoleName, int] = {
        "router": 1,
        "reranker": 0 if options.rerank == "never" else min(options.rerank_k, _probed(config)) * rounds,
        "grader": graded * rounds,
        # Each with the one retry that a repeated query gets.
        "rewriter": 2 * config.max_rewrites,
        "generator": 1,
    }
    if config.models.reranker.model.startswith(CROSS_ENCODER):
        calls["reranker"] = 0
    return sum(count for role, count in calls.items() if not config.models.of(role).built_in)


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """By the last decision and by what the generator was given."""
    return outcome_of(record), record.decisions[-1].reason


def _probed(config: RunConfig) -> int:
    """Passages of a round at most: every list may bring others."""
    return config.fetch_k * len(RETRIEVAL_LISTS)


def _route(state: GraphState) -> str:
    return state["decision"].route


def _to(*nodes: str) -> dict[Any, str]:
    return {name: name for name in nodes}
