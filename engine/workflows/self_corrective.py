"""The four-node loop: retrieve → grade → (rewrite → retrieve …) | generate (SPEC SC-01)."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from engine.config import RunConfig
from engine.decide import outcome_of
from engine.nodes import generate, grade, retrieve, rewrite
from engine.nodes.run_context import RunContext
from engine.nodes.state import RunState
from engine.values import Outcome, RunRecord
from engine.workflows.binding import node

Graph = CompiledStateGraph[RunState, RunContext, RunState, RunState]


def build() -> Graph:
    """The compiled graph; its conditional edge has an explicit target map, so a drawing made from it is the truth."""
    graph = StateGraph(RunState, context_schema=RunContext)
    graph.add_node("retrieve", node("retrieve", retrieve.retrieve))
    graph.add_node("grade", node("grade", grade.grade))
    graph.add_node("rewrite", node("rewrite", rewrite.rewrite))
    graph.add_node("generate", node("generate", generate.generate))
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade")
    graph.add_conditional_edges("grade", _route, {"rewrite": "rewrite", "generate": "generate", "end": END})
    graph.add_edge("rewrite", "retrieve")
    graph.add_edge("generate", END)
    return graph.compile()


def initial_state(question: str) -> RunState:
    return RunState(question=question, query=question, rounds=(), rewrites=())


def recursion_limit(config: RunConfig) -> int:
    """Steps a run can take at most: three per round, one generation, and one to spare (SPEC SC-13)."""
    return 3 * (config.max_rewrites + 1) + 2


def worst_case_calls(config: RunConfig) -> int:
    """Chat-model calls of the longest possible run, retries apart: gradings, rewrites with their retry, generation."""
    per_round = config.fetch_k if config.grade_probe else config.top_k
    grading = 0 if config.models.grader.built_in else per_round * (config.max_rewrites + 1)
    rewriting = 0 if config.models.rewriter.built_in else 2 * config.max_rewrites
    return grading + rewriting + (0 if config.models.generator.built_in else 1)


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """By the last decision and by what the generator was given."""
    assert record.context is not None
    last = record.decisions[-1]
    return outcome_of(last, record.context), last.reason


def _route(state: RunState) -> str:
    return state["decision"].route
