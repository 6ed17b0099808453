"""The four-node loop: retrieve → grade → (rewrite → retrieve …) | generate (SC-01)."""

from __future__ import annotations

from engine.model.config import RunConfig
from engine.model.decide import outcome_of
from engine.model.values import Outcome, RunRecord
from engine.replay.replay import Replay
from engine.workflows.flow import END, Flow
from engine.workflows.steps import generate, grade, retrieve, rewrite
from engine.workflows.steps.state import RunState

FLOW = Flow(
    state=RunState,
    steps={
        "retrieve": retrieve.retrieve,
        "grade": grade.grade,
        "rewrite": rewrite.rewrite,
        "generate": generate.generate,
    },
    ways={"retrieve": "grade", "grade": ("rewrite", "generate", END), "rewrite": "retrieve", "generate": END},
    opening=frozenset({"retrieve"}),
    gate="grade",
)

REPLAY = Replay


def initial_state(question: str) -> RunState:
    return RunState(question=question, query=question, rounds=(), rewrites=())


def recursion_limit(config: RunConfig) -> int:
    """Steps a run can take at most: three per round, one generation, and one to spare (SC-13)."""
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
