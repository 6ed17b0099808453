"""The registry of workflows: a name and a module each, imported when it is first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, cast

from engine.errors import InvalidConfig
from engine.model.config.parameters import RoleName, WorkflowName
from engine.model.config.setting import Options, Parameter, Setting, numbers_in, settings_in

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """What a workflow says of itself without its steps: its words, its settings, its roles."""

    id: WorkflowName
    name: str
    """A message, as are all its words."""
    title: str = ""
    """As in the picker of workflows; left out, ``name``."""
    summary: str = ""
    """One sentence under the picker."""
    introduction: str = ""
    """What a reader is told who has not asked anything yet; left out, ``summary``."""
    unused: tuple[str, ...] = ()
    """Settings of ``RunConfig`` that count for nothing in it, though its nodes let one expect otherwise."""
    in_modes: bool = False
    """Whether it searches in one of several modes."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Where they have other defaults."""
    options: type[Options] = Options
    """The settings that it alone has."""
    options_heading: str = ""
    """What stands above them in the panel."""
    more_roles: tuple[RoleName, ...] = ()
    """The model roles that it asks besides those of its nodes."""
    temperatures: Mapping[RoleName, float] = field(default_factory=dict)
    """At what a chat model is asked where a config says 0."""
    samples: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Questions that show what it does, by language: a text or the id of a labelled question, and what its button says
    of it (empty: its own kind)."""
    takes_attachments: bool = False
    """Whether images and tables may come with a question."""
    remembers: bool = False
    """Whether it recalls earlier answers and keeps its own."""
    on_grid: bool = False
    """Whether ``engine.replay.grid`` models its decisions; else every what-if runs its steps."""
    plain_gate: bool = False
    """Whether ``engine.model.decide.decide`` alone says when its passages are enough."""
    measures: tuple[str, ...] = ("pass_rate", "similarity")
    """The two figures of a run beside outcome, calls and time, by their names in ``components.ask.figures``."""
    tab: str = ""
    """Name of the tab of its own evidence; empty where it has none."""
    drawn_by: str = ""
    """The module of ``components.workflows`` that draws what only it has; empty where it has nothing of its own."""

    @property
    def numbers(self) -> Mapping[str, Parameter]:
        """The ranges of its own settings that are numbers."""
        return numbers_in(cast(Hashable, self.options))

    @property
    def own_settings(self) -> Mapping[str, Setting]:
        """The settings of the workflow's own options, by name."""
        return settings_in(cast(Hashable, self.options))

    # What the nodes say: a workflow knows them.

    @property
    def gate(self) -> str:
        """The node that decides whether the passages of a round are enough; empty where none does."""
        raise NotImplementedError

    @property
    def grades(self) -> bool:
        """Whether passages are judged before they are given to the generator."""
        raise NotImplementedError

    @property
    def roles(self) -> tuple[RoleName, ...]:
        """The model roles that it asks."""
        raise NotImplementedError

    @property
    def idle(self) -> frozenset[str]:
        """The settings of ``RunConfig`` that count for nothing in it."""
        raise NotImplementedError

    @property
    def gated(self) -> bool:
        """Whether a pass rate or a count of relevant passages leads to its answer."""
        return "gate" not in self.idle


@cache
def declared(name: WorkflowName) -> Declaration:
    """What the workflow of that name declares; raises ``InvalidConfig`` where there is none in this version."""
    if name not in WORKFLOWS:
        raise InvalidConfig.not_one_of(field="workflow", allowed=tuple(WORKFLOWS))
    return cast(Declaration, importlib.import_module(WORKFLOWS[name]).WORKFLOW)


def first_that(fits: Callable[[Declaration], bool]) -> WorkflowName:
    """The first workflow that can do something, by what it declares; raises ``StopIteration`` where none can."""
    return next(name for name, own in declarations().items() if fits(own))


def declarations() -> Mapping[WorkflowName, Declaration]:
    """Every workflow, in the order of the registry."""
    return {name: declared(name) for name in WORKFLOWS}
