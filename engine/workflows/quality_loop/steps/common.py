"""What every node of the quality-control loop needs: its roles, and the time until its deadline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.flow.context import NodeTrace, RunContext
from engine.workflows.quality_loop.policy import deadline_s


def bounded(run: RunContext, trace: NodeTrace) -> float:
    """Bind the visit to the loop's deadline, which lies before the run's own; seconds left, 0 after it."""
    trace.began_s = run.clock.elapsed_s()
    trace.limit_s = max(0.0, deadline_s(run.config) - trace.began_s)
    return trace.limit_s


def nothing_new(state: Mapping[str, Any]) -> bool:
    """Whether the last rewrite left nothing to search: it repeated a query, or failed."""
    rewrites = state.get("rewrites", ())
    return bool(rewrites and (rewrites[-1].repeated or rewrites[-1].failed))
