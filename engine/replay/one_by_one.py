"""Settings tried on a run one after another, for the few runs whose evidence does not fit into masks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from engine.flow import workflow
from engine.model.decide import cascades, passed_ids, screening
from engine.model.values import PassageId
from engine.replay import what_if
from engine.replay.masks import FloatArray, IntArray, mask_of
from engine.replay.settings import GAPS, OUTCOMES, REASONS, ROUTES, STATES, Paths, SettingsGrid, nowhere
from engine.replay.table import RunTable
from engine.replay.values import WhatIf

_MASKS = ("context", "kept_last")
"""Fields of paths whose settings run along the second axis."""


def one_by_one(table: RunTable, grid: SettingsGrid) -> Paths:
    """Return ``what_if`` of each setting as :class:`Paths`; a millisecond for each that the run can tell apart."""
    out = nowhere(table, len(grid))
    kinds = np.stack(_kinds(table, grid), axis=1)
    _, firsts, which = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    for first in firsts:
        _fill(out, int(first), what_if(table.record, grid.config(int(first)), table.ran), table)
    source = firsts[which.reshape(-1)]
    return _copied(out, source)


def _kinds(table: RunTable, grid: SettingsGrid) -> list[IntArray]:
    """Number settings so that equal numbers cannot lead the run to different ends.

    A threshold is only ever compared: with recorded similarities, with what verdicts reach, with shares of passages.
    """
    record = table.record
    similarities = {0.0, 1.0, *(item.passage.similarity for own in record.rounds for item in own.candidates)}
    judged = [item for own in record.rounds for said in (own.verdicts, own.screened) for item in said.values()]
    of_parts = {chance for verdict in judged for chance in verdict.parts}
    reached = {0.0, 1.0, *of_parts, *(verdict.reach for verdict in judged)}
    chances = {*of_parts, *(round(verdict.p_relevant, 9) for verdict in judged)}
    most = int(grid.top_k.max())
    shares = {part / whole for whole in range(1, most + 1) for part in range(whole + 1)}

    def below(values: set[float], thresholds: FloatArray) -> IntArray:
        return np.searchsorted(np.array(sorted(values)), thresholds)

    cuts = (grid.cascade_low, grid.cascade_high)
    # What further rewrites would bring is not recorded, and more passages than there are cannot be relevant.
    rewrites = np.minimum(grid.max_rewrites, len(record.rounds) + 1)
    relevant = np.minimum(grid.min_relevant, len(table.passages) + most + 1)
    return [
        # Under its own settings alone a run is no trial of others.
        grid.equal_to(record.config),
        grid.top_k,
        below(similarities, grid.similarity_threshold),
        np.where(grid.by_count, 0, below(shares, grid.grade_pass_threshold)),
        rewrites,
        below(reached, grid.min_confidence),
        *(below(chances, cut) if cascades(grid.base) else np.zeros_like(grid.top_k) for cut in cuts),
        np.where(grid.by_count, relevant, 0),
        grid.by_count.astype(np.int64),
        grid.last_round.astype(np.int64),
    ]


def _copied(out: Paths, source: IntArray) -> Paths:
    """Every setting with what is known of the one that stands for it."""
    changed: dict[str, Any] = {
        item.name: value[source] if value.shape[0] == len(source) and item.name not in _MASKS else value[:, source]
        for item in fields(out)
        if isinstance(value := getattr(out, item.name), np.ndarray)
    }
    return replace(out, **changed)


def _fill(out: Paths, place: int, found: WhatIf, table: RunTable) -> None:
    out.state[place] = STATES.index(found.state)
    out.gap[place] = -1 if found.gap is None else GAPS.index(found.gap)
    out.outcome[place] = -1 if found.outcome is None else OUTCOMES.index(found.outcome)
    out.round[place] = len(found.steps) - 1
    out.rewrites[place] = found.rewrites
    if found.decisions:
        last = found.decisions[-1]
        out.route[place] = ROUTES.index(last.route) if last.route in ROUTES else -1
        out.reason[place] = REASONS.index(last.reason)
        out.passed[place], out.kept[place] = last.passed, last.kept
    cost = found.cost
    out.calls[place], out.built_in_calls[place] = cost.calls, cost.built_in_calls
    out.checks[place] = found.checks or 0
    out.seconds[place] = np.nan if cost.seconds is None else cost.seconds
    generated = found.path_known and found.outcome not in ("abstained", "fallback", "failed")
    out.generations[place] = found.answers or int(generated)
    if workflow(found.config.workflow).on_grid:
        out.paid_rewrites[place] = max(0, len(found.steps) - 1)
        others = out.generations[place] + out.paid_rewrites[place] + out.checks[place]
        out.gradings[place] = cost.calls + cost.built_in_calls - others
    else:
        # Strategies open rounds too, and further roles are asked: what is left over would not be gradings alone.
        out.paid_rewrites[place] = found.rewrites
    screened, settled = screening(step.round for step in found.steps)
    out.screened[place], out.left[place] = screened, screened - settled
    out.context_known[place] = found.path_known and found.gap != "verdicts"
    out.earlier_draft[place] = bool(found.answer) and found.answer != table.record.answer
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
