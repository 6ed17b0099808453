"""Many settings at once, and where each of them leads a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from engine.model.config import PARAMETERS, RunConfig
from engine.model.values import Outcome, PassageId, Reason
from engine.replay.masks import BoolArray, FloatArray, IntArray, Words, places
from engine.replay.table import RunTable
from engine.replay.values import Gap, State

Column = Literal[
    "top_k",
    "similarity_threshold",
    "grade_pass_threshold",
    "max_rewrites",
    "min_confidence",
    "min_relevant",
    "cascade_low",
    "cascade_high",
    "gate",
    "context",
]
COLUMNS: tuple[Column, ...] = get_args(Column)
"""The settings that a grid can vary: those that decide without any call."""
_NUMBERS: Mapping[Column, type[np.number[Any]]] = {
    name: np.int64 if PARAMETERS[name].whole else np.float64 for name in COLUMNS if name in PARAMETERS
}

_ANY_CUT = RunConfig(cascade_low=0, cascade_high=1)
"""A config that either cut may have any value in."""

ROUTES = ("rewrite", "generate", "end")
"""Where a decision leads that a grid models."""
REASONS: tuple[Reason, ...] = get_args(Reason)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
STATES: tuple[State, ...] = get_args(State)
GAPS: tuple[Gap, ...] = get_args(Gap)
"""What the codes of :class:`Paths` stand for; -1 stands for none."""
_COUNTS = (
    *("rewrites", "passed", "kept", "gradings", "generations", "paid_rewrites"),
    *("calls", "built_in_calls", "checks", "screened", "left"),
)


@dataclass(frozen=True, slots=True, eq=False)
class SettingsGrid:
    """Settings as columns of length S; all that is not a column is that of ``base``."""

    base: RunConfig
    top_k: IntArray
    similarity_threshold: FloatArray
    grade_pass_threshold: FloatArray
    max_rewrites: IntArray
    min_confidence: FloatArray
    min_relevant: IntArray
    cascade_low: FloatArray
    cascade_high: FloatArray
    by_count: BoolArray
    """The gate is ``min_relevant``."""
    last_round: BoolArray
    """The context is ``last_round``."""

    @classmethod
    def of(cls, configs: Sequence[RunConfig]) -> SettingsGrid:
        """Make a grid of configs; raises ``ValueError`` where there is none or they differ in more than the columns."""
        if not configs:
            raise ValueError("a grid needs at least one config")
        base = configs[0]
        for config in configs[1:]:
            if replace(config, **_columns_of(base)) != base:
                raise ValueError("the configs of a grid may differ in its columns alone")
        return cls._with(base, lambda name: np.array([getattr(item, name) for item in configs]))

    @classmethod
    def product(cls, base: RunConfig, axes: Mapping[str, Sequence[float | str]]) -> SettingsGrid:
        """``base`` with every combination of the values of ``axes``, the last axis running fastest.

        Raises ``ValueError`` for an axis that is no column, and ``InvalidConfig`` for a value out of range.
        """
        for name in axes:
            if name not in COLUMNS:
                raise ValueError(f"a grid has no column {name!r}")
        # Made once a value, so that ranges and rounding are those of a config.
        usable = {name: [_usable(name, value) for value in values] for name, values in axes.items()}
        places = np.indices([len(values) for values in usable.values()]).reshape(len(usable), -1)
        rows = math.prod(len(values) for values in usable.values())
        chosen = {name: np.array(values)[places[axis]] for axis, (name, values) in enumerate(usable.items())}

        def column(name: Column) -> NDArray[Any]:
            return chosen[name] if name in chosen else np.full(rows, getattr(base, name))

        return cls._with(base, column)

    @classmethod
    def _with(cls, base: RunConfig, column: Callable[[Column], NDArray[Any]]) -> SettingsGrid:
        numbers: dict[str, Any] = {name: column(name).astype(kind) for name, kind in _NUMBERS.items()}
        by_count, last_round = column("gate") == "min_relevant", column("context") == "last_round"
        return cls(base=base, by_count=by_count, last_round=last_round, **numbers)

    def __len__(self) -> int:
        return len(self.top_k)

    def equal_to(self, config: RunConfig) -> BoolArray:
        """Mark the settings that are ``config`` in every field."""
        own = SettingsGrid.of([config])
        same = [getattr(self, item.name) == getattr(own, item.name) for item in fields(self) if item.name != "base"]
        rest_is_equal = replace(self.base, **_columns_of(config)) == config
        found: BoolArray = np.logical_and.reduce(same) & rest_is_equal
        return found

    def config(self, place: int) -> RunConfig:
        """The settings at one place."""
        numbers: dict[str, Any] = {name: getattr(self, name)[place].item() for name in _NUMBERS}
        return replace(
            self.base,
            gate="min_relevant" if self.by_count[place] else "pass_rate",
            context="last_round" if self.last_round[place] else "union",
            **numbers,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The paths of one run under S settings: what ``what_if`` says of each, as arrays [S] of numbers and codes."""

    names: tuple[PassageId, ...]
    """The passages that the masks speak of."""
    state: IntArray
    gap: IntArray
    route: IntArray
    """Of the last decision that is determined; -1 where none is."""
    reason: IntArray
    outcome: IntArray
    """-1 where it is not determined."""
    round: IntArray
    """The last round reached; -1 where the settings need another retrieval altogether."""
    rewrites: IntArray
    passed: IntArray
    kept: IntArray
    """Of the last decision that is determined, as its figures count them; 0 where none is."""
    gradings: IntArray
    generations: IntArray
    paid_rewrites: IntArray
    """Rewrites that the cost counts: those after which the path is still known."""
    calls: IntArray
    built_in_calls: IntArray
    checks: IntArray
    """Of these, those that check the recorded answer, where it stands; how many another one needs is unknown."""
    screened: IntArray
    """Kept passages of the path that a cascade's screener judged, by round."""
    left: IntArray
    """Of these, those that it left to the grader."""
    seconds: FloatArray
    """nan where the run measured no such step."""
    context_known: BoolArray
    """Whether it is known what the generator would be given; nothing where the run abstains."""
    context: Words
    """[words, S]: what the generator would be given, before its token budget cuts."""
    kept_last: Words
    """[words, S]: what the last round reached keeps, as far as the search is recorded."""
    given: BoolArray
    """[S, expectations]: a passage of the context meets it."""
    found: BoolArray
    """[S, expectations]: a kept passage of the last round reached meets it."""
    first_given: IntArray
    """[S, expectations]: the first round of the path in which a passage that meets it passed; -1 where none did."""
    earlier_draft: BoolArray
    """The recorded answer that stands is a draft that the run itself went on to replace."""

    def __len__(self) -> int:
        return len(self.state)

    @property
    def known(self) -> BoolArray:
        """The recorded answer stands."""
        return np.equal(self.state, STATES.index("known"))

    @property
    def answer_stands(self) -> BoolArray:
        """The answer that the run gave stands."""
        return np.asarray(self.known & ~self.earlier_draft)

    @property
    def path_known(self) -> BoolArray:
        return np.not_equal(self.state, STATES.index("needs_calls"))

    @property
    def steps(self) -> IntArray:
        """Gradings, rewrites and generations by every role, without checks of the answer."""
        return self.calls + self.built_in_calls - self.checks

    @property
    def pass_rate(self) -> FloatArray:
        """The pass rate of the last decision that is determined; 0 where nothing was kept."""
        return np.divide(self.passed, self.kept, out=np.zeros(len(self)), where=self.kept > 0)

    def context_ids(self, place: int) -> tuple[PassageId, ...]:
        """Passages of the context at one place, in the order of first sight."""
        return tuple(self.names[index] for index in places(self.context[:, place]))


