"""The routing step: an answer at once, or which search first. It decides and never searches (DL-02)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.builtin.strategy_router import choose
from engine.errors import ModelError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import Decided, RouteChosen
from engine.model.values import RouteChoice, Strategy
from engine.roles import StrategyRequest
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import Skip, decide_route, first_strategy, skips, usable_strategies
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import MEMORY_S, at_most_s

_NODE = "route_query"


async def route_query(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Choose how the run begins, and start ``tried_routes``; the built-in router stands in for one that fails."""
    skipped = await _skipped(run)
    usable = usable_strategies(skipped)
    request = StrategyRequest(state["question"], state["recall"].holding, usable)
    choice = await _chosen(request, run, trace)
    if choice.route != "direct":
        choice = replace(choice, route=first_strategy(choice, usable))
    decision = decide_route(choice)
    run.emit(RouteChosen(choice=choice))
    run.emit(Decided(decision=decision))
    return {"skipped": skipped, "route": choice.route, "tried_routes": (), "decision": decision}


async def _chosen(request: StrategyRequest, run: RunContext, trace: NodeTrace) -> RouteChoice:
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            return await own_roles(run, DualRoles).router.choose(request, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "router"), seconds=run.config.budget_s), _NODE)
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
    return choose(request)


async def _skipped(run: RunContext) -> dict[Strategy, Skip]:
    roles = own_roles(run, DualRoles)
    try:
        async with run.within(at_most_s(run, MEMORY_S)):
            summaries = await roles.sections.has_summaries()
    except (TimeoutError, WorkbenchError):
        # Taken as usable: the search itself then fails, and says why.
        summaries = True
    return skips(summaries=summaries, web_on=dual_options(run.config).web_search, web_set=roles.web is not None)
