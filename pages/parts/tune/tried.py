"""Figures that Tune computes from evidence, each once: a moved slider recomputes only what depends on it.

Walking a thousand runs takes most of a second, nearly the same for one setting as for a hundred. So the settings around
those under test are tried along with them, and the map is a part of the sweep wherever it can be.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, get_args

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from engine.evaluation.aggregate import evaluate
from engine.evaluation.certify import Certificates, Risk, certify
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import Evaluation, Figures
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.recommend import Aim, Recommendation, recommend
from engine.evaluation.sweep import Axis, AxisValue, Cost, Front, HeatMap, Sweep, front, heat_of, rows, sweep
from engine.flow.declaration import OF_CASCADE
from engine.model.config import PARAMETERS, RunConfig
from engine.model.decide import cascades
from engine.replay.lines import bounds_of
from pages.parts.tune.evidence import Shown

COSTS: tuple[Cost, ...] = ("steps", "calls", "seconds")
_MAP_STEPS = (11, 11)
"""Values of one axis of the map."""
_SWEPT = {1: (101, 20), 2: (21, 20), 3: (11, 6)}
"""Values of a threshold and of a whole number by how many settings are swept: some hundreds of settings."""
_AROUND = 8
"""Steps of every slider to both sides that are tried along with where it stands."""
_MOVED = ("top_k", "similarity_threshold", "grade_pass_threshold", "min_relevant", "max_rewrites")
_BLOCKS, _SWEEPS = 4, 6
"""Kept for every gathering that is looked at."""
Key = TypeVar("Key")
Value = TypeVar("Value")
_HASHED: Any = {RunConfig: repr}
SWEPT = (
    *("top_k", "similarity_threshold", "grade_pass_threshold", "max_rewrites", "min_confidence", "min_relevant"),
    *("cascade_low", "cascade_high"),
)
"""The settings that can be swept."""
AXES, AIM = "tune_axes", "tune_aim"
RISK, BOUND, CONFIDENCE = "tune_risk", "tune_risk_bound", "tune_risk_confidence"
"""Keys of the tab's widgets."""
USUAL_BOUND, USUAL_CONFIDENCE = 0.1, 0.95


@dataclass(frozen=True, slots=True)
class Tried:
    """Sweep as shown on the page: figures by setting; those by question take hundreds of megabytes."""

    axes: tuple[Axis, ...]
    configs: tuple[RunConfig, ...]
    settings: tuple[Mapping[str, AxisValue], ...]
    figures: Mapping[Measure, Figures]
    """By setting."""
    possible: NDArray[np.bool_]
    """Whether a round can meet the gate at all."""
    fronts: Mapping[Cost, Front]

    def heat(self, measure: Measure, x: str, y: str, config: RunConfig) -> HeatMap | None:
        """A measure over two of the axes, a third one as in ``config``; None where the sweep does not have that."""
        held = {axis.name: getattr(config, axis.name) for axis in self.axes}
        others = [axis for axis in self.axes if axis.name not in (x, y)]
        if not {x, y} <= held.keys() or any(held[axis.name] not in axis.values for axis in others):
            return None
        return heat_of(self.figures[measure], self.possible, self.axes, x=x, y=y, held=held)


@dataclass(frozen=True, slots=True)
class _Made:
    tried: Tried
    sweep: Sweep
    """With few of its measures."""


