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
from engine.evaluation.figures import OUTCOMES, Evaluation, Figures
from engine.evaluation.measures import MEASURES, Measure
from engine.flow import workflow
from engine.model.config import RunConfig
from engine.replay.masks import BoolArray
from engine.replay.settings import COLUMNS

MAX_AXES = 3
Cost = Literal["steps", "calls", "seconds"]
AxisValue = float | int | str | bool


@dataclass(frozen=True, slots=True)
class Axis:
    """One setting of ``RunConfig`` by name, with the values that are tried."""

    name: str
    values: tuple[AxisValue, ...]


@dataclass(frozen=True, slots=True)
class Front:
    """Settings that no other one beats in both quality and cost by their worse ends, cheapest first.

    Of equal ones the first stands for all.
    """

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

    @property
    def possible(self) -> BoolArray:
        """[S]: a round can meet the gate; see :func:`can_pass`."""
        return np.array([can_pass(config) for config in self.configs], dtype=np.bool_)

    def heat(self, measure: Measure, x: str, y: str, at: Mapping[str, AxisValue] | None = None) -> HeatMap:
        """A measure over two axes; a third one is held at ``at``, or at the base's value, or at its first.

        Raises ``KeyError`` for an axis that was not swept.
        """
        held = {axis.name: (at or {}).get(axis.name, getattr(self.base, axis.name)) for axis in self.axes}
        held |= {axis.name: axis.values[0] for axis in self.axes if held[axis.name] not in axis.values}
        return heat_of(self.evaluation.figures(measure), self.possible, self.axes, x=x, y=y, held=held)


@dataclass(frozen=True, slots=True)
class HeatMap:
    """One measure, rows by ``y``, columns by ``x``."""

    x: Axis
    y: Axis
    figures: Figures
    settings: NDArray[np.int64]
    """Index of each cell's setting in the sweep."""
    possible: NDArray[np.bool_]
    """False where no round can ever meet the gate: no result of these settings."""

    @property
    def measure(self) -> Measure:
        return self.figures.measure


def heat_of(
    figures: Figures, possible: BoolArray, axes: Sequence[Axis], *, x: str, y: str, held: Mapping[str, AxisValue]
) -> HeatMap:
    """Lay figures by setting over two of the axes, the others held at values of theirs.

    Raises ``KeyError`` for an axis that was not swept, ``ValueError`` for a value that was not tried.
    """
    places = {axis.name: place for place, axis in enumerate(axes)}
    x_place, y_place = places[x], places[y]
    cut = tuple(slice(None) if axis.name in (x, y) else axis.values.index(held[axis.name]) for axis in axes)
    shape = tuple(len(axis.values) for axis in axes)

    def laid(values: NDArray[Any]) -> NDArray[Any]:
        square: NDArray[Any] = values.reshape(shape)[cut]
        return square if y_place < x_place else square.T

    return HeatMap(axes[x_place], axes[y_place], figures.laid(laid), laid(np.arange(len(possible))), laid(possible))


def can_pass(config: RunConfig) -> bool:
    """Return whether a round can meet the gate at all: no more passages must pass than can be kept.

    Passages of earlier rounds count where the context is the union of all rounds.
    """
    own = workflow(config.workflow)
    if not own.gate or config.gate != "min_relevant":
        return True
    rounds = 1 if config.context == "last_round" else own.rounds(config)
    return config.min_relevant <= config.top_k * rounds


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
    """The Pareto front of quality against a mean cost, both at their worse ends, cheapest first.

    So nothing is on it for what is not known of it. Settings whose cost nothing limits are left out, and those whose
    gate no round can meet.
    """
    quality, price = swept.evaluation.figures("quality").worse, swept.evaluation.figures(cost).worse
    usable = np.flatnonzero(swept.possible & ~np.isnan(quality) & np.isfinite(price))
    on_front: list[int] = []
    best = -np.inf
    for setting in sorted(usable, key=lambda index: (price[index], -quality[index], index)):
        if quality[setting] > best:
            best = quality[setting]
            on_front.append(int(setting))
    return Front(cost, tuple(on_front))


def rows(swept: Sweep) -> list[dict[str, AxisValue | None]]:
    """One row a setting for a CSV file: its axes, every measure, and the outcomes.

    A measure is empty while a question is unknown; next to it are its bounds, how many questions it is about, and how
    many of them are known. An upper bound is empty where nothing limits it.
    """
    evaluation = swept.evaluation
    figures = [evaluation.figures(measure) for measure in MEASURES]
    seconds = {"seconds_median": 0.5, "seconds_p90": 0.9}
    fronts = {f"on_front_{cost}": set(front(swept, cost).settings) for cost in ("steps", "seconds")}
    counts = {outcome: (evaluation.outcomes == code).sum(axis=0) for code, outcome in enumerate(OUTCOMES)}
    possible = swept.possible
    made: list[dict[str, AxisValue | None]] = []
    for setting in range(len(swept.configs)):
        row: dict[str, AxisValue | None] = dict(swept.settings(setting))
        row["gate_can_be_met"] = bool(possible[setting])
        row["questions"] = len(evaluation.case_ids)
        row["failed"] = len(evaluation.failed)
        row["unknown"] = int(evaluation.unknown_n[setting])
        for figure in figures:
            name, one = figure.measure, figure.at(setting)
            row |= {name: one.value, f"{name}_n": one.n, f"{name}_known_n": one.known_n}
            row |= {f"{name}_lower": one.lower, f"{name}_upper": one.upper}
        row.update({name: evaluation.quantile("seconds", share, setting).value for name, share in seconds.items()})
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
