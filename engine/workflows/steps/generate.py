"""The generate step: assemble the context, answer from it, resolve the citations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from engine.builtin.abstain import abstained_answer
from engine.builtin.strips import around_as, read_as
from engine.errors import ModelError
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.decide import open_parts
from engine.model.events import AnswerCompleted, ContextAssembled
from engine.model.language import language_of
from engine.model.surroundings import texts_around
from engine.model.values import Round
from engine.retrieval.assemble import assemble, gap_for
from engine.retrieval.citations import StreamedCitations
from engine.roles import GenerationRequest
from engine.workflows.steps.citing import CitationsT, Citing
from engine.workflows.steps.refine import refined_strips
from engine.workflows.steps.surround import surroundings


async def generate(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer from what passed; abstain honestly where nothing did (SC-07).

    After the deadline this one generation has a reserved allowance of its own, and nothing else runs.
    """
    rounds: tuple[Round, ...] = state["rounds"]
    generator = run.roles.generator
    read = await surroundings(state, run, trace)
    cut, gap = await refined_strips(state, read, run, trace), gap_for(run.config)
    context = assemble(rounds, run.config, generator.context_tokens, generator.count_tokens, cut, surroundings=read)
    run.emit(ContextAssembled(context=context))
    if not context.passages:
        run.emit(AnswerCompleted(answer=abstained_answer(state["question"], rounds)))
        return {}
    trace.limit_s = max(run.clock.left_s(), run.generation_allowance_s)
    trace.began_s = run.clock.elapsed_s()
    around = texts_around(context, rounds, read)
    citing = Citing(trace, StreamedCitations(context.passages, around))
    request = GenerationRequest(
        question=state["question"],
        passages=tuple(read_as(item, cut, gap) for item in context.passages),
        language=language_of(state["question"]),
        verified=context.verified,
        around=around_as(around, cut, gap),
        open_parts=open_parts(rounds, run.config),
    )
    await answered(generator.generate(request, citing), citing, run, _complete)
    return {}


async def answered(
    writing: Awaitable[str],
    citing: Citing[CitationsT],
    run: RunContext,
    complete: Callable[[Citing[CitationsT], RunContext, str | None], str],
) -> None:
    """Let an answer be written; what had arrived stays in the record, no matter what ended the writing."""
    model, trace = model_of(run, "generator"), citing.trace
    try:
        async with run.within(trace.limit_s):
            text = await writing
    except TimeoutError:
        complete(citing, run, None)
        raise ModelError.answer_late(model=model, seconds=round(trace.limit_s or 0.0, 1)) from None
    except BaseException:
        complete(citing, run, None)
        raise
    # Markers that point nowhere are taken out, and what is left without them may be nothing.
    if not complete(citing, run, text).strip():
        raise ModelError.empty_reply(model=model)
    if trace.cut is not None:
        run.warn(trace.cut, trace.node)


def _complete(citing: Citing[StreamedCitations], run: RunContext, text: str | None) -> str:
    """The text as the record has it."""
    made = citing.complete(text).answer
    if citing.citations.raw:
        run.emit(AnswerCompleted(answer=made.text, citations=made.citations, removed_markers=made.removed))
    return made.text
