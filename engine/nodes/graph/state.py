"""The state of graph + vector retrieval (SPEC GH-01)."""

from __future__ import annotations

from engine.config import Mode
from engine.nodes.run_context import GraphRoles, RunContext
from engine.nodes.state import RunState
from engine.values import QueryAnalysis


class GraphState(RunState, total=False):
    analysis: QueryAnalysis
    mode: Mode
    """That is searched: the config's, or the one that the analysis suggests."""


def graph_roles(run: RunContext) -> GraphRoles:
    """The roles that only this workflow has; ``ValueError`` in a run that was given none."""
    if run.roles.graph is None:
        raise ValueError("a run of graph + vector retrieval needs its roles")
    return run.roles.graph
