"""Settings tried on a run one after another, for the few runs whose evidence does not fit into masks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.decide import passed_ids
from engine.values import PassageId
from engine.whatif.masks import mask_of
from engine.whatif.replay import what_if
from engine.whatif.settings import GAPS, OUTCOMES, REASONS, ROUTES, STATES, Paths, SettingsGrid, nowhere
from engine.whatif.table import RunTable
from engine.whatif.values import WhatIf


def one_by_one(table: RunTable, grid: SettingsGrid) -> Paths:
    """What ``what_if`` says of each setting, as :class:`Paths`; about a millisecond a setting."""
    out = nowhere(table, len(grid))
    for place in range(len(grid)):
        _fill(out, place, what_if(table.record, grid.config(place)), table)
    return out


def _fill(out: Paths, place: int, found: WhatIf, table: RunTable) -> None:
    out.state[place] = STATES.index(found.state)
    out.gap[place] = -1 if found.gap is None else GAPS.index(found.gap)
    out.outcome[place] = -1 if found.outcome is None else OUTCOMES.index(found.outcome)
    out.round[place] = len(found.steps) - 1
    out.rewrites[place] = found.rewrites
    if found.decisions:
        last = found.decisions[-1]
        out.route[place], out.reason[place] = ROUTES.index(last.route), REASONS.index(last.reason)
        out.passed[place], out.kept[place] = last.passed, last.kept
    cost = found.cost
    out.calls[place], out.built_in_calls[place] = cost.calls, cost.built_in_calls
    out.seconds[place] = np.nan if cost.seconds is None else cost.seconds
    generated = found.path_known and found.outcome not in ("abstained", "fallback", "failed")
    out.generations[place] = found.answers or int(generated)
    if found.config.workflow == "self_corrective":
        out.paid_rewrites[place] = max(0, len(found.steps) - 1)
        out.gradings[place] = cost.calls + cost.built_in_calls - out.generations[place] - out.paid_rewrites[place]
    else:
        # Strategies open rounds too, and further roles are asked: what is left over would not be gradings alone.
        out.paid_rewrites[place] = found.rewrites
    out.context_known[place] = found.path_known and found.gap != "verdicts"
    _fill_passages(out, place, found, table)


def _fill_passages(out: Paths, place: int, found: WhatIf, table: RunTable) -> None:
    where = {name: index for index, name in enumerate(table.passages)}

    def met(names: Iterable[PassageId]) -> list[int]:
        return sorted({index for name in names for index in table.met[where[name]]})

    given = [passage.id for passage in found.passages]
    out.context[:, place] = mask_of((where[name] for name in given), table.words)
    out.given[place, met(given)] = True
    for index, step in enumerate(found.steps):
        fresh = [item for item in met(passed_ids(step.round, found.config)) if out.first_given[place, item] < 0]
        out.first_given[place, fresh] = index
    if found.steps:
        kept = [passage.id for passage in found.steps[-1].round.kept]
        out.kept_last[:, place] = mask_of((where[name] for name in kept), table.words)
        out.found[place, met(kept)] = True
