"""The workflows, each in a package of its own; :mod:`engine.model.config.registry` lists them."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from engine.model.config import WorkflowName, declared
from engine.workflows.declaration import Workflow


def workflow(name: WorkflowName) -> Workflow:
    """The workflow of that name; raises ``InvalidConfig`` where it does not exist in this version."""
    return cast(Workflow, declared(name))


@cache
def compiled(name: WorkflowName) -> Any:
    """The workflow's compiled graph, built once per process."""
    return workflow(name).flow.compile(name)
