"""The registry of workflows: one module each, imported when first used because LangGraph takes long to import."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol, cast

from engine.errors import InvalidConfig
from engine.model.config import RunConfig, WorkflowName
from engine.model.values import Outcome, RunRecord
from engine.workflows.flow import Flow


class Workflow(Protocol):
    """What a workflow module offers."""

    FLOW: Flow
    REPLAY: Callable[[RunRecord, RunConfig], Any]
    """Its :class:`engine.replay.replay.Replay`: runs it over the record of a finished run."""

    def initial_state(self, question: str) -> Mapping[str, Any]: ...

    def recursion_limit(self, config: RunConfig) -> int: ...

    def worst_case_calls(self, config: RunConfig) -> int: ...

    def ending(self, record: RunRecord) -> tuple[Outcome, str]:
        """Outcome and reason of a run whose graph came to its end."""


MODULES: Mapping[WorkflowName, str] = {
    "self_corrective": "engine.workflows.self_corrective.workflow",
    "quality_loop": "engine.workflows.quality_loop.workflow",
    "dual_loop": "engine.workflows.dual_loop.workflow",
    "answer_evaluation": "engine.workflows.answer_evaluation.workflow",
    "graph_hybrid": "engine.workflows.graph_hybrid.workflow",
}
"""Workflows that exist; a further one is added by its line here and its module."""


def workflow(name: WorkflowName) -> Workflow:
    """The workflow of that name; ``InvalidConfig`` where it does not exist in this version."""
    if name not in MODULES:
        raise InvalidConfig.not_one_of(field="workflow", allowed=tuple(MODULES))
    return cast(Workflow, importlib.import_module(MODULES[name]))


@cache
def compiled(name: WorkflowName) -> Any:
    """The workflow's compiled graph, built once per process."""
    return workflow(name).FLOW.compile()
