"""The smallest single change of a setting that is confirmed to end a run well: what is not known is not promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from engine.config import RunConfig
from engine.values import PassageId, RunRecord
from engine.whatif.flips import Flip
from engine.whatif.grid import paths
from engine.whatif.lines import GATES, NUMBERS, as_set, line, nearest, share_of
from engine.whatif.masks import IntArray
from engine.whatif.settings import OUTCOMES, STATES, Paths, SettingsGrid
from engine.whatif.table import run_table

_ANSWERED = OUTCOMES.index("answered")
_LIKELY = 0.5
"""P(relevant) below which the grader itself says no."""


def remedy(record: RunRecord, config: RunConfig, met: Mapping[PassageId, tuple[int, ...]] | None = None) -> Flip | None:
    """The change that moves one setting least, as a share of its range, and leads to an answer whose gate was met.

    With ``met``, expectations by passage, the generator must be given an expected passage besides. Without, no change
    is proposed that would pass what the grader calls irrelevant: that would be an answer and no remedy. None where the
    run ends well already under ``config`` or where no single change is known to help. Another gate counts as its
    whole range, so that moving a slider is proposed first.
    """
    if record.workflow != "self_corrective":
        # Ends well by other gates than the ones that are moved here.
        return None
    expectations = 1 + max((place for places in (met or {}).values() for place in places), default=-1)
    table = run_table(record, met, expectations)
    here = paths(table, SettingsGrid.of([config]))
    if _well(here, labelled=bool(met))[0] >= 0:
        return None
    found: list[Flip] = []
    for name in NUMBERS:
        values, grid = line(table, config, name)
        tried = paths(table, grid)
        old = float(getattr(config, name))
        for up in (False, True):
            place = nearest(values, _well(tried, labelled=bool(met)), old, up=up)
            doubtful = place is not None and not met and name == "min_confidence" and values[place] < _LIKELY
            if place is not None and not doubtful:
                flip = _flip(here, tried, place)
                share = share_of(name, old, values[place])
                new = as_set(name, values[place])
                found.append(replace(flip, name=name, value_from=as_set(name, old), value_to=new, share=share))
    other = next(gate for gate in GATES if gate != config.gate)
    tried = paths(table, SettingsGrid.of([replace(config, gate=other)]))
    if _well(tried, labelled=bool(met))[0] >= 0:
        found.append(replace(_flip(here, tried, 0), name="gate", value_from=config.gate, value_to=other))
    return min(found, key=lambda flip: (flip.share, -flip.steps_saved), default=None)


def _well(tried: Paths, *, labelled: bool) -> IntArray:
    """The round that answers, its gate met, by setting; -1 where that is not known or not so."""
    good = tried.path_known & (tried.outcome == _ANSWERED)
    if labelled:
        good &= tried.given.any(axis=1)
    ends: IntArray = np.where(good, tried.round, -1)
    return ends


def _flip(here: Paths, tried: Paths, place: int) -> Flip:
    return Flip(
        name="gate",
        value_from="",
        value_to="",
        outcome=OUTCOMES[tried.outcome[place]],
        round=int(tried.round[place]),
        rewrites_saved=int(here.rewrites[0] - tried.rewrites[place]),
        steps_saved=int(here.steps[0] - tried.steps[place]),
        state=STATES[tried.state[place]],
    )