def nowhere(table: RunTable, size: int) -> Paths:
    """Paths that are still unknown: every setting needs calls."""

    def codes(value: int) -> IntArray:
        return np.full(size, value, dtype=np.int64)

    shape = (size, table.expectations)
    unknown: dict[str, Any] = {name: codes(-1) for name in ("gap", "route", "reason", "outcome", "round")}
    counts: dict[str, Any] = {name: codes(0) for name in _COUNTS}
    return Paths(
        names=table.passages,
        state=codes(STATES.index("needs_calls")),
        seconds=np.zeros(size),
        context_known=np.zeros(size, dtype=np.bool_),
        context=np.zeros((table.words, size), dtype=np.uint64),
        kept_last=np.zeros((table.words, size), dtype=np.uint64),
        given=np.zeros(shape, dtype=np.bool_),
        found=np.zeros(shape, dtype=np.bool_),
        first_given=np.full(shape, -1, dtype=np.int64),
        earlier_draft=np.zeros(size, dtype=np.bool_),
        **unknown,
        **counts,
    )


def _columns_of(config: RunConfig) -> dict[str, Any]:
    return {name: getattr(config, name) for name in COLUMNS}


@lru_cache(maxsize=8192)
def _usable(name: str, value: float | str) -> Any:
    """The value as a config keeps it; a map asks for the same ones at every move of a slider."""
    changes: dict[str, Any] = {name: value}
    return getattr(replace(_ANY_CUT, **changes), name)
