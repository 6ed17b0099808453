"""The smallest single change of a setting that is confirmed to end a run well: what is not known is not promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from engine.model.config import RunConfig, declared
from engine.model.values import PassageId, RunRecord
from engine.replay.decision_boundaries import DecisionBoundary, boundary_at, other_gate
from engine.replay.grid import paths
from engine.replay.lines import NUMBERS, as_set, line, nearest
from engine.replay.masks import IntArray
from engine.replay.settings import OUTCOMES, Paths, SettingsGrid
from engine.replay.table import run_table

_ANSWERED = OUTCOMES.index("answered")


def remedy(
    record: RunRecord,
    config: RunConfig,
    met: Mapping[PassageId, tuple[int, ...]] | None = None,
    *,
    answerable: bool | None = None,
) -> DecisionBoundary | None:
    """The change that moves one setting least, as a share of its range, and leads to an answer whose gate was met.

    With ``met``, expectations by passage, the generator must be given an expected passage besides; what also lets
    refused passages in is proposed last, and names them. Without, it is not proposed at all: that would be an answer
    and no remedy. None where the run ends well already under ``config``, where no single change is known to help, and
    where ``answerable`` false says that there is no answer. Another gate counts as its whole range, so that moving a
    slider is proposed first.
    """
    if not declared(record.workflow).on_grid or answerable is False:
        # Other loops end well by other gates than the ones that are moved here.
        return None
    expectations = 1 + max((place for places in (met or {}).values() for place in places), default=-1)
    table = run_table(record, met, expectations)
    here = paths(table, SettingsGrid.of([config]))
    if _well(here, labelled=bool(met))[0] >= 0:
        return None
    found: list[DecisionBoundary] = []
    for name in NUMBERS:
        values, grid = line(table, config, name)
        tried = paths(table, grid)
        for up in (False, True):
            place = nearest(values, _well(tried, labelled=bool(met)), float(getattr(config, name)), up=up)
            if place is not None:
                moved = as_set(name, values[place])
                found.append(boundary_at(name, config, moved, table=table, here=here, tried=tried, place=place))
    gate = other_gate(config)
    tried = paths(table, SettingsGrid.of([replace(config, gate=gate)]))
    if _well(tried, labelled=bool(met))[0] >= 0:
        found.append(boundary_at("gate", config, gate, table=table, here=here, tried=tried, place=0))
    proposed = [boundary for boundary in found if met or not boundary.rejected]
    return min(proposed, key=lambda boundary: (*boundary.place, -boundary.steps_saved), default=None)


def _well(tried: Paths, *, labelled: bool) -> IntArray:
    """The round that answers, its gate met, by setting; -1 where that is not known or not so."""
    good = tried.path_known & (tried.outcome == _ANSWERED)
    if labelled:
        good &= tried.given.any(axis=1)
    ends: IntArray = np.where(good, tried.round, -1)
    return ends
