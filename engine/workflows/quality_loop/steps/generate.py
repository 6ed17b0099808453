"""The generate step of the quality-control loop: the shared one, within the run's own budget (QL-05)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.errors import RunWarning
from engine.flow.context import NodeTrace, RunContext
from engine.model.values import Decision, operands
from engine.workflows.steps import generate as shared


async def generate(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer in what is left of the budget, generation included; an answer on low quality says so in a warning."""
    changes = await shared.generate(state, replace(run, generation_allowance_s=0.0), trace)
    decision: Decision = state["decision"]
    # An abstention streams nothing, and is based on nothing.
    if trace.text and decision.reason != "quality_met":
        score, bar = operands(decision.comparisons[0])
        run.warn(RunWarning.quality_low(score=score, bar=bar), trace.node)
    return changes