class Kept(Generic[Key, Value]):
    """The last few values by key, for every session of this process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._guard = threading.Lock()
        self._kept: OrderedDict[Key, Value] = OrderedDict()

    def find(self, key: Key) -> Value | None:
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def values(self) -> list[Value]:
        with self._guard:
            return list(self._kept.values())

    def keep(self, key: Key, value: Value) -> None:
        with self._guard:
            self._kept[key] = value
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


# -- the settings under test -------------------------------------------------------------------------------------


def evaluated(shown: Shown, before: RunConfig, config: RunConfig) -> Evaluation:
    """The figures of two settings, ``before`` first."""
    blocks = _blocks(shown.name, before)
    block = next((block for block in blocks.values() if config in block.configs), None)
    if block is None:
        block = evaluate(shown.evidence, (before, config, *_around(config)))
        blocks.keep(config, block)
    return block.only((0, block.configs.index(config, 1) if config in block.configs[1:] else 0))


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=_HASHED)
def _blocks(name: str, before: RunConfig) -> Kept[RunConfig, Evaluation]:
    """Evaluations of neighbouring settings, by the one around which they were made."""
    return Kept(_BLOCKS)


def _around(config: RunConfig) -> list[RunConfig]:
    """The settings a few steps of one slider away."""
    found = []
    for name in _MOVED:
        limits, here = PARAMETERS[name], getattr(config, name)
        for step in (*range(-_AROUND, 0), *range(1, _AROUND + 1)):
            value = round(here + step * limits.step, 4)
            if limits.low <= value <= limits.high:
                moved: dict[str, Any] = {name: int(value) if limits.whole else value}
                found.append(replace(config, **moved))
    return found


# -- many settings -----------------------------------------------------------------------------------------------


def map_of(shown: Shown, config: RunConfig, axes: tuple[str, str], measure: Measure, swept: tuple[str, ...]) -> HeatMap:
    """The heat map of two settings (across, up), the others as the sliders have them."""
    made = _sweeps(shown.name).find((_held(config, swept), swept))
    # A sweep that is there has it for nothing; one that is not takes longer than the map alone.
    found = made.tried.heat(measure, *axes, config) if made is not None else None
    return found if found is not None else _map(shown.name, _held(config, axes), axes, measure, shown.evidence)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=_HASHED)
def _map(name: str, held: RunConfig, axes: tuple[str, str], measure: Measure, _evidence: Evidence) -> HeatMap:
    return _sweep(_evidence, held, axes, _MAP_STEPS).heat(measure, *axes)


def tried(shown: Shown, config: RunConfig, names: tuple[str, ...]) -> Tried:
    """Every combination of round values of these settings; computed again only where another setting moved."""
    return _made(shown.name, _held(config, names), names, shown.evidence).tried


def recommended(shown: Shown, config: RunConfig, names: tuple[str, ...], before: RunConfig) -> Recommendation:
    """The setting of the sweep to take instead of ``before``, by the chosen aim."""
    aim: Aim = st.session_state.get(AIM) or get_args(Aim)[0]
    return _recommended(shown.name, _held(config, names), names, before, aim, shown.evidence)


def certificates(
    shown: Shown, config: RunConfig, names: tuple[str, ...], *, risk: Risk, bound: float, confidence: float
) -> Certificates:
    """Return the settings of the sweep that keep a risk below a bound."""
    made = _made(shown.name, _held(config, names), names, shown.evidence).sweep
    return certify(made.evaluation, risk=risk, bound=bound, confidence=confidence)


def tried_rows(shown: Shown, config: RunConfig, names: tuple[str, ...]) -> list[dict[str, AxisValue | None]]:
    """The same settings with every measure, for a file."""
    return rows(_sweep(shown.evidence, _held(config, names), names, _SWEPT[len(names)]))


@st.cache_resource(max_entries=4, show_spinner=False)
def _sweeps(name: str) -> Kept[tuple[RunConfig, tuple[str, ...]], _Made]:
    return Kept(_SWEEPS)


def _made(name: str, held: RunConfig, names: tuple[str, ...], evidence: Evidence) -> _Made:
    sweeps = _sweeps(name)
    found = sweeps.find((held, names))
    if found is None:
        found = _tried(_sweep(evidence, held, names, _SWEPT[len(names)]))
        sweeps.keep((held, names), found)
    return found


def _tried(made: Sweep) -> _Made:
    evaluation = made.evaluation
    found = Tried(
        axes=made.axes,
        configs=made.configs,
        settings=tuple(made.settings(place) for place in range(len(made.configs))),
        figures={measure: evaluation.figures(measure) for measure in MEASURES},
        possible=made.possible,
        fronts={cost: front(made, cost) for cost in COSTS},
    )
    # What a recommendation and a certificate ask for; all measures of a thousand runs are hundreds of megabytes.
    wanted: tuple[Measure, ...] = (
        *("quality", "steps", "seconds"),
        *("answered_right", "wrong_given", "refused_answerable"),
    )
    slim = replace(evaluation, measures={measure: evaluation.measures[measure] for measure in wanted})
    return _Made(found, replace(made, evaluation=slim))


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_HASHED)
def _recommended(
    name: str, held: RunConfig, names: tuple[str, ...], before: RunConfig, aim: Aim, _evidence: Evidence
) -> Recommendation:
    return recommend(_made(name, held, names, _evidence).sweep, before, aim)


def _held(config: RunConfig, names: tuple[str, ...]) -> RunConfig:
    """The settings that a sweep leaves alone; those that it varies must not tell two sweeps apart."""
    defaults = RunConfig(cascade_low=0, cascade_high=1)
    return replace(config, **{name: getattr(defaults, name) for name in names})


def _sweep(evidence: Evidence, held: RunConfig, names: tuple[str, ...], most: tuple[int, int]) -> Sweep:
    return sweep(evidence, held, [axis_of(name, most, held, names) for name in names])


def axis_of(name: str, most: tuple[int, int], held: RunConfig, names: tuple[str, ...]) -> Axis:
    """Round values over the range of a setting: at most ``most`` of a threshold, and of a whole number.

    The cuts of a cascade do not cross, neither one that is held nor two that are both among ``names``.
    """
    limits = PARAMETERS[name]
    values: tuple[AxisValue, ...]
    if limits.whole:
        numbers = range(int(limits.low), int(limits.high) + 1)
        values = tuple(numbers[:: -(-len(numbers) // most[1])])
    else:
        low, high = bounds_of(held, name, also=[item for item in names if item != name])
        values = tuple(round(low + (high - low) * place / (most[0] - 1), 4) for place in range(most[0]))
    return Axis(name, values)


def safe_places(found: Certificates) -> frozenset[int]:
    """Places of the certified settings in their sweep."""
    return frozenset(place for place, certified in enumerate(found.certified) if certified)


def promised(shown: Shown, config: RunConfig, names: tuple[str, ...]) -> Certificates | None:
    """The certificates of a sweep for what is chosen in the tab; None where no answer tells anything."""
    if not tried(shown, config, names).figures["answered_right"].known_n.any():
        return None
    risk: Risk = st.session_state.get(RISK) or get_args(Risk)[0]
    bound = float(st.session_state.get(BOUND) or USUAL_BOUND)
    confidence = float(st.session_state.get(CONFIDENCE) or USUAL_CONFIDENCE)
    return certificates(shown, config, names, risk=risk, bound=bound, confidence=confidence)


def swept_axes(config: RunConfig) -> tuple[str, ...]:
    """The settings that are swept, as chosen; by itself the number that decides when to answer is one."""
    chosen = st.session_state.get(AXES) or ("similarity_threshold", "max_rewrites", number_of_gate(config))
    return tuple(name for name in offered_axes(config) if name in chosen)


def offered_axes(config: RunConfig) -> tuple[str, ...]:
    """The settings that can be swept under a config: the cuts only in a cascade."""
    return SWEPT if cascades(config) else tuple(name for name in SWEPT if name not in OF_CASCADE)


def number_of_gate(config: RunConfig) -> str:
    """The setting that decides when a round suffices."""
    return "grade_pass_threshold" if config.gate == "pass_rate" else "min_relevant"
