"""The answer-evaluation loop: the search of the four-node loop, then answers judged and revised (AE-01 … AE-08)."""

from __future__ import annotations

from engine.llm.writer_prompts import opening_messages
from engine.model.config import RunConfig
from engine.model.values import Outcome, RunRecord
from engine.workflows.answer_evaluation.policy import gener_epoch, outcome_of_answer
from engine.workflows.answer_evaluation.replay import AnswersReplay
from engine.workflows.answer_evaluation.steps.eval_answer import eval_answer
from engine.workflows.answer_evaluation.steps.generate_answer import generate_answer
from engine.workflows.answer_evaluation.steps.prepare import after_preparing, prepare
from engine.workflows.answer_evaluation.steps.state import AnswerState
from engine.workflows.flow import END, Flow
from engine.workflows.steps import retrieve, rewrite
from engine.workflows.steps.grade import grade_step

FLOW = Flow(
    state=AnswerState,
    steps={
        "retrieve": retrieve.retrieve,
        "grade": grade_step(answering="prepare"),
        "rewrite": rewrite.rewrite,
        "prepare": prepare,
        "generate_answer": generate_answer,
        "eval_answer": eval_answer,
    },
    ways={
        "retrieve": "grade",
        "grade": ("rewrite", "prepare", END),
        "rewrite": "retrieve",
        "prepare": ("generate_answer", END),
        "generate_answer": "eval_answer",
        "eval_answer": ("generate_answer", END),
    },
    opening=frozenset({"retrieve"}),
    gate="grade",
    routes={"prepare": after_preparing},
)

REPLAY = AnswersReplay


def initial_state(question: str) -> AnswerState:
    """Nothing searched, nothing written; the conversation holds rules and question (AE-01, AE-06)."""
    return AnswerState(
        question=question,
        query=question,
        rounds=(),
        rewrites=(),
        messages=opening_messages(question),
        epoch=0,
        last_answer="",
        last_evaluation=None,
        final_answer="",
        retrieved_nodes_score=(),
        writer_failed=False,
    )


def recursion_limit(config: RunConfig) -> int:
    """Steps a run can take at most: three per round, preparing, two per answer, and one to spare (SC-13)."""
    return 3 * (config.max_rewrites + 1) + 1 + 2 * gener_epoch(config) + 1


def worst_case_calls(config: RunConfig) -> int:
    """Chat-model calls of the longest possible run, retries apart: gradings, rewrites, answers, evaluations."""
    per_round = config.fetch_k if config.grade_probe else config.top_k
    grading = 0 if config.models.grader.built_in else per_round * (config.max_rewrites + 1)
    rewriting = 0 if config.models.rewriter.built_in else 2 * config.max_rewrites
    writing = 0 if config.models.generator.built_in else gener_epoch(config)
    evaluating = 0 if config.models.evaluator.built_in else gener_epoch(config)
    return grading + rewriting + writing + evaluating


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """By the last decisions about passages and answer, and by what the writer was given."""
    assert record.context is not None
    gate = next(item for item in reversed(record.decisions) if item.node == "grade")
    return outcome_of_answer(gate, record.decisions[-1], record.context)
