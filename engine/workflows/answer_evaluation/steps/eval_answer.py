"""The evaluating step: judge the newest answer, decide, and keep an observation of one that passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from engine.errors import ModelError, RecordError, RunWarning, UnreadableReply, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.llm.writer_prompts import revision_message
from engine.model.events import Decided, Evaluated
from engine.model.language import language_of
from engine.model.values import Context, Decision, Draft, Evaluation, Excerpt
from engine.roles import EvaluationRequest
from engine.roles.conversation import Revision, newest_answer
from engine.workflows.answer_evaluation.options import gener_epoch
from engine.workflows.answer_evaluation.policy import (
    NODE,
    REVISE,
    EvaluationEvidence,
    decide_evaluation,
    excerpts,
    observation,
    usable,
)
from engine.workflows.answer_evaluation.roles import AnswerRoles

_OBSERVING_S = 5.0
"""Longest wait for one line of a file."""


async def eval_answer(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Judge the newest answer by what an evaluator may see of its passages, and decide (AE-01 to AE-04).

    Where a revision came to nothing there is no new answer to judge, and the last evaluation still holds.
    """
    evaluation: Evaluation | None = state["last_evaluation"]
    if not state["writer_failed"]:
        evaluation = await _evaluate(state, run, trace)
    decision = decide_evaluation(
        EvaluationEvidence(
            rounds=state["rounds"],
            epoch=state["epoch"],
            evaluation=evaluation,
            elapsed_s=run.clock.elapsed_s(),
            writer_failed=state["writer_failed"],
        ),
        run.config,
    )
    run.emit(Decided(decision=decision))
    changed: dict[str, Any] = {"decision": decision, "last_evaluation": evaluation}
    if decision.route == REVISE and evaluation is not None:
        asked = revision_message(Revision(state["last_answer"], evaluation))
        changed["messages"] = (*state["messages"], asked)
    elif decision.reason == "evaluation_passed":
        await _observe(state, run)
    elif decision.reason == "max_epochs":
        _say_limit(decision, run)
    return changed


async def _evaluate(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> Evaluation | None:
    """The judgement, or None with a warning where there is none; the answer stands either way."""
    if run.clock.left_s() <= 0:
        return None
    context, draft = state["context"], state["draft"]
    seen = excerpts(context.passages, run.config.top_k)
    request = _request(state["question"], newest_answer(state["messages"]), draft, context, seen)
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            evaluation = await own_roles(run, AnswerRoles).evaluator.evaluate(request, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "evaluator"), seconds=run.config.budget_s), NODE)
        return None
    except WorkbenchError as failure:
        run.warn(failure, NODE)
        return None
    if not usable(evaluation):
        # Neither the page nor a revision could make anything of it.
        run.warn(UnreadableReply(model=model_of(run, "evaluator")), NODE)
        return None
    run.emit(Evaluated(draft=draft.index, evaluation=evaluation, seen=seen))
    return evaluation


def _request(
    question: str, answer: str, draft: Draft, context: Context, seen: tuple[Excerpt, ...]
) -> EvaluationRequest:
    shown = tuple(replace(passage, text=item.text) for passage, item in zip(context.passages, seen, strict=False))
    return EvaluationRequest(
        question=question,
        answer=answer,
        passages=shown,
        language=language_of(question),
        unseen=len(context.passages) - len(shown),
        removed_markers=draft.removed_markers,
    )


async def _observe(state: Mapping[str, Any], run: RunContext) -> None:
    """Keep what was retrieved and answered; a run is not lost where that cannot be written."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    made = observation(
        state["question"],
        state["retrieved_nodes_score"],
        answer=state["final_answer"],
        epoch=state["epoch"],
        time=now,
        run_id=run.run_id,
    )
    try:
        async with run.within(_OBSERVING_S):
            await own_roles(run, AnswerRoles).observe(made)
    except TimeoutError:
        run.warn(RecordError.observation_late(seconds=_OBSERVING_S), NODE)
    except WorkbenchError as failure:
        run.warn(failure, NODE)


def _say_limit(decision: Decision, run: RunContext) -> None:
    limit, left = gener_epoch(run.config), int(decision.comparisons[0].value)
    reached = RunWarning.answers_spent(answers=limit, suggestions=left)
    # Whoever reads the log alone must learn of it too (AE-01).
    run.log(f"run {run.run_id}: {reached.fact}")
    run.warn(reached, NODE)
