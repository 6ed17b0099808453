"""How a step becomes a node of a LangGraph graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from engine.nodes.run_context import RunContext, Step, visit


def node(name: str, step: Step) -> Any:
    """The coroutine that LangGraph runs for a step, with what it does reported under ``name``."""

    # The state is a mapping here regardless of the workflow: LangGraph hands over all that its own schema holds.
    async def run_node(state: Mapping[str, Any], runtime: Runtime[RunContext]) -> dict[str, Any]:
        return await visit(name, step, state, runtime.context)

    return run_node
