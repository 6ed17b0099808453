"""What workflows are made of: nodes, the ways between them, the context of a step; and each workflow by its name."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from engine.flow.declaration import Workflow
from engine.model.config import WorkflowName, declared


def workflow(name: WorkflowName) -> Workflow:
    """The workflow of that name; raises ``InvalidConfig`` where it does not exist in this version."""
    return cast(Workflow, declared(name))


@cache
def compiled(name: WorkflowName) -> Any:
    """The workflow's compiled graph, built once per process."""
    return workflow(name).flow.compile(name)
