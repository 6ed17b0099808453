"""The decision boundaries of a run: how far each single setting can move before the run ends differently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.model.config import GatePolicy, RunConfig
from engine.model.values import AnswerNote, Outcome
from engine.replay import what_if
from engine.replay.admitted import Admitted
from engine.replay.grid import paths
from engine.replay.lines import GATES, as_set, line, nearest, numbers_of, share_of
from engine.replay.masks import IntArray
from engine.replay.settings import OUTCOMES, STATES, Column, Paths, SettingsGrid
from engine.replay.table import ANSWERED, RunTable
from engine.replay.values import State

_ROUNDS = 100
"""More than any run has."""


@dataclass(frozen=True, slots=True)
class DecisionBoundary:
    """The nearest value of one setting at which the run ends differently, and where that leads."""

    name: Column
    value_from: float | str
    value_to: float | str
    outcome: Outcome
    round: int
    """The round that leads to the outcome."""
    rewrites_saved: int
    """Below 0 where more are needed."""
    steps_saved: int
    """Gradings, rewrites and generations; below 0 where more are needed."""
    state: State
    share: float = 1.0
    """How far the setting moves, as a share of its range; another gate counts as its whole range."""
    admits: tuple[Admitted, ...] = ()
    """Passages that the answer would be written from although the run had held them back."""
    answer_note: AnswerNote = ""
    """What is to be said of the recorded answer, where it would stand."""

    @property
    def rejected(self) -> int:
        """Passages that would be given to the generator although no grader called them relevant."""
        return sum(item.unaccepted and item.held_by != "below_bar" for item in self.admits)

    @property
    def place(self) -> tuple[bool, bool, bool, float]:
        """What is proposed first: what lets nothing refused in, then nothing at all, then all but the grader's bar,
        then the nearest."""
        return self.rejected > 0, bool(self.admits), self.name == "min_confidence", self.share


def decision_boundaries(table: RunTable, config: RunConfig) -> tuple[DecisionBoundary, ...]:
    """Find by setting and direction the nearest value at which outcome or answering round change.

    They come in the order of :attr:`DecisionBoundary.place`, and only where the evidence confirms them: the path under
    ``config`` and the one at the new value are known.
    """
    here = paths(table, SettingsGrid.of([config]))
    if _ends(here)[0] < 0:
        return ()
    found: list[DecisionBoundary] = []
    for name in numbers_of(config.workflow):
        values, grid = line(table, config, name)
        tried = paths(table, grid)
        old = float(getattr(config, name))
        for up in (False, True):
            place = nearest(values, _other_ends(tried, here), old, up=up)
            if place is not None:
                moved = as_set(name, values[place])
                found.append(boundary_at(name, config, moved, table=table, here=here, tried=tried, place=place))
    gate = other_gate(config)
    tried = paths(table, SettingsGrid.of([replace(config, gate=gate)]))
    # A workflow without a gate ends the same under both.
    if _other_ends(tried, here)[0] >= 0:
        found.append(boundary_at("gate", config, gate, table=table, here=here, tried=tried, place=0))
    return tuple(sorted(found, key=lambda boundary: boundary.place))


def smallest_changes(
    table: RunTable, config: RunConfig, *, answerable: bool | None = None
) -> tuple[DecisionBoundary, ...]:
    """Choose from :func:`decision_boundaries` what is worth proposing: what ends the run in another way.

    The same end for less is none, nor is an answer where ``answerable`` false says that there is none.
    """
    outcome = paths(table, SettingsGrid.of([config])).outcome[0]
    return tuple(
        item
        for item in decision_boundaries(table, config)
        if item.outcome != OUTCOMES[outcome] and not (answerable is False and item.outcome in ANSWERED)
    )


def other_gate(config: RunConfig) -> GatePolicy:
    """The gate that a config does not have."""
    return next(gate for gate in GATES if gate != config.gate)


def boundary_at(
    name: Column, config: RunConfig, value: Any, *, table: RunTable, here: Paths, tried: Paths, place: int
) -> DecisionBoundary:
    """Describe the change of one setting to what was tried at ``place``."""
    changed: dict[str, Any] = {name: value}
    old = getattr(config, name)
    found = what_if(table.record, replace(config, **changed))
    return DecisionBoundary(
        name=name,
        value_from=old,
        value_to=value,
        outcome=OUTCOMES[tried.outcome[place]],
        round=int(tried.round[place]),
        rewrites_saved=int(here.rewrites[0] - tried.rewrites[place]),
        steps_saved=int(here.steps[0] - tried.steps[place]),
        state=STATES[tried.state[place]],
        share=1.0 if name == "gate" else share_of(name, old, value),
        admits=found.admits,
        answer_note=found.answer_note,
    )


def _ends(tried: Paths) -> IntArray:
    """Outcome and round as one number; -1 where they are not known."""
    known = tried.path_known & (tried.outcome >= 0)
    ends: IntArray = np.where(known, tried.outcome * _ROUNDS + tried.round, -1)
    return ends


def _other_ends(tried: Paths, here: Paths) -> IntArray:
    ends = _ends(tried)
    other: IntArray = np.where(ends == _ends(here)[0], -1, ends)
    return other


def stable_ranges(table: RunTable, config: RunConfig, names: Iterable[Column]) -> dict[Column, tuple[float, float]]:
    """Find by setting the least and greatest value around the config's own that lead to the same end, both included.

    The same end: outcome, answering round and reason. Nothing for a setting whose own end is not known.
    """
    found: dict[Column, tuple[float, float]] = {}
    for name in names:
        values, grid = line(table, config, name)
        tried = paths(table, grid)
        own = values.index(float(getattr(config, name)))
        if not tried.path_known[own] or tried.outcome[own] < 0:
            continue
        same = (
            tried.path_known
            & (tried.outcome == tried.outcome[own])
            & (tried.round == tried.round[own])
            & (tried.reason == tried.reason[own])
        )
        others = np.flatnonzero(~same)
        low = int(others[others < own].max(initial=-1)) + 1
        high = int(others[others > own].min(initial=len(values))) - 1
        found[name] = (values[low], values[high])
    return found
