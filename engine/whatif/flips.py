"""The nearest flips: how far each single slider must move until the run would end otherwise, as far as is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.config import RunConfig
from engine.values import Outcome, RunRecord
from engine.whatif.grid import paths
from engine.whatif.lines import GATES, as_set, line, nearest, numbers_of, share_of
from engine.whatif.masks import IntArray
from engine.whatif.settings import OUTCOMES, STATES, Column, Paths, SettingsGrid
from engine.whatif.table import RunTable, run_table
from engine.whatif.values import State

_ROUNDS = 100
"""More than any run has."""


@dataclass(frozen=True, slots=True)
class Flip:
    """One change of one setting, and where it leads."""

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


def nearest_flips(record: RunRecord, config: RunConfig) -> tuple[Flip, ...]:
    """By setting and direction the nearest value at which outcome or answering round change; nearest first.

    Only where the evidence confirms it: the path under ``config`` and the one after the flip are both known.
    """
    return flips_of(run_table(record), config)


def flips_of(table: RunTable, config: RunConfig) -> tuple[Flip, ...]:
    """:func:`nearest_flips` of a run whose table is at hand."""
    here = paths(table, SettingsGrid.of([config]))
    if _ends(here)[0] < 0:
        return ()
    found: list[Flip] = []
    for name in numbers_of(config.workflow):
        values, grid = line(table, config, name)
        tried = paths(table, grid)
        old = float(getattr(config, name))
        for up in (False, True):
            place = nearest(values, _other_ends(tried, here), old, up=up)
            if place is not None:
                flip = Flip(name, as_set(name, old), as_set(name, values[place]), *_end(here, tried, place))
                found.append(replace(flip, share=share_of(name, old, values[place])))
    other = next(gate for gate in GATES if gate != config.gate)
    tried = paths(table, SettingsGrid.of([replace(config, gate=other)]))
    # A workflow without a gate ends alike under both.
    if _other_ends(tried, here)[0] >= 0:
        found.append(Flip("gate", config.gate, other, *_end(here, tried, 0)))
    return tuple(sorted(found, key=lambda flip: flip.share))


def _ends(tried: Paths) -> IntArray:
    """Outcome and round as one number; -1 where they are not known."""
    told = tried.path_known & (tried.outcome >= 0)
    ends: IntArray = np.where(told, tried.outcome * _ROUNDS + tried.round, -1)
    return ends


def _other_ends(tried: Paths, here: Paths) -> IntArray:
    ends = _ends(tried)
    other: IntArray = np.where(ends == _ends(here)[0], -1, ends)
    return other


def _end(here: Paths, tried: Paths, place: int) -> tuple[Outcome, int, int, int, State]:
    return (
        OUTCOMES[tried.outcome[place]],
        int(tried.round[place]),
        int(here.rewrites[0] - tried.rewrites[place]),
        int(here.steps[0] - tried.steps[place]),
        STATES[tried.state[place]],
    )
