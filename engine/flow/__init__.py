"""Parts of workflows: nodes, edges, the context of a step; and each workflow by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

from engine.flow.declaration import Workflow
from engine.model.config import WORKFLOWS, WorkflowName, declared


def workflow(name: WorkflowName) -> Workflow:
    """Return the workflow of that name; raises ``InvalidConfig`` if this version has none.

    >>> workflow("self_corrective").roles
    ('grader', 'screener', 'rewriter', 'generator', 'refiner', 'verifier')
    """
    return cast(Workflow, declared(name))


def workflows() -> Mapping[WorkflowName, Workflow]:
    """Every workflow, in the order of the registry."""
    return {name: workflow(name) for name in WORKFLOWS}


def first_that(fits: Callable[[Workflow], bool]) -> WorkflowName:
    """The first workflow that can do something, by what it declares; raises ``StopIteration`` where none can."""
    return next(name for name, own in workflows().items() if fits(own))


@cache
def compiled(name: WorkflowName) -> Any:
    """The workflow's compiled graph, built once per process."""
    return workflow(name).flow.compile(name)
