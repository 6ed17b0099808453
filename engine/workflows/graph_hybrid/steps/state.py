"""The state of graph + vector retrieval (GH-01)."""

from __future__ import annotations

from engine.model.config import Mode
from engine.model.values import QueryAnalysis
from engine.running.context import GraphRoles, RunContext
from engine.workflows.steps.state import RunState


class GraphState(RunState, total=False):
    analysis: QueryAnalysis
    mode: Mode
    """That is searched: the config's, or the one that the analysis suggests."""


def graph_roles(run: RunContext) -> GraphRoles:
    """The roles that only this workflow has; ``ValueError`` in a run that was given none."""
    if run.roles.graph is None:
        raise ValueError("a run of graph + vector retrieval needs its roles")
    return run.roles.graph
