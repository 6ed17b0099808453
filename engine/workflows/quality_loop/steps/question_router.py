"""The question_router step: which source kinds are searched, and with what share (QL-03)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.builtin.source_router import everywhere, routed
from engine.errors import ModelError, StoreError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import Routed
from engine.model.values import Round, Routing, SourceKind
from engine.roles import RoutingRequest
from engine.workflows.quality_loop.policy import bar_warnings, deadline_s, score_ceiling
from engine.workflows.quality_loop.roles import QualityRoles
from engine.workflows.quality_loop.steps.common import bounded, nothing_new


async def question_router(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Ask the router; where it fails, answers nonsense or has no time left, the built-in one stands in for it.

    A rewrite that repeated itself or failed changes nothing, so the former routing stands unasked.
    """
    rounds: tuple[Round, ...] = state["rounds"]
    former = rounds[-1].routing if rounds else None
    left_s = bounded(run, trace)
    if former is not None and (nothing_new(state) or left_s <= 0):
        routing = former
    else:
        request = RoutingRequest(state["question"], state["query"], await _kinds(state, run, trace))
        routing = await _routing(request, run, trace)
        if not rounds:
            # A router sets shares; what there is to be found is not known before everything was looked at once.
            routing = replace(routing, shares=everywhere(routing.shares, request.kinds))
            warn_of_the_bar(run, request.kinds, routing)
    run.emit(Routed(round=len(rounds), routing=routing))
    return {"routing": routing}


def warn_of_the_bar(run: RunContext, kinds: tuple[SourceKind, ...], routing: Routing) -> None:
    """Say before anything is searched that the bar is out of reach, of every round or of this one (QL-08)."""
    for warning in bar_warnings(score_ceiling(run.config, kinds, routing), run.config):
        run.warn(warning, "question_router")


async def _kinds(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> tuple[SourceKind, ...]:
    """Kinds that the collection has; ``vector`` where that cannot be learned after a first round, or in time."""
    try:
        async with run.within(trace.time_left_s()):
            return await own_roles(run, QualityRoles).retriever.kinds(state["question"]) or ("vector",)
    except TimeoutError:
        run.warn(StoreError.slow(seconds=deadline_s(run.config)), trace.node)
    except WorkbenchError as failure:
        if not state["rounds"]:
            raise
        run.warn(failure, trace.node)
    return ("vector",)


async def _routing(request: RoutingRequest, run: RunContext, trace: NodeTrace) -> Routing:
    try:
        async with run.within(trace.time_left_s()):
            answered = await own_roles(run, QualityRoles).router.route(request, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "router"), seconds=deadline_s(run.config)), trace.node)
    except ModelError as failure:
        run.warn(failure, trace.node)
    else:
        return usable(answered, request) or routed(request)
    return routed(request)


def usable(routing: Routing, request: RoutingRequest) -> Routing | None:
    """A routing of kinds there are, shares summing to 1, with a query to search; None where nothing of it can be used.

    A router that breaks its contract must not be able to stop or to blind a run.
    """
    shares = {
        kind: share
        for kind, share in routing.shares.items()
        if kind in request.kinds and math.isfinite(share) and share > 0
    }
    # Not fsum, which raises where the plain sum is only infinite.
    total = sum(shares.values())
    if not total or not math.isfinite(total):
        return None
    return Routing(
        query=routing.query if routing.query.strip() else request.query,
        shares={kind: share / total for kind, share in shares.items()},
        wide=routing.wide,
        code=routing.code,
        reason=routing.reason,
        missing=routing.missing,
        history_query=routing.history_query,
    )
