"""Cutting of passages before an answer is written from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.builtin.refiner import BuiltinRefiner
from engine.errors import ModelError, UnreadableReply, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.surroundings import texts_around
from engine.model.values import Round, Surrounding
from engine.retrieval.assemble import Cut, assemble
from engine.roles import NO_LIMIT, RefineRequest


async def refined_strips(
    state: Mapping[str, Any],
    surroundings: Sequence[Surrounding] | None,
    run: RunContext,
    trace: NodeTrace,
    names: Sequence[str] = (),
) -> Cut:
    """Strips of passages, and of what surrounds them, that are cut for the generator; a failure leaves them whole."""
    rounds: tuple[Round, ...] = state.get("rounds", ())
    if not run.config.refine:
        return {}
    wanted = assemble(rounds, run.config, NO_LIMIT, len, surroundings=surroundings)
    near = [item.as_passage() for each in texts_around(wanted, rounds, surroundings).values() for item in each.every]
    passages = (*wanted.passages, *near)
    if not passages:
        return {}
    around = frozenset(item.id for item in near)
    request = RefineRequest(state["question"], passages, run.config.sentence_threshold, tuple(names), around)
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
    return {name: strips for name, strips in said.items() if strips and not all(item.kept for item in strips)}
