"""Reranking the best passages, inside the retrieve step (GH-04)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.errors import ModelError, UnreadableReply, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import Fused, PassageGraded, Reranked
from engine.model.values import Passage, PassageId, Round, Verdict
from engine.retrieval.ordering import rerank_window, reranks, rescored
from engine.workflows.graph_hybrid.roles import GraphRoles
from engine.workflows.steps.heard import Heard


async def rescored_round(
    opened: Round, former: Sequence[Round], state: Mapping[str, Any], run: RunContext, trace: NodeTrace
) -> Round:
    """The round with the passages of the rerank window in their new order; as it is where the mode does not rerank.

    The built-in reranker is the run's grader, so what it judges here is not judged again by ``grade_documents``, and
    what former rounds judged is not asked again here. A reranker that fails leaves the order as it was, and says so.
    """
    if not reranks(state["mode"], run.config):
        return opened
    window = rerank_window(opened.candidates, run.config)
    if not window or run.clock.left_s() <= 0:
        return opened
    shared = run.config.models.reranker.built_in
    known = _known(former) if shared else {}
    reused = {item.passage.id: known[item.passage.id] for item in window if item.passage.id in known}
    for passage_id, verdict in reused.items():
        run.emit(PassageGraded(round=opened.index, passage_id=passage_id, verdict=verdict, reused=True))
    asked = [item.passage for item in window if item.passage.id not in reused]
    judged, whole = await _reranked(state["question"], asked, run, trace)
    if whole and not shared and any(_unscored(judged.get(passage.id)) for passage in asked):
        # These come last because nothing is known of them, and their verdicts are shown nowhere.
        run.warn(UnreadableReply(model=_judge_of(run)), trace.node)
    if shared:
        opened = replace(opened, verdicts={**reused, **judged}, reused=tuple(reused))
    # Where only some were judged, an order by their scores would put these above the others for no reason.
    scores = _scores({**reused, **judged}) if whole else {}
    candidates = rescored(opened.candidates, scores, run.config)
    order = tuple(item.passage.id for item in candidates if item.rerank_score is not None)
    if not order:
        return opened
    run.emit(Fused(round=opened.index, candidates=candidates))
    run.emit(Reranked(round=opened.index, order=order))
    return replace(opened, candidates=candidates, reranked=order)


async def _reranked(
    question: str, passages: Sequence[Passage], run: RunContext, trace: NodeTrace
) -> tuple[dict[PassageId, Verdict], bool]:
    """Verdicts by passage, and whether they are all that were asked for."""
    if not passages:
        return {}, True
    heard = Heard(trace, tell=run.config.models.reranker.built_in)
    asked = {passage.id for passage in passages}
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            ranked = await own_roles(run, GraphRoles).reranker.rerank(question, passages, heard)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=_judge_of(run), seconds=run.config.budget_s), trace.node)
        return heard.verdicts, False
    except WorkbenchError as failure:
        run.warn(failure, trace.node)
        return heard.verdicts, False
    judged = {passage.id: verdict for passage, verdict in ranked if passage.id in asked}
    for passage_id, verdict in judged.items():
        # A reranker that scores all passages in one go may have told the trace nothing yet.
        if heard.verdicts.get(passage_id) != verdict:
            heard.verdict(passage_id, verdict)
    return judged, True


def _judge_of(run: RunContext) -> str:
    own = run.config.models.reranker
    return model_of(run, "grader") if own.built_in else own.model


def _known(rounds: Sequence[Round]) -> dict[PassageId, Verdict]:
    return {
        passage_id: verdict
        for item in rounds
        for passage_id, verdict in item.verdicts.items()
        if verdict.relevant is not None
    }


def _unscored(verdict: Verdict | None) -> bool:
    return verdict is None or verdict.relevant is None


def _scores(verdicts: Mapping[PassageId, Verdict]) -> dict[PassageId, float]:
    """P(relevant) of what could be read, in [0, 1] no matter what an implementation that breaks its contract gave."""
    readable = {name: item.p_relevant for name, item in verdicts.items() if item.relevant is not None}
    return {
        name: round(min(1.0, max(0.0, value)), 9) if math.isfinite(value) else 0.0 for name, value in readable.items()
    }
