"""The writing step: send the conversation, and add the answer to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ModelError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import AnswerBegun, AnswerCompleted, Drafted
from engine.model.values import Draft
from engine.retrieval.citations import ResolvedAnswer, StreamedCitations
from engine.workflows.answer_evaluation.roles import AnswerRoles
from engine.workflows.steps.citing import Citing

_NODE = "generate_answer"


async def generate_answer(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Write the first answer, or revise the last one where there are suggestions for it (AE-06, AE-07).

    The first answer has the reserved allowance after the deadline, as every workflow's generation has. A revision has
    what is left of the budget: where it comes to nothing, the answer that it was to revise stands.
    """
    revising = state["last_evaluation"] is not None
    allowed_s = run.clock.left_s() if revising else max(run.clock.left_s(), run.generation_allowance_s)
    trace.limit_s, trace.began_s = max(0.0, allowed_s), run.clock.elapsed_s()
    trace.draft = state["epoch"]
    if revising:
        run.emit(AnswerBegun(draft=state["epoch"]))
    citing = Citing(trace, StreamedCitations(state["context"].passages))
    try:
        draft = await _written(state, run, citing)
    except ModelError as failure:
        if not revising:
            _keep_what_arrived(citing, run)
            raise
        run.warn(failure, _NODE)
        run.emit(_completed(state["draft"]))
        return {"writer_failed": True}
    except BaseException:
        # What had arrived stays in the record, no matter what ended the writing; a revision leaves the earlier answer.
        if revising:
            run.emit(_completed(state["draft"]))
        else:
            _keep_what_arrived(citing, run)
        raise
    run.emit(Drafted(draft=draft))
    run.emit(_completed(draft))
    if trace.truncated_at is not None:
        run.warn(ModelError.answer_cut(model=model_of(run, "generator"), tokens=trace.truncated_at), _NODE)
    return {
        "messages": (*state["messages"], _answer_message(draft.text)),
        "epoch": state["epoch"] + 1,
        "last_answer": draft.text,
        "last_evaluation": None,
        "final_answer": draft.text,
        "draft": draft,
        "writer_failed": False,
    }


async def _written(state: Mapping[str, Any], run: RunContext, citing: Citing[StreamedCitations]) -> Draft:
    """One answer; every way in which none comes about is a ``ModelError``."""
    model, limit_s = model_of(run, "generator"), citing.trace.limit_s or 0.0
    if limit_s <= 0:
        raise ModelError.budget_spent(model=model, seconds=run.config.budget_s)
    try:
        async with run.within(limit_s):
            text = await own_roles(run, AnswerRoles).writer.write(state["messages"], citing)
    except TimeoutError:
        raise ModelError.budget_spent(model=model, seconds=limit_s) from None
    draft = _draft(state["epoch"], citing.complete(text).answer)
    # Markers that point nowhere are taken out, and what is left without them may be nothing.
    if not draft.text.strip():
        raise ModelError.empty_reply(model=model)
    return draft


def _draft(index: int, resolved: ResolvedAnswer) -> Draft:
    return Draft(index, resolved.text, resolved.citations, resolved.removed)


def _completed(draft: Draft) -> AnswerCompleted:
    return AnswerCompleted(answer=draft.text, citations=draft.citations, removed_markers=draft.removed_markers)


def _keep_what_arrived(citing: Citing[StreamedCitations], run: RunContext) -> None:
    if citing.citations.raw:
        run.emit(_completed(_draft(0, citing.complete().answer)))


def _answer_message(text: str) -> Any:
    from langchain_core.messages import AIMessage

    return AIMessage(text)
