"""The step that judges the answer: does it solve the question, and what then (DL-04)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.builtin.direct import without_markers
from engine.errors import ModelError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import Decided, Evaluated
from engine.model.language import language_of
from engine.model.values import Context, Draft, Evaluation, Excerpt
from engine.roles import EvaluationRequest
from engine.workflows.answer_evaluation.policy import excerpts
from engine.workflows.dual_loop.policy import decide_answer, settled
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import evidence_of, let_best_stand

_NODE = "grade_relevance"


async def grade_relevance(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Judge the newest answer against the question; where no correction follows, the best answer stands."""
    drafts: tuple[Draft, ...] = state["drafts"]
    if not state["writer_failed"]:
        evaluation, seen = await _evaluate(state["question"], drafts[-1], state["contexts"][-1], run, trace)
        drafts = (*drafts[:-1], replace(drafts[-1], evaluation=evaluation, seen=seen))
    decision = decide_answer(evidence_of(state, run, drafts=drafts), run.config)
    run.emit(Decided(decision=decision))
    changed = {"drafts": drafts, "decision": decision, "is_relevant": decision.reason == "answer_relevant"}
    if decision.route == "consolidate_memory" and decision.reason != "answer_relevant":
        return {**changed, "response": let_best_stand(run, drafts, state["contexts"])}
    return changed


async def _evaluate(
    question: str, draft: Draft, context: Context, run: RunContext, trace: NodeTrace
) -> tuple[Evaluation | None, tuple[Excerpt, ...]]:
    """The judgement with what the evaluator saw; None with a warning where there is none, and the answer stands."""
    if run.clock.left_s() <= 0:
        return None, ()
    seen = excerpts(context.passages, run.config.top_k)
    shown = tuple(replace(passage, text=item.text) for passage, item in zip(context.passages, seen, strict=False))
    request = EvaluationRequest(
        question=question,
        # Markers from memory point to passages that this run did not search, and that no one can hold them against.
        answer=without_markers(draft.text) if draft.direct else draft.text,
        passages=shown,
        language=language_of(question),
        aim="relevance",
        unseen=len(context.passages) - len(shown),
        removed_markers=draft.removed_markers,
    )
    try:
        async with run.within(run.clock.left_s()):
            evaluation = settled(await own_roles(run, DualRoles).evaluator.evaluate(request, trace))
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "evaluator"), seconds=run.config.budget_s), _NODE)
        return None, ()
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
        return None, ()
    run.emit(Evaluated(draft=draft.index, evaluation=evaluation, seen=seen))
    return evaluation, seen
