"""The registry of workflows: a name and a module each, imported when it is first used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol, cast

from engine.errors import InvalidConfig
from engine.model.config.role_models import RoleName, WorkflowName
from engine.model.config.setting import Options, Setting

WORKFLOWS: Mapping[WorkflowName, str] = MappingProxyType(
    {
        "self_corrective": "engine.workflows.self_corrective.workflow",
        "quality_loop": "engine.workflows.quality_loop.workflow",
        "dual_loop": "engine.workflows.dual_loop.workflow",
        "answer_evaluation": "engine.workflows.answer_evaluation.workflow",
        "graph_hybrid": "engine.workflows.graph_hybrid.workflow",
    }
)
"""Where each workflow is declared: every module here has a ``WORKFLOW``. The first one is the usual one."""
USUAL: WorkflowName = next(iter(WORKFLOWS))


class Declared(Protocol):
    """A workflow as far as a config asks: :class:`engine.flow.declaration.Workflow`."""

    @property
    def defaults(self) -> Mapping[str, Any]: ...

    @property
    def options(self) -> type[Options]: ...

    @property
    def own_settings(self) -> Mapping[str, Setting]: ...

    @property
    def temperatures(self) -> Mapping[RoleName, float]: ...

    @property
    def idle(self) -> frozenset[str]: ...

    @property
    def gate(self) -> str: ...

    @property
    def gated(self) -> bool: ...


@cache
def declared(name: WorkflowName) -> Declared:
    """The workflow of that name, for what it says of configs; anything else asks :func:`engine.flow.workflow`.

    Raises ``InvalidConfig`` where there is none in this version.
    """
    if name not in WORKFLOWS:
        raise InvalidConfig.not_one_of(field="workflow", allowed=tuple(WORKFLOWS))
    return cast(Declared, importlib.import_module(WORKFLOWS[name]).WORKFLOW)
