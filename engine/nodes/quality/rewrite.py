"""The rewrite step of the quality-control loop: the shared one, told what was wrong with the round (SPEC QL-04)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.nodes.quality.common import bounded
from engine.nodes.rewrite import rewrite_for
from engine.nodes.run_context import NodeTrace, RunContext
from engine.policies.quality import rewrite_issues


async def rewrite(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Ask for a query that answers the issues; every visit counts as a retry, no matter what came of it."""
    bounded(run, trace)
    changes = await rewrite_for(state, run, trace, rewrite_issues(state["rounds"][-1], run.config))
    return {
        **changes,
        "retry_count": state["retry_count"] + 1,
        "original_queries": (*state["original_queries"], state["query"]),
    }
