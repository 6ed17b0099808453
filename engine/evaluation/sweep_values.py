"""A sweep over two or three settings, and what it recommends: values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import Evaluation, Measure
from engine.evaluation.statistics import Interval, PairedTest, Verdict
from engine.model.config import RunConfig
from engine.replay.masks import FloatArray

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


Choice = Literal["best", "cheaper", "closer_to_defaults", "baseline_stays", "too_poor"]
"""Why a setting was picked. ``best``: none has its quality. Of those not told apart from it, ``cheaper``: it takes
the fewest steps; ``closer_to_defaults``: several take as few; ``baseline_stays``: the baseline is one of these.
``too_poor``: none reaches :data:`QUALITY_FLOOR`, so none is recommended."""
QUALITY_FLOOR = 0.3
"""Share of the questions that a setting must do well on to be recommended: below it the best of many is luck."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One setting of a sweep, and how sure it is, on these questions, that it differs from the baseline."""

    setting: int | None
    """Index in the sweep; None where the pick is the baseline, which need not be one of the sweep's settings."""
    config: RunConfig
    baseline: RunConfig
    choice: Choice
    n: int
    """Gathered questions, the failed ones left out."""
    unknown_n: int
    """Of these, questions whose path under the pick is not known."""
    tried: int
    """Settings of the sweep that were compared: those with enough known questions."""
    tied: int
    """Of these, how many are not told apart from the best one."""
    quality: Interval | None
    steps: Interval | None
    seconds: Interval | None
    """Of the pick, over the questions that can tell."""
    quality_test: PairedTest
    """Against the baseline: McNemar's exact test on questions known under both."""
    p_corrected: float
    """The same for the best of ``tried`` settings: without it, the luckiest of many would seem better."""
    verdict: Verdict
    """On quality, by the greater of the two p-values."""
    cost_verdict: Verdict
    """On steps: ``better`` means fewer."""
    expected_on_new: float | None
    """Quality of the best setting on questions that had no part in picking it (out-of-bag bootstrap: picked on each
    resample, measured on the questions it left out); None under 20 questions. Lower than ``quality`` where the pick
    owes something to luck."""
    rejected: int = 0
    """Passages, over all questions, that the pick gives to the generator although the grader called them not relevant;
    where it is not known what would be given, all that might be."""
    rejected_before: int = 0
    """The same under the baseline."""
