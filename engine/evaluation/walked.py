"""Where every setting leads every gathered question, stacked into arrays [N, S]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from engine.evaluation.evidence import Evidence
from engine.model.config import RunConfig
from engine.replay.grid import paths
from engine.replay.masks import BoolArray, FloatArray, IntArray
from engine.replay.settings import COLUMNS, GAPS, Paths, SettingsGrid

_VERDICTS = GAPS.index("verdicts")
_DEFAULTS = RunConfig()
_AS_FOUND = ("path_known", "round", "passed", "kept", "calls", "built_in_calls", "seconds", "context_known")


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """What ``what_if`` says of N questions under S settings; all [N, S]."""

    path_known: BoolArray
    outcome: IntArray
    """Index into ``figures.OUTCOMES``; -1 where it is not known."""
    round: IntArray
    """The last round reached."""
    passed: IntArray
    kept: IntArray
    """Passages of the last round."""
    all_judged: BoolArray
    """False where the last round kept passages that no one judged, so that ``passed`` is only a lower bound."""
    calls: IntArray
    built_in_calls: IntArray
    seconds: FloatArray
    """NaN where the run did not measure every step of the path."""
    context_known: BoolArray
    given_any: BoolArray
    given_all: BoolArray
    """The generator is given something that meets any, or every, expectation; both false without expectations."""
    found_any: BoolArray
    """The last round kept something that meets an expectation."""


def walk(evidence: Evidence, configs: Sequence[RunConfig]) -> Walked:
    """Every question under every config. The configs may differ in anything; what needs calls is not known."""
    shape = (len(evidence), len(configs))
    walked = Walked(**{item.name: np.zeros(shape, dtype=_DTYPES[item.name]) for item in fields(Walked)})
    groups: dict[RunConfig, list[int]] = {}
    for place, config in enumerate(configs):
        groups.setdefault(_apart_from_columns(config), []).append(place)
    for places in groups.values():
        grid = SettingsGrid.of([configs[place] for place in places])
        columns: slice | list[int] = slice(None) if len(places) == len(configs) else places
        for row, item in enumerate(evidence.gathered):
            _fill(walked, row, columns, paths(item.table, grid))
    return walked


def _apart_from_columns(config: RunConfig) -> RunConfig:
    return replace(config, **{name: getattr(_DEFAULTS, name) for name in COLUMNS})


def _fill(walked: Walked, row: int, columns: slice | list[int], own: Paths) -> None:
    for name in _AS_FOUND:
        getattr(walked, name)[row, columns] = getattr(own, name)
    walked.outcome[row, columns] = np.where(own.path_known, own.outcome, -1)
    walked.all_judged[row, columns] = own.gap != _VERDICTS
    if own.given.shape[1]:
        walked.given_any[row, columns] = own.given.any(axis=1)
        walked.given_all[row, columns] = own.given.all(axis=1)
        walked.found_any[row, columns] = own.found.any(axis=1)


_FLAGS = ("path_known", "all_judged", "context_known", "given_any", "given_all", "found_any")
_DTYPES: dict[str, type] = {
    item.name: bool if item.name in _FLAGS else float if item.name == "seconds" else np.int64 for item in fields(Walked)
}
