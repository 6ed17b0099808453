"""Endings of a run over every pair of two settings, equal neighbours merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.builtin.answer_note import Checked
from engine.model.config import PARAMETERS, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.values import ANSWERED, AnswerNote, Outcome, Reason, RunRecord
from engine.replay import what_if
from engine.replay.grid import paths
from engine.replay.lines import bounds_of, numbers_of, round_value
from engine.replay.masks import BoolArray, IntArray, any_of, column
from engine.replay.rejudged import rejudged
from engine.replay.settings import OUTCOMES, REASONS, STATES, Column, Paths, SettingsGrid
from engine.replay.table import RunTable, run_table
from engine.replay.values import State, WhatIf

Asked = Callable[[RunConfig], WhatIf]
_PASSED = REASONS.index("passed")


@dataclass(frozen=True, slots=True)
class Cell:
    """Values of both settings, both ends included, that the run cannot tell apart."""

    x0: float
    x1: float
    y0: float
    y1: float
    state: State
    outcome: Outcome | None
    """None where it is not known."""
    reason: Reason | None
    """Of the last decision that is known."""
    round: int
    """The last round reached; -1 where nothing is known."""
    rewrites: int
    steps: int
    """Gradings, rewrites and generations of the known path."""
    x_try: float
    """A round value inside, to set a slider to."""
    y_try: float
    refused: bool = False
    """Whether it would answer from passages that the grader refused, or that did not reach the run's own bar."""
    answer_note: AnswerNote = ""
    """What is to be said of the recorded answer, where it would stand."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """A stricter similarity threshold that makes a gate pass: it drops what the grader would have failed."""

    similarity_from: float
    similarity_to: float
    round: int
    pass_rate_from: float
    pass_rate_to: float
    threshold: float
    """The pass rate that is asked for."""


@dataclass(frozen=True, slots=True)
class DecisionMap:
    """Cells row by row, the lowest row first: ``cells[row * len(columns) + column]``."""

    x: Column
    y: Column
    columns: tuple[tuple[float, float], ...]
    """First and last value of each."""
    rows: tuple[tuple[float, float], ...]
    cells: tuple[Cell, ...]
    coupling: Coupling | None

    def cell_of(self, x: float, y: float) -> int | None:
        """The cell that holds these values; None between two steps of a slider."""
        column = next((place for place, (low, high) in enumerate(self.columns) if low <= x <= high), None)
        row = next((place for place, (low, high) in enumerate(self.rows) if low <= y <= high), None)
        return None if column is None or row is None else row * len(self.columns) + column


def decision_map(
    record: RunRecord, config: RunConfig, x: Column, y: Column, fits: Mapping[str, GraderFit] | None = None
) -> DecisionMap:
    """The map around ``config``, on every step of both sliders and the values of ``config`` and of the run itself.

    ``fits`` as in :func:`engine.replay.table.run_table`. Raises ``ValueError`` where ``x`` and ``y`` are the same or
    one of them is no number that decides.
    """
    usable = numbers_of(config)
    if x == y or x not in usable or y not in usable:
        raise ValueError(f"a decision map needs two different settings of {', '.join(usable)}")
    judged = rejudged(record, config.models.grader, fits or {})

    def asked(config: RunConfig) -> WhatIf:
        return what_if(judged, config, record)

    table = run_table(record, fits=fits).judged_by(config.models.grader)
    across, up = _axis(config, record.config, x, y), _axis(config, record.config, y, x)
    grid = SettingsGrid.product(config, {y: up, x: across})
    tried = paths(table, grid)
    refused = from_refused(table, tried, grid)
    kinds = _kinds(tried, refused).reshape(len(up), len(across))
    columns, rows = _stretches(kinds.T), _stretches(kinds)
    cells = tuple(
        _cell(tried, refused, (across[left : right + 1], up[low : high + 1]), (x, y), low * len(across) + left)
        for low, high in rows
        for left, right in columns
    )
    return DecisionMap(
        x=x,
        y=y,
        columns=tuple((across[first], across[last]) for first, last in columns),
        rows=tuple((up[first], up[last]) for first, last in rows),
        cells=tuple(_noted(cell, record, asked, replace(config, **_tried(x, y, cell))) for cell in cells),
        coupling=coupling_of(asked, table, config),
    )


def _noted(cell: Cell, record: RunRecord, asked: Asked, config: RunConfig) -> Cell:
    """The cell with the note on the answer that stands there; of several drafts, the one that would."""
    if cell.state != "known" or cell.outcome not in ANSWERED:
        return cell
    one = len(record.drafts) < 2
    return replace(cell, answer_note=Checked.of(record).under(config) if one else asked(config).answer_note)


def _tried(x: Column, y: Column, cell: Cell) -> dict[str, Any]:
    values = {x: cell.x_try, y: cell.y_try}
    return {name: int(value) if PARAMETERS[name].whole else value for name, value in values.items()}


def coupling_of(asked: Asked, table: RunTable, config: RunConfig) -> Coupling | None:
    """The step of the similarity threshold, nearest to that of ``config``, above which the gate of one round passes
    that fails below it; None where there is none or the gate counts passages."""
    if config.gate != "pass_rate" or "grade_pass_threshold" not in numbers_of(config):
        return None
    values = _axis(config, table.config, "similarity_threshold", "top_k")
    tried = paths(table, SettingsGrid.product(config, {"similarity_threshold": values}))
    passes = tried.path_known & (tried.reason == _PASSED)
    failing = np.where(tried.path_known & (tried.reason != _PASSED), tried.round, tried.rewrites - 1)
    here = values.index(config.similarity_threshold)
    steps = [
        place
        for place in range(1, len(values))
        if passes[place] and tried.kept[place] > 0 and failing[place - 1] >= tried.round[place]
    ]
    if not steps:
        return None
    place = min(steps, key=lambda step: (abs(step - here), step))
    index = int(tried.round[place])
    below = asked(replace(config, similarity_threshold=values[place - 1])).steps[index].decision
    if below is None:
        return None
    return Coupling(
        similarity_from=values[place - 1],
        similarity_to=values[place],
        round=index,
        pass_rate_from=below.pass_rate,
        pass_rate_to=float(tried.pass_rate[place]),
        threshold=config.grade_pass_threshold,
    )


def _axis(config: RunConfig, run: RunConfig, name: Column, also: Column) -> list[float]:
    parameter = PARAMETERS[name]
    steps = round((parameter.high - parameter.low) / parameter.step)
    values = {round(parameter.low + place * parameter.step, 4) for place in range(steps + 1)}
    low, high = bounds_of(config, name, [also])
    values |= {float(getattr(config, name)), float(getattr(run, name))}
    return sorted(value for value in values if low <= value <= high)


def from_refused(table: RunTable, tried: Paths, grid: SettingsGrid) -> BoolArray:
    """Mark the settings whose answer would be given a passage that the grader refused, or below the run's own bar.

    Where it is open what else is given, those that pass are looked at.
    """
    accepted = table.by_confidence[:, int(np.searchsorted(table.levels, table.config.min_confidence))] & ~table.rejected
    passing = np.take(table.by_confidence, np.searchsorted(table.levels, grid.min_confidence), axis=1)
    given = np.where(tried.context_known, tried.context, passing)
    answers = np.isin(tried.outcome, [OUTCOMES.index(name) for name in ("answered", "answered_forced")])
    found: BoolArray = answers & any_of(given & ~column(accepted))
    return found


def _kinds(tried: Paths, refused: BoolArray) -> IntArray:
    """One number for all that a cell says."""
    facts = (tried.state, tried.outcome, tried.reason, tried.round, tried.rewrites, tried.steps, refused.astype(int))
    number = np.zeros(len(tried), dtype=np.int64)
    for fact in facts:
        low = int(fact.min())
        number = number * (int(fact.max()) - low + 1) + (fact - low)
    return number


def _stretches(kinds: IntArray) -> list[tuple[int, int]]:
    """First and last place of runs of equal rows."""
    turns = np.flatnonzero((kinds[1:] != kinds[:-1]).any(axis=1)).tolist()
    firsts, lasts = [0, *(turn + 1 for turn in turns)], [*turns, len(kinds) - 1]
    return list(zip(firsts, lasts, strict=True))


def _cell(
    tried: Paths,
    refused: BoolArray,
    values: tuple[Sequence[float], Sequence[float]],
    names: tuple[Column, Column],
    place: int,
) -> Cell:
    across, up = values
    outcome, reason = int(tried.outcome[place]), int(tried.reason[place])
    return Cell(
        x0=across[0],
        x1=across[-1],
        y0=up[0],
        y1=up[-1],
        state=STATES[tried.state[place]],
        outcome=OUTCOMES[outcome] if outcome >= 0 else None,
        reason=REASONS[reason] if reason >= 0 else None,
        round=int(tried.round[place]),
        rewrites=int(tried.rewrites[place]),
        steps=int(tried.steps[place]),
        x_try=round_value(across, whole=PARAMETERS[names[0]].whole),
        y_try=round_value(up, whole=PARAMETERS[names[1]].whole),
        refused=bool(refused[place]),
    )
