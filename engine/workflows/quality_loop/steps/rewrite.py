"""The rewrite step of the quality-control loop: the shared one, told what was wrong with the round (QL-04)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.flow.context import NodeTrace, RunContext
from engine.workflows.quality_loop.policy import rewrite_issues
from engine.workflows.quality_loop.steps.common import bounded
from engine.workflows.steps.rewrite import rewrite_for


async def rewrite(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Ask for a query that answers the issues; every visit counts as a retry, no matter what came of it."""
    bounded(run, trace)
    changes = await rewrite_for(state, run, trace, rewrite_issues(state["rounds"][-1], run.config), shows_nearest=True)
    return {
        **changes,
        "retry_count": state["retry_count"] + 1,
        "original_queries": (*state["original_queries"], state["query"]),
    }
