"""Steps of the answer: one without a search, one from the documents that passed, and its judgement (DL-04)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.builtin.direct import cited_passages, direct_answer, without_markers
from engine.errors import ModelError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import AnswerBegun, AnswerCompleted, ContextAssembled, Decided, Evaluated
from engine.model.language import language_of
from engine.model.surroundings import texts_around
from engine.model.values import Around, Context, Draft, Evaluation, Excerpt, Passage, PassageId
from engine.retrieval.assemble import assemble
from engine.retrieval.citations import ResolvedAnswer, StreamedCitations
from engine.roles import DirectRequest, GenerationRequest
from engine.workflows.answer_evaluation.policy import evaluation_request, excerpts
from engine.workflows.dual_loop.policy import decide_answer, settled
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import drafted, evidence_of, let_best_stand, read_for
from engine.workflows.steps.citing import Citing
from engine.workflows.steps.surround import surroundings

_NODE = "direct_response"
_GENERATE = "generate_response"
_GRADE = "grade_relevance"


async def direct_response(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer from memories that hold; where the model fails, the built-in words stand in for it."""
    question = state["question"]
    request = DirectRequest(question, state["recall"].holding, language_of(question))
    context = Context(())
    run.emit(ContextAssembled(context=context))
    trace.limit_s = max(run.clock.left_s(), run.generation_allowance_s)
    trace.began_s = run.clock.elapsed_s()
    # Markers of a memory stay: they name the passages that its own run cited.
    citing = Citing(trace, StreamedCitations(cited_passages(request)))
    text = await _said(request, run, citing)
    if text is None:
        if trace.text:
            run.emit(AnswerBegun(draft=0))
        citing.citations.restart()
        text = direct_answer(request)
        citing.token(text)
    resolved = citing.complete(text).answer
    draft = Draft(0, resolved.text, resolved.citations, resolved.removed, direct=True)
    return drafted(run, state, draft, context)


async def _said(request: DirectRequest, run: RunContext, citing: Citing[StreamedCitations]) -> str | None:
    """The model's answer; None with a warning where there is none."""
    model, limit_s = model_of(run, "generator"), citing.trace.limit_s
    try:
        async with run.within(limit_s):
            text = await own_roles(run, DualRoles).direct.answer(request, citing)
    except TimeoutError:
        run.warn(ModelError.answer_late(model=model, seconds=round(limit_s or 0.0, 1)), _NODE)
        return None
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
        return None
    if not text.strip():
        run.warn(ModelError.empty_reply(model=model), _NODE)
        return None
    return text


async def generate_response(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer the question as asked from what passed; the first answer has the reserved allowance after the deadline.

    Where a later answer comes to nothing, the ones before it stand; where the first does, the run has failed.
    """
    drafts: tuple[Draft, ...] = state["drafts"]
    generator = run.roles.generator
    read = await surroundings(state, run, trace)
    context = assemble(state["rounds"], run.config, generator.context_tokens, generator.count_tokens, surroundings=read)
    run.emit(ContextAssembled(context=context))
    allowed_s = run.clock.left_s() if drafts else max(run.clock.left_s(), run.generation_allowance_s)
    trace.limit_s, trace.began_s = max(0.0, allowed_s), run.clock.elapsed_s()
    trace.draft = len(drafts)
    if drafts:
        run.emit(AnswerBegun(draft=len(drafts)))
    around = texts_around(context, state["rounds"], read)
    citing = Citing(trace, StreamedCitations(context.passages, around))
    try:
        draft = await _written(state, context, around, run, citing)
    except WorkbenchError as failure:
        _fall_back_on(state, run, citing)
        if not drafts:
            raise
        run.warn(failure, _GENERATE)
        return {"writer_failed": True, "surroundings": read}
    except BaseException:
        # What had arrived stays in the record, no matter what ended the writing.
        _fall_back_on(state, run, citing)
        raise
    if trace.cut is not None:
        run.warn(trace.cut, _GENERATE)
    return {**drafted(run, state, draft, context), "surroundings": read}


async def _written(
    state: Mapping[str, Any],
    context: Context,
    around: Mapping[PassageId, Around],
    run: RunContext,
    citing: Citing[StreamedCitations],
) -> Draft:
    """One answer; every way in which none comes about is an error of ours."""
    model, limit_s = model_of(run, "generator"), citing.trace.limit_s or 0.0
    if not limit_s:
        raise ModelError.budget_spent(model=model, seconds=run.config.budget_s)
    question = state["question"]
    request = GenerationRequest(
        question, context.passages, language_of(question), verified=context.verified, around=around
    )
    try:
        async with run.within(limit_s):
            text = await run.roles.generator.generate(request, citing)
    except TimeoutError:
        raise ModelError.answer_late(model=model, seconds=round(limit_s, 1)) from None
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
        run.emit(AnswerCompleted.of(state["drafts"][-1]))
    elif citing.citations.raw:
        run.emit(AnswerCompleted.of(_draft(state, citing.complete().answer)))


async def grade_relevance(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Judge the newest answer against the question; where no correction follows, the best answer stands."""
    drafts: tuple[Draft, ...] = state["drafts"]
    if not state["writer_failed"]:
        evaluation, seen = await _evaluate(state["question"], drafts[-1], read_for(state, -1), run, trace)
        drafts = (*drafts[:-1], replace(drafts[-1], evaluation=evaluation, seen=seen))
    decision = decide_answer(evidence_of(state, run, drafts=drafts), run.config)
    run.emit(Decided(decision=decision))
    changed = {"drafts": drafts, "decision": decision, "is_relevant": decision.reason == "answer_relevant"}
    if decision.route == "consolidate_memory" and decision.reason != "answer_relevant":
        return {**changed, "response": let_best_stand(run, drafts, state["contexts"])}
    return changed


async def _evaluate(
    question: str, draft: Draft, passages: Sequence[Passage], run: RunContext, trace: NodeTrace
) -> tuple[Evaluation | None, tuple[Excerpt, ...]]:
    """The judgement with what the evaluator saw; None with a warning where there is none, and the answer stands."""
    if run.clock.left_s() <= 0:
        return None, ()
    seen = excerpts(passages, run.config.top_k)
    # Markers from memory point to passages that this run did not search, and that no one can hold them against.
    answer = without_markers(draft.text) if draft.direct else draft.text
    request = evaluation_request(question, answer, draft, passages, seen, aim="relevance")
    try:
        async with run.within(run.clock.left_s()):
            evaluation = settled(await own_roles(run, DualRoles).evaluator.evaluate(request, trace))
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "evaluator"), seconds=run.config.budget_s), _GRADE)
        return None, ()
    except WorkbenchError as failure:
        run.warn(failure, _GRADE)
        return None, ()
    run.emit(Evaluated(draft=draft.index, evaluation=evaluation, seen=seen))
    return evaluation, seen
