"""Tries every combination of a few settings on gathered evidence, and says which to take and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.aggregate import CUTOFF, evaluate
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import MEASURES, OUTCOMES, Evaluation, Measure
from engine.model.config import RunConfig
from engine.replay.masks import BoolArray, FloatArray
from engine.replay.settings import COLUMNS

MAX_AXES = 3
Cost = Literal["steps", "calls", "seconds"]
ENOUGH_KNOWN = 0.9
"""A setting is compared where it tells at least this share of the questions that the best known one tells."""
AxisValue = float | int | str | bool


@dataclass(frozen=True, slots=True)
class Axis:
    """One setting of ``RunConfig`` by name, with the values that are tried."""

    name: str
    values: tuple[AxisValue, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """Settings that no other one beats in both quality and cost, cheapest first; equal ones by their first."""

    cost: Measure
    settings: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Every combination of the axes' values over one base, evaluated from evidence."""

    evidence: Evidence
    base: RunConfig
    axes: tuple[Axis, ...]
    evaluation: Evaluation
    """Settings in the order of the axes, the last one fastest."""

    @property
    def configs(self) -> tuple[RunConfig, ...]:
        return self.evaluation.configs

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.values) for axis in self.axes)

    def index(self, places: tuple[int, ...]) -> int:
        """The setting at these places of the axes."""
        return int(np.ravel_multi_index(places, self.shape))

    def settings(self, setting: int) -> dict[str, AxisValue]:
        """The values of the axes at a setting."""
        places = np.unravel_index(setting, self.shape)
        return {axis.name: axis.values[int(place)] for axis, place in zip(self.axes, places, strict=True)}

    def heat(self, measure: Measure, x: str, y: str, at: Mapping[str, AxisValue] | None = None) -> HeatMap:
        """A measure over two axes; a third one is held at ``at``, or at the base's value, or at its first.

        Raises ``KeyError`` for an axis that was not swept.
        """
        places = {axis.name: place for place, axis in enumerate(self.axes)}
        x_place, y_place = places[x], places[y]
        index: list[int | slice] = []
        for axis in self.axes:
            wanted = (at or {}).get(axis.name, getattr(self.base, axis.name))
            held = axis.values.index(wanted) if wanted in axis.values else 0
            index.append(slice(None) if axis.name in (x, y) else held)
        cut = tuple(index)

        def laid(values: NDArray[np.generic]) -> NDArray[np.generic]:
            square = values.reshape(self.shape)[cut]
            return square if y_place < x_place else square.T

        numbers = np.arange(len(self.configs))
        return HeatMap(
            measure=measure,
            x=self.axes[x_place],
            y=self.axes[y_place],
            values=np.asarray(laid(self.evaluation.value(measure)), dtype=np.float64),
            n=np.asarray(laid(self.evaluation.n(measure)), dtype=np.int64),
            known_n=np.asarray(laid(self.evaluation.known_n), dtype=np.int64),
            settings=np.asarray(laid(numbers), dtype=np.int64),
        )


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Values of one measure, rows by ``y``, columns by ``x``; NaN where no question can tell."""

    measure: Measure
    x: Axis
    y: Axis
    values: FloatArray
    n: NDArray[np.int64]
    """Questions behind each value."""
    known_n: NDArray[np.int64]
    """Questions whose path is known; a page pales cells where it is less than all."""
    settings: NDArray[np.int64]
    """Index of each cell's setting in the sweep."""


def sweep(evidence: Evidence, base: RunConfig, axes: Sequence[Axis], *, cutoff: int = CUTOFF) -> Sweep:
    """``base`` with every combination of the axes' values, evaluated from evidence; calls nothing.

    Raises ``ValueError`` for no axis or more than three, for one without values, and for a setting that needs calls to
    try; ``InvalidConfig`` for a value out of range.
    """
    if not 1 <= len(axes) <= MAX_AXES or len({axis.name for axis in axes}) < len(axes):
        raise ValueError(f"a sweep has one to {MAX_AXES} different axes")
    usable = [_usable(base, axis) for axis in axes]
    names = [axis.name for axis in usable]
    configs = [_with(base, dict(zip(names, row, strict=True))) for row in product(*(axis.values for axis in usable))]
    return Sweep(evidence, base, tuple(usable), evaluate(evidence, configs, cutoff=cutoff))


def front(swept: Sweep, cost: Cost = "steps") -> Front:
    """The Pareto front of quality against a mean cost, cheapest first.

    Settings of which much less is known than of others are left out: what they do not tell are the hard questions.
    """
    quality, price = swept.evaluation.value("quality"), swept.evaluation.value(cost)
    usable = np.flatnonzero(enough_known(swept.evaluation) & ~np.isnan(quality) & ~np.isnan(price))
    on_front: list[int] = []
    best = -np.inf
    for setting in sorted(usable, key=lambda index: (price[index], -quality[index], index)):
        if quality[setting] > best:
            best = quality[setting]
            on_front.append(int(setting))
    return Front(cost, tuple(on_front))


def rows(swept: Sweep) -> list[dict[str, AxisValue | None]]:
    """One row a setting for a CSV file: its axes, every measure with its count, and the outcomes; None: not known."""
    evaluation = swept.evaluation
    values = {measure: (evaluation.value(measure), evaluation.n(measure)) for measure in MEASURES}
    seconds = evaluation.measures["seconds"]
    times = {"seconds_median": seconds.quantile(0.5), "seconds_p90": seconds.quantile(0.9)}
    fronts = {f"on_front_{cost}": set(front(swept, cost).settings) for cost in ("steps", "seconds")}
    counts = {outcome: (evaluation.outcomes == code).sum(axis=0) for code, outcome in enumerate(OUTCOMES)}
    made: list[dict[str, AxisValue | None]] = []
    for setting in range(len(swept.configs)):
        row: dict[str, AxisValue | None] = dict(swept.settings(setting))
        row["questions"] = len(evaluation.case_ids)
        row["failed"] = len(evaluation.failed)
        row["unknown"] = int(evaluation.unknown_n[setting])
        for measure, (value, n) in values.items():
            row[measure], row[f"{measure}_n"] = _number(value[setting]), int(n[setting])
        row.update({name: _number(value[setting]) for name, value in times.items()})
        row.update({name: setting in settings for name, settings in fronts.items()})
        row.update({f"outcome_{outcome}": int(count[setting]) for outcome, count in counts.items()})
        made.append(row)
    return made


def _usable(base: RunConfig, axis: Axis) -> Axis:
    """The axis with its values as a config has them: in range, rounded, each once."""
    if axis.name not in COLUMNS:
        raise ValueError(f"{axis.name!r} cannot be tried without calls")
    values = [getattr(_with(base, {axis.name: value}), axis.name) for value in axis.values]
    if not values:
        raise ValueError(f"the axis {axis.name!r} has no values")
    return Axis(axis.name, tuple(dict.fromkeys(values)))


def _with(base: RunConfig, values: dict[str, Any]) -> RunConfig:
    return replace(base, **values)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def enough_known(evaluation: Evaluation, measure: Measure = "quality") -> BoolArray:
    """Settings [S] that tell a measure of enough questions to be compared with the others."""
    n = evaluation.n(measure)
    return np.asarray((n > 0) & (n >= ENOUGH_KNOWN * n.max(initial=0)))
