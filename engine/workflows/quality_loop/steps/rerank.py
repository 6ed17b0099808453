"""The rerank step: a calibrated P(relevant) for every kept passage, and the order that it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.builtin.rerank import by_relevance
from engine.errors import ModelError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.decide import kept_passages, passed_ids
from engine.model.events import PassageGraded, Reranked
from engine.model.values import Passage, PassageId, Round, Verdict
from engine.workflows.quality_loop.policy import deadline_s
from engine.workflows.quality_loop.roles import QualityRoles
from engine.workflows.quality_loop.steps.common import bounded


async def rerank(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Judge what has no readable verdict yet, against the question as asked; verdicts of former rounds stand."""
    rounds: tuple[Round, ...] = state["rounds"]
    current = rounds[-1]
    bounded(run, trace)
    kept = kept_passages(current, run.config)
    wanted = [item.passage for item in current.candidates] if run.config.grade_probe else kept
    known = _known(rounds[:-1])
    reused = [passage.id for passage in wanted if passage.id in known]
    for passage_id in reused:
        run.emit(PassageGraded(round=current.index, passage_id=passage_id, verdict=known[passage_id], reused=True))
    current = replace(current, verdicts={name: known[name] for name in reused}, reused=tuple(reused))
    # Where nothing was searched again, nothing is asked again either.
    fresh = [passage for passage in wanted if passage.id not in known] if current.searched else []
    judged, unavailable = await _judge(state, run, trace, fresh, (*rounds[:-1], current))
    current = replace(current, verdicts={**current.verdicts, **judged})
    order = tuple(passage.id for passage in by_relevance(kept, current.verdicts))
    run.emit(Reranked(round=current.index, order=order))
    current = replace(current, reranked=order)
    return {"rounds": (*rounds[:-1], current), "reranker_unavailable": unavailable}


async def _judge(
    state: Mapping[str, Any], run: RunContext, trace: NodeTrace, passages: Sequence[Passage], rounds: Sequence[Round]
) -> tuple[dict[PassageId, Verdict], bool]:
    """Verdicts by passage, and whether the reranker could not be reached although something has passed already."""
    if not passages or trace.time_left_s() <= 0:
        return {}, False
    try:
        async with run.within(trace.time_left_s()):
            ranked = await own_roles(run, QualityRoles).reranker.rerank(state["question"], passages, trace)
    except TimeoutError:
        # What was judged in time counts; the rest has no verdict, and the deadline decides.
        run.warn(ModelError.budget_spent(model=model_of(run, "grader"), seconds=deadline_s(run.config)), trace.node)
        return dict(trace.verdicts), False
    except ModelError as failure:
        judged = dict(trace.verdicts)
        last = replace(rounds[-1], verdicts={**rounds[-1].verdicts, **judged})
        if not any(passed_ids(item, run.config) for item in (*rounds[:-1], last)):
            raise
        run.warn(failure, trace.node)
        return judged, True
    asked = {passage.id for passage in passages}
    return {passage.id: _reported(passage, verdict, trace) for passage, verdict in ranked if passage.id in asked}, False


def _reported(passage: Passage, verdict: Verdict, trace: NodeTrace) -> Verdict:
    # A reranker that scores all passages in one go may have told the trace nothing yet.
    if trace.verdicts.get(passage.id) != verdict:
        trace.verdict(passage.id, verdict)
    return verdict


def _known(rounds: Sequence[Round]) -> dict[PassageId, Verdict]:
    return {
        passage_id: verdict
        for item in rounds
        for passage_id, verdict in item.verdicts.items()
        if verdict.relevant is not None
    }
