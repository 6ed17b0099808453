"""Cutting of passages before an answer is written from them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.builtin.refiner import BuiltinRefiner
from engine.errors import ModelError, UnreadableReply, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.values import Round
from engine.retrieval.assemble import Cut, assemble
from engine.roles import NO_LIMIT, RefineRequest


async def refined_strips(
    question: str, rounds: Sequence[Round], run: RunContext, trace: NodeTrace, names: Sequence[str] = ()
) -> Cut:
    """Strips of the passages that are cut before they are given to the generator; a failure leaves passages whole."""
    passages = assemble(rounds, run.config, NO_LIMIT, len).passages if run.config.refine else ()
    if not passages:
        return {}
    request = RefineRequest(question, passages, run.config.sentence_threshold, tuple(names))
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            said = await (run.roles.refiner or BuiltinRefiner()).refine(request, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "refiner"), seconds=run.config.budget_s), trace.node)
        return {}
    except WorkbenchError as failure:
        run.warn(failure, trace.node)
        return {}
    if any(strips is None for strips in said.values()):
        run.warn(UnreadableReply(model=model_of(run, "refiner")), trace.node)
    return {name: strips for name, strips in said.items() if strips is not None}
