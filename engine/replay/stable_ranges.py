"""Which values of a setting decide a run alike: how far a slider can move without changing anything that is known."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.model.config import RunConfig
from engine.replay.grid import paths
from engine.replay.lines import line
from engine.replay.settings import Column
from engine.replay.table import RunTable


def stable_ranges(table: RunTable, config: RunConfig, names: Iterable[Column]) -> dict[Column, tuple[float, float]]:
    """By setting the least and greatest value around the config's own that lead to the same end, both included.

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
