"""Defaults for what only one workflow draws: every method returns what is drawn for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.markup import Node, draw, opened_passage
from components.common.widgets import control
from engine.flow import workflow
from engine.messages import N_
from engine.model.config import Options, RunConfig, WorkflowName
from engine.model.values import PassageId, Quantity, RunRecord, SourceKind
from engine.replay.playback import ReplayStep
from engine.roles import StoredPassage

Fact = Callable[[str, RunRecord, Words, str], tuple[tuple[str, ...], ...]]
"""Lines of facts of a box in the picture, from node, record, words and tone: each in wordings from long to short."""
ReadPassages = Callable[[Sequence[PassageId]], Iterable[StoredPassage]]
"""Fetches passages of the run's collection; raises ``WorkbenchError`` where it cannot be read."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts about this machine that the settings of a run depend on."""

    kinds_of: Callable[[str], Sequence[SourceKind]] | None = None
    """Source kinds of a collection by its name; None where no one can say."""
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """By setting a message that says why it cannot be switched on here."""


class WorkflowView:
    """Additions of a workflow to the pages; a module of ``components.workflows`` has a subclass as ``OWN``."""

    facts: ClassVar[Mapping[str, Fact]] = MappingProxyType({})
    """By node what its box says once it was visited, where that is not what every node of its kind says."""

    def options(self, words: Words, of: WorkflowName, below: dict[str, DeltaGenerator], machine: Machine) -> Options:
        """Draw the workflow's own settings as controls, and return what they are set to."""
        own = workflow(of)
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

    def bar(self, config: RunConfig) -> tuple[Quantity, float] | None:
        """Return the measure and threshold that a round must reach before an answer is written; None without one."""
        if not workflow(config.workflow).gate:
            return None
        if config.gate == "min_relevant":
            return "relevant_passages", config.min_relevant
        return "pass_rate", config.grade_pass_threshold

    def extent(self, config: RunConfig, words: Words) -> str:
        """Describe the longest possible run: rounds, and answers where they are evaluated."""
        own = workflow(config.workflow)
        rounds = words.count("1 round", "{n} rounds", own.rounds(config))
        if not own.flow.of_kind("evaluate"):
            return rounds
        return words.count("{rounds} and 1 answer", "{rounds} and {n} answers", own.most_answers(config), rounds=rounds)

    def sentence(self, step: ReplayStep, record: RunRecord, words: Words) -> str | None:
        """Describe a step in everyday words; None if the usual sentence does."""
        return None

    def chips(self, record: RunRecord, words: Words) -> list[Node]:
        """Chips next to the answer of a finished run: how good its evidence was found."""
        return []

    def answer_notes(self, record: RunRecord, words: Words) -> list[str]:
        """List notes on an answer that replace the usual sentences; empty if those apply."""
        return []

    def evidence(self, record: RunRecord, words: Words) -> list[Node]:
        """Show evidence that only this workflow's runs leave; empty before the first of it exists."""
        return []

    def report(self, record: RunRecord, words: Words) -> tuple[str, list[Node]]:
        """The same in a report, below its title."""
        return words(workflow(record.workflow).tab), self.evidence(record, words)

    def tab(self, record: RunRecord, words: Words, *, key: str, read: ReadPassages) -> PassageId | None:
        """Draw the same in its tab; returns the passage whose citation was pressed, if any."""
        nodes = self.evidence(record, words)
        if not nodes:
            st.caption(words(why_nothing(record)))
            return None
        return opened_passage(draw(nodes, words, key=key))


def why_nothing(record: RunRecord) -> str:
    """Return why the tab is empty, as a message: not yet, never started, or no answer that could be evaluated."""
    if record.active:
        return N_("Nothing yet: this fills up while the loop runs.")
    return (
        N_(
            "No answer was written from passages, so there was nothing to evaluate. The other tabs show what was "
            "searched."
        )
        if record.rounds and workflow(record.workflow).flow.of_kind("evaluate")
        else N_("The run ended before the loop began.")
    )


_NOTHING = WorkflowView()


def view_of(name: WorkflowName) -> WorkflowView:
    """Return the additions of a workflow."""
    module = workflow(name).drawn_by
    found: WorkflowView = import_module(module).OWN if module else _NOTHING
    return found
