"""The step that looks at a query before anything is searched: complexity, entities, strategy (GH-01)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from engine.builtin.query_analyst import analysed
from engine.errors import ModelError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import Analysed
from engine.model.values import SEARCHING_MODES, Complexity, QueryAnalysis
from engine.retrieval.graph_options import graph_options
from engine.retrieval.mode_values import QueryLook
from engine.roles import AnalysisRequest
from engine.workflows.graph_hybrid.attached import tables_of
from engine.workflows.graph_hybrid.policy import from_tables_alone
from engine.workflows.graph_hybrid.roles import GraphRoles

LOOK_S = 5.0
"""Longest wait for the names of a graph; the search asks again, and says what is wrong."""


async def analyze_query(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Ask the analyst; where it fails or answers nonsense, the built-in one stands in for it."""
    look = await _look(state["question"], run)
    request = AnalysisRequest(state["question"], look.entities, look.modes)
    analysis = await _analysed(request, run, trace)
    run.emit(Analysed(analysis=analysis))
    return {"analysis": analysis}


async def _look(question: str, run: RunContext) -> QueryLook:
    if _searches_nothing(run):
        return QueryLook()
    try:
        async with run.within(max(0.0, min(LOOK_S, run.clock.left_s() / 2))):
            return await own_roles(run, GraphRoles).searcher.look(question)
    except (TimeoutError, WorkbenchError):
        # Not said here: a mode that needs the graph meets the fault itself, and the others do not need it.
        return QueryLook()


async def _analysed(request: AnalysisRequest, run: RunContext, trace: NodeTrace) -> QueryAnalysis:
    if _searches_nothing(run):
        # No matter what an analyst said, nothing would be searched: no call is worth that.
        return analysed(request)
    try:
        async with run.within(max(0.0, run.clock.left_s() / 2)):
            said = await own_roles(run, GraphRoles).analyst.analyse(request, trace)
    except TimeoutError:
        run.warn(
            ModelError.budget_spent(model=model_of(run, "router"), seconds=round(run.clock.elapsed_s(), 1)), trace.node
        )
    except WorkbenchError as failure:
        run.warn(failure, trace.node)
    else:
        if usable(said, request):
            return said
    return analysed(request)


def usable(said: QueryAnalysis, request: AnalysisRequest) -> bool:
    """Whether an analysis keeps its contract; one that does not must not be able to steer a run."""
    return (
        said.complexity in get_args(Complexity)
        and said.suggested_mode in (request.modes or SEARCHING_MODES)
        and isinstance(said.direct, bool)
        and all(isinstance(name, str) and name in request.query for name in said.entities)
    )


def _searches_nothing(run: RunContext) -> bool:
    if from_tables_alone(run.config, tables=bool(tables_of(run.attachments))):
        return True
    return run.config.mode == "bypass" and graph_options(run.config).mode_from == "config"
