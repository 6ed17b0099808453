"""The writing step: an answer from the documents that passed, as a draft to be judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ModelError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.events import AnswerBegun, ContextAssembled
from engine.model.language import language_of
from engine.model.values import Context, Draft
from engine.retrieval.assemble import assemble
from engine.retrieval.citations import ResolvedAnswer, StreamedCitations
from engine.roles import GenerationRequest
from engine.workflows.dual_loop.steps.parts import completed, drafted
from engine.workflows.steps.citing import Citing

_NODE = "generate_response"


async def generate_response(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer the question as asked from what passed; the first answer has the reserved allowance after the deadline.

    Where a later answer comes to nothing, the ones before it stand; where the first does, the run has failed.
    """
    drafts: tuple[Draft, ...] = state["drafts"]
    generator = run.roles.generator
    context = assemble(state["rounds"], run.config, generator.context_tokens, generator.count_tokens)
    run.emit(ContextAssembled(context=context))
    allowed_s = run.clock.left_s() if drafts else max(run.clock.left_s(), run.generation_allowance_s)
    trace.limit_s, trace.began_s = max(0.0, allowed_s), run.clock.elapsed_s()
    trace.draft = len(drafts)
    if drafts:
        run.emit(AnswerBegun(draft=len(drafts)))
    citing = Citing(trace, StreamedCitations(context.passages))
    try:
        draft = await _written(state, context, run, citing)
    except WorkbenchError as failure:
        _fall_back_on(state, run, citing)
        if not drafts:
            raise
        run.warn(failure, _NODE)
        return {"writer_failed": True}
    except BaseException:
        # What had arrived stays in the record, no matter what ended the writing.
        _fall_back_on(state, run, citing)
        raise
    if trace.truncated_at is not None:
        run.warn(ModelError.answer_cut(model=model_of(run, "generator"), tokens=trace.truncated_at), _NODE)
    return drafted(run, state, draft, context)


async def _written(
    state: Mapping[str, Any], context: Context, run: RunContext, citing: Citing[StreamedCitations]
) -> Draft:
    """One answer; every way in which none comes about is an error of ours."""
    model, limit_s = model_of(run, "generator"), citing.trace.limit_s or 0.0
    if not limit_s:
        raise ModelError.budget_spent(model=model, seconds=run.config.budget_s)
    question = state["question"]
    request = GenerationRequest(question, context.passages, language_of(question), verified=context.verified)
    try:
        async with run.within(limit_s):
            text = await run.roles.generator.generate(request, citing)
    except TimeoutError:
        raise ModelError.budget_spent(model=model, seconds=limit_s) from None
    draft = _draft(state, citing.complete(text).answer)
    if not draft.text.strip():
        # Also where it was nothing but markers that point nowhere.
        raise ModelError.empty_reply(model=model)
    return draft


def _draft(state: Mapping[str, Any], resolved: ResolvedAnswer) -> Draft:
    place, attempt = len(state["drafts"]), state["correction_attempts"]
    return Draft(place, resolved.text, resolved.citations, resolved.removed, attempt)


def _fall_back_on(state: Mapping[str, Any], run: RunContext, citing: Citing[StreamedCitations]) -> None:
    """The answer before this one, where there is one; else what had arrived."""
    if state["drafts"]:
        run.emit(ContextAssembled(context=state["contexts"][-1]))
        run.emit(completed(state["drafts"][-1]))
    elif citing.citations.raw:
        run.emit(completed(_draft(state, citing.complete().answer)))
