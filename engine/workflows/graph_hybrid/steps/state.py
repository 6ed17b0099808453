"""The state of graph + vector retrieval (GH-01)."""

from __future__ import annotations

from engine.flow.state import RunState
from engine.model.config import Mode
from engine.model.values import QueryAnalysis


class GraphState(RunState, total=False):
    analysis: QueryAnalysis
    mode: Mode
    """That is searched: the config's, or the one that the analysis suggests."""
