"""The answer-evaluation loop: the search of the four-node loop, then answers judged and revised (AE-01 … AE-08)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.flow.declaration import Workflow
from engine.flow.flow import END, Flow, Node, RunState
from engine.messages import N_
from engine.model.later import later
from engine.model.values import Context, Draft, Evaluation, Outcome, RunRecord
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions, gener_epoch
from engine.workflows.answer_evaluation.policy import outcome_of_answer
from engine.workflows.answer_evaluation.steps import after_preparing, eval_answer, generate_answer, prepare
from engine.workflows.steps import nodes
from engine.workflows.steps.grade import grade_step


class AnswerState(RunState, total=False):
    messages: tuple[Any, ...]
    """The writer's conversation, messages of LangChain: rules, question with passages, then answers and revisions."""
    epoch: int
    """Answers completed so far."""
    last_answer: str
    last_evaluation: Evaluation | None
    """Of ``last_answer``; None before its evaluation, or where that failed."""
    final_answer: str
    retrieved_nodes_score: tuple[Mapping[str, Any], ...]
    """See :func:`engine.workflows.answer_evaluation.policy.scores_of`."""
    context: Context
    draft: Draft
    """The newest complete answer with its resolved citations."""
    writer_failed: bool
    """Whether the newest attempt at a revision came to nothing."""


def initial_state(question: str) -> AnswerState:
    """Nothing searched, nothing written; the conversation holds rules and question (AE-01, AE-06)."""
    # Takes long to import.
    from engine.llm.writer_prompts import opening_messages

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


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """Return the outcome by the last decisions about passages and answer, and by what the writer was given."""
    assert record.context is not None
    gate = next(item for item in reversed(record.decisions) if item.node == "grade")
    return outcome_of_answer(gate, record.decisions[-1], record.context)


WORKFLOW = Workflow(
    id="answer_evaluation",
    name=N_("Answer evaluation"),
    title=N_("Answer evaluation · 6 nodes"),
    summary=N_("Searches as the four-node loop does, then has each answer judged and revised."),
    introduction=N_(
        "Passages are found and graded as in the four-node loop. Then an evaluator judges the answer for sense and "
        "evidence, and the generator revises it until nothing is left to suggest."
    ),
    unused=("refine", "sentence_threshold"),
    options=AnswerEvaluationOptions,
    samples={
        "en": (("dc-en-01", ""), ("dm-en-05", ""), ("dc-en-11", ""), ("dc-en-03", ""), ("dc-en-17", "")),
        "zh": (("dc-zh-01", ""), ("dm-zh-03", ""), ("dc-zh-10", ""), ("dc-zh-05", ""), ("dc-zh-17", "")),
    },
    plain_gate=True,
    measures=("pass_rate", "suggestions"),
    tab=N_("Evaluation"),
    drawn_by="components.workflows.answer_evaluation",
    flow=Flow(
        state=AnswerState,
        nodes={
            "retrieve": nodes.RETRIEVE,
            "grade": nodes.grade(grade_step(answering="prepare")),
            "rewrite": nodes.REWRITE,
            "prepare": Node(
                step=prepare,
                name=N_("Prepare"),
                kind="context",
                work=N_("gathers the context"),
                doing=N_("The context is being gathered"),
                lead=N_("prepare"),
                tab="passages",
            ),
            "generate_answer": replace(nodes.answer(generate_answer), lead=N_("write again")),
            "eval_answer": Node(
                step=eval_answer,
                name=N_("Evaluate"),
                kind="evaluate",
                who=N_("The evaluator"),
                work=N_("sense and evidence"),
                doing=N_("The evaluator is judging the answer"),
                tab="loop",
            ),
        },
        ways={
            "retrieve": "grade",
            "grade": ("rewrite", "prepare", END),
            "rewrite": "retrieve",
            "prepare": ("generate_answer", END),
            "generate_answer": "eval_answer",
            "eval_answer": ("generate_answer", END),
        },
        gate="grade",
        routes={"prepare": after_preparing},
    ),
    initial_state=initial_state,
    ending=ending,
    make_roles=later("engine.workflows.answer_evaluation.build_roles:answer_roles"),
    prompts={"generator": "engine.llm.writer_prompts:WRITER_PROMPT_VERSION"},
    replay=later("engine.workflows.answer_evaluation.replay:AnswersReplay"),
    most_answers=gener_epoch,
)
