"""The generate step: assemble the context, answer from it, resolve the citations."""

from __future__ import annotations

from collections.abc import Mapping
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
from engine.workflows.steps.citing import Citing
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
    try:
        async with run.within(trace.limit_s):
            text = await generator.generate(
                GenerationRequest(
                    question=state["question"],
                    passages=tuple(read_as(item, cut, gap) for item in context.passages),
                    language=language_of(state["question"]),
                    verified=context.verified,
                    around=around_as(around, cut, gap),
                    open_parts=open_parts(rounds, run.config),
                ),
                citing,
            )
    except TimeoutError:
        _complete(citing, run)
        raise ModelError.budget_spent(model=model_of(run, "generator"), seconds=trace.limit_s) from None
    except BaseException:
        # What had arrived stays in the record, no matter what ended the generation.
        _complete(citing, run)
        raise
    # Markers that point nowhere are taken out, and what is left without them may be nothing.
    if not _complete(citing, run, text).strip():
        raise ModelError.empty_reply(model=model_of(run, "generator"))
    if trace.cut is not None:
        run.warn(trace.cut, trace.node)
    return {}


def _complete(citing: Citing[StreamedCitations], run: RunContext, text: str | None = None) -> str:
    """The text as the record has it."""
    made = citing.complete(text).answer
    if citing.citations.raw:
        run.emit(AnswerCompleted(answer=made.text, citations=made.citations, removed_markers=made.removed))
    return made.text
