"""Graph + vector retrieval: analyze_query → route_query → (retrieve → grade_documents …) | generate_answer.

GH-01 … GH-08. ``grade_documents`` is the four-node loop's own grade step, ``refine_query`` its rewrite step.
"""

from __future__ import annotations

from engine.model.config import CROSS_ENCODER, RoleName, RunConfig
from engine.model.values import RETRIEVAL_LISTS, Outcome, RunRecord
from engine.retrieval.ordering import graph_options
from engine.workflows.flow import END, Flow
from engine.workflows.graph_hybrid.policy import outcome_of
from engine.workflows.graph_hybrid.replay import GraphReplay
from engine.workflows.graph_hybrid.steps.analyze_query import analyze_query
from engine.workflows.graph_hybrid.steps.generate_answer import generate_answer
from engine.workflows.graph_hybrid.steps.grade_documents import grade_documents
from engine.workflows.graph_hybrid.steps.retrieve import retrieve
from engine.workflows.graph_hybrid.steps.route_query import route_query
from engine.workflows.graph_hybrid.steps.state import GraphState
from engine.workflows.steps import rewrite

_NODES_A_ROUND = 3

FLOW = Flow(
    state=GraphState,
    steps={
        "analyze_query": analyze_query,
        "route_query": route_query,
        "retrieve": retrieve,
        "grade_documents": grade_documents,
        "refine_query": rewrite.rewrite,
        "generate_answer": generate_answer,
    },
    ways={
        "analyze_query": "route_query",
        "route_query": ("retrieve", "generate_answer"),
        "retrieve": "grade_documents",
        "grade_documents": ("refine_query", "generate_answer", END),
        "refine_query": "retrieve",
        "generate_answer": END,
    },
    opening=frozenset({"retrieve"}),
    gate="grade_documents",
)

REPLAY = GraphReplay


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
