"""One setting at a time: the values that are worth trying for a run, and the nearest one at which something holds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import get_args

from engine.flow import workflow
from engine.flow.declaration import OF_CASCADE
from engine.model.config import PARAMETERS, GatePolicy, RunConfig
from engine.model.decide import cascades
from engine.replay.masks import IntArray
from engine.replay.settings import Column, SettingsGrid
from engine.replay.table import RunTable

NUMBERS: tuple[Column, ...] = (
    "similarity_threshold",
    "grade_pass_threshold",
    "top_k",
    "max_rewrites",
    "min_confidence",
    "min_relevant",
    "cascade_low",
    "cascade_high",
)
"""The numeric settings that decide without any call."""

GATES: tuple[GatePolicy, ...] = get_args(GatePolicy)
_FINEST = 4
"""Decimals that a config keeps of a threshold."""
_SHOWN = 2
"""Decimals of a slider."""
_MOST_KEPT = 20


def numbers_of(config: RunConfig) -> tuple[Column, ...]:
    """Return the :data:`NUMBERS` that decide in the workflow of a config: the cuts only in a cascade."""
    tried = set(workflow(config.workflow).numbers_tried) - (set() if cascades(config) else {*OF_CASCADE})
    return tuple(item for item in NUMBERS if item in tried)


def values_of(table: RunTable, config: RunConfig, name: Column) -> list[float]:
    """List, ascending, every step of the slider, the config's own value, and the values around which this run turns."""
    parameter = PARAMETERS[name]
    if parameter.whole:
        return [float(value) for value in range(int(parameter.low), int(parameter.high) + 1)]
    steps = {round(place * parameter.step, _FINEST) for place in range(round(parameter.high / parameter.step) + 1)}
    steps |= {float(getattr(config, name)), float(getattr(table.config, name))}
    scale = 10**_FINEST
    for turn in _turns(table, name):
        # Inclusive bounds: the largest value that still lets it through, and the smallest that does not.
        last = math.floor(turn * scale + 1e-6) / scale
        steps |= {round(last, _FINEST), round(last + 1 / scale, _FINEST)}
    low, high = bounds_of(config, name)
    return sorted(value for value in steps if low <= value <= high)


def bounds_of(config: RunConfig, name: str, also: Iterable[str] = ()) -> tuple[float, float]:
    """Least and greatest value of a setting under a config; ``also`` are moved too, and no two cuts may cross."""
    parameter = PARAMETERS[name]
    low, high = config.cascade_low, config.cascade_high
    if {*also} & {*OF_CASCADE}:
        low = high = round((low + high) / 2, _SHOWN)
    return low if name == "cascade_high" else parameter.low, high if name == "cascade_low" else parameter.high


def line(table: RunTable, config: RunConfig, name: Column) -> tuple[list[float], SettingsGrid]:
    """``config`` with every value of one setting."""
    values = values_of(table, config, name)
    return values, SettingsGrid.product(config, {name: values})


def nearest(values: list[float], ends: IntArray, start: float, *, up: bool) -> int | None:
    """Place of the nearest value above or below ``start`` whose end is wanted (0 or more); None where there is none.

    Of the unbroken stretch with that same end it takes the first value that a slider can show, if there is one.
    """
    own = values.index(start)
    found: int | None = None
    for place in range(own + 1, len(values)) if up else range(own - 1, -1, -1):
        if found is None and ends[place] < 0:
            continue
        if found is not None and ends[place] != ends[found]:
            break
        if round(values[place], _SHOWN) == values[place]:
            return place
        found = place if found is None else found
    return found


def share_of(name: Column, old: float, new: float) -> float:
    """Return the distance of two values as a share of the setting's range."""
    parameter = PARAMETERS[name]
    return abs(new - old) / (parameter.high - parameter.low)


def as_set(name: Column, value: float) -> float | int:
    """The value as a config holds it."""
    return int(value) if PARAMETERS[name].whole else float(value)


def round_value(values: Iterable[float], *, whole: bool) -> float:
    """Choose one of neighbouring values that is easily said: few decimals first, then near the middle."""
    stretch = list(values)
    middle = (stretch[0] + stretch[-1]) / 2
    if whole:
        return min(stretch, key=lambda value: (abs(value - middle), value))

    def effort(value: float) -> tuple[int, float]:
        spoken = next((place for place, step in enumerate((0.1, 0.05, 0.01)) if _multiple(value, step)), 3)
        return spoken, abs(value - middle)

    return min(stretch, key=effort)


def _multiple(value: float, step: float) -> bool:
    return abs(value / step - round(value / step)) < 1e-9


def _turns(table: RunTable, name: Column) -> Iterable[float]:
    if name == "similarity_threshold":
        return {float(level) for item in table.rounds for level in item.levels}
    if name == "min_confidence":
        return [float(level) for level in table.levels]
    if name in OF_CASCADE:
        rounds = table.record.rounds
        return {v.p_relevant for own in rounds for said in (own.screened, own.verdicts) for v in said.values()}
    if name == "grade_pass_threshold":
        return {part / whole for whole in range(1, _MOST_KEPT + 1) for part in range(whole + 1)}
    return []
