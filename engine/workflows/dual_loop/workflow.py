"""The dual loop: search strategies in turn within, corrections of the answer around them (DL-01)."""

from __future__ import annotations

from engine.model.config import RunConfig
from engine.model.values import STRATEGIES, Outcome, RunRecord
from engine.workflows.dual_loop.policy import dual_options, outcome_of
from engine.workflows.dual_loop.replay import DualReplay
from engine.workflows.dual_loop.steps.consolidate_memory import consolidate_memory
from engine.workflows.dual_loop.steps.direct_response import direct_response
from engine.workflows.dual_loop.steps.generate_response import generate_response
from engine.workflows.dual_loop.steps.grade_documents import grade_documents
from engine.workflows.dual_loop.steps.grade_relevance import grade_relevance
from engine.workflows.dual_loop.steps.retrieve_documents import retrieve_documents
from engine.workflows.dual_loop.steps.retrieve_memory import retrieve_memory
from engine.workflows.dual_loop.steps.rewrite_query import rewrite_query
from engine.workflows.dual_loop.steps.route_query import route_query
from engine.workflows.dual_loop.steps.state import DualState
from engine.workflows.flow import END, Flow

FLOW = Flow(
    state=DualState,
    steps={
        "retrieve_memory": retrieve_memory,
        "route_query": route_query,
        "rewrite_query": rewrite_query,
        "retrieve_documents": retrieve_documents,
        "grade_documents": grade_documents,
        "generate_response": generate_response,
        "direct_response": direct_response,
        "grade_relevance": grade_relevance,
        "consolidate_memory": consolidate_memory,
    },
    ways={
        "retrieve_memory": "route_query",
        "route_query": ("direct_response", "rewrite_query"),
        "rewrite_query": "retrieve_documents",
        "retrieve_documents": "grade_documents",
        "grade_documents": ("generate_response", "retrieve_documents", END),
        "generate_response": "grade_relevance",
        "direct_response": "grade_relevance",
        "grade_relevance": ("consolidate_memory", "rewrite_query"),
        "consolidate_memory": END,
    },
    opening=frozenset({"retrieve_documents"}),
    gate="grade_documents",
)

REPLAY = DualReplay


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

    One for remembering and one to spare (SC-13, DL-04).
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
