"""The quality-control loop: question_router → retrieve → fuse → rerank → grade_documents → (rewrite …) | generate.

QL-01 … QL-08. A rewrite leads back to the router, so that what it asks for changes what is searched.
"""

from __future__ import annotations

from engine.model.config import RoleName, RunConfig
from engine.model.values import SOURCE_KINDS, Candidate, Outcome, QualityGrade, QualityIssue, Routing, RunRecord
from engine.workflows.flow import END, Flow
from engine.workflows.quality_loop.policy import outcome_of
from engine.workflows.quality_loop.replay import QualityReplay
from engine.workflows.quality_loop.steps import (
    fuse,
    generate,
    grade_documents,
    question_router,
    rerank,
    retrieve,
    rewrite,
)
from engine.workflows.steps.state import RunState

_NODES_A_ROUND = 6


class QualityState(RunState, total=False):
    """The shared state with the names of the loop's own schema (QL-05)."""

    routing: Routing
    """Of the coming round."""
    fused_results: tuple[Candidate, ...]
    quality_grade: QualityGrade
    quality_score: float
    """The score that routes, in [0, 1]."""
    quality_issues: tuple[QualityIssue, ...]
    retry_count: int
    original_queries: tuple[str, ...]
    """Every query that was rewritten, oldest first."""
    reranker_unavailable: bool
    """The reranker could not be reached in the newest round, after passages had passed."""


FLOW = Flow(
    state=QualityState,
    steps={
        "question_router": question_router.question_router,
        "retrieve": retrieve.retrieve,
        "fuse": fuse.fuse_lists,
        "rerank": rerank.rerank,
        "grade_documents": grade_documents.grade_documents,
        "rewrite": rewrite.rewrite,
        "generate": generate.generate,
    },
    ways={
        "question_router": "retrieve",
        "retrieve": "fuse",
        "fuse": "rerank",
        "rerank": "grade_documents",
        "grade_documents": ("rewrite", "generate", END),
        "rewrite": "question_router",
        "generate": END,
    },
    opening=frozenset({"question_router", "retrieve"}),
    gate="grade_documents",
)

REPLAY = QualityReplay


def initial_state(question: str) -> QualityState:
    return QualityState(
        question=question,
        query=question,
        rounds=(),
        rewrites=(),
        fused_results=(),
        quality_grade="low",
        quality_score=0.0,
        quality_issues=(),
        retry_count=0,
        original_queries=(),
    )


def recursion_limit(config: RunConfig) -> int:
    """Steps a run can take at most: six per round, one generation, and one to spare (SC-13)."""
    return _NODES_A_ROUND * (config.max_rewrites + 1) + 2


def worst_case_calls(config: RunConfig) -> int:
    """Chat-model calls of the longest possible run, retries apart: routings, judgements, rewrites, generation."""
    rounds = config.max_rewrites + 1
    judged = config.fetch_k * len(SOURCE_KINDS) if config.grade_probe else config.top_k
    calls: dict[RoleName, int] = {
        "router": rounds,
        "grader": judged * rounds,
        # Each with the one retry that a repeated query gets.
        "rewriter": 2 * config.max_rewrites,
        "generator": 1,
    }
    return sum(count for role, count in calls.items() if not config.models.of(role).built_in)


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """By the last decision and by what the generator was given."""
    assert record.context is not None
    last = record.decisions[-1]
    return outcome_of(last, record.context), last.reason
