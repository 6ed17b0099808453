"""What only one workflow draws: every method says what is drawn of a workflow that has nothing of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.widgets import control, heading
from engine.model.config import Options, RunConfig, WorkflowName, declared
from engine.model.values import RunRecord, SourceKind

Fact = Callable[[str, RunRecord, Words, str], tuple[tuple[str, ...], ...]]
"""Lines of facts of a box in the picture, from node, record, words and tone: each in wordings from long to short."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What a page knows of this machine that the settings of a run hang on."""

    kinds_of: Callable[[str], Sequence[SourceKind]] | None = None
    """Source kinds of a collection by its name; None where no one can say."""
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """By setting a message that says why it cannot be switched on here."""


class Own:
    """What a workflow adds to the pages; a module of ``components.workflows`` has a subclass of it as ``OWN``."""

    facts: ClassVar[Mapping[str, Fact]] = MappingProxyType({})
    """By node what its box says once it was visited, where that is not what every node of its kind says."""

    def options(
        self, words: Words, workflow: WorkflowName, below: dict[str, DeltaGenerator], machine: Machine
    ) -> Options:
        """Draw the workflow's own settings as controls, and return what they are set to."""
        own = declared(workflow)
        if own.options_heading:
            heading(words, own.options_heading)
        chosen: dict[str, Any] = {}
        groups = dict.fromkeys(setting.group for setting in own.own_settings.values())
        for group in groups:
            box = st.expander(words(group), key=f"{group.lower()}_settings") if group else st.container()
            with box:
                for name, setting in own.own_settings.items():
                    if setting.group == group:
                        missing = machine.unavailable.get(name, "")
                        chosen[name] = control(
                            words, name, setting, below, unavailable=words(missing) if missing else ""
                        )
        return own.options(**chosen)

    def before_run(self, words: Words, config: RunConfig, machine: Machine) -> None:
        """Draw what is to be said of the settings together, once all of them are known."""


_NOTHING = Own()


def own_of(workflow: WorkflowName) -> Own:
    """What a workflow draws of its own."""
    module = declared(workflow).drawn_by
    found: Own = import_module(module).OWN if module else _NOTHING
    return found
