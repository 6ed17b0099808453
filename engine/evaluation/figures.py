"""Results of an evaluation: figures of a batch for every setting of a grid, each with guaranteed bounds.

A figure is over a population of questions: all that it is about, not those that happen to be known. Where each of them
is known it is a value. Else it is bounds: every unknown question counted worst, and every one counted best. The worse
end of the two is what settings are compared by, so that none looks good by what is not known of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.measures import LOWER_IS_BETTER, Measure
from engine.evaluation.statistics import Interval, PairedTest, interval, paired_means
from engine.model.values import AnswerNote, Outcome
from engine.replay.masks import FloatArray, IntArray

if TYPE_CHECKING:
    from engine.model.config import RunConfig


MOSTLY = 0.9
"""Share of a population from which on a figure is mostly known."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
NOTES: tuple[AnswerNote, ...] = get_args(AnswerNote)
ANSWERED: frozenset[Outcome] = frozenset({"answered", "answered_forced", "answered_unverified", "fallback"})


def ratio(total: NDArray[Any], weight: NDArray[Any], otherwise: float = np.nan) -> FloatArray:
    """``total`` over ``weight``, ``otherwise`` where that is 0."""
    return np.asarray(np.divide(total, weight, out=np.full(np.shape(weight), otherwise), where=weight > 0))


@dataclass(frozen=True, slots=True)
class Figure:
    """One number over a population of questions, for a card, a table or a bar."""

    value: float | None
    """None while a question of the population is unknown, and where the population is empty."""
    lower: float | None
    """With every unknown question at its lowest; None where the population is empty."""
    upper: float | None
    """With every unknown question at its highest; None where nothing limits that."""
    known_n: int
    n: int
    """The population."""

    @property
    def unknown_n(self) -> int:
        return self.n - self.known_n


@dataclass(frozen=True, slots=True)
class Figures:
    """One measure over its population under many settings, all arrays of one shape."""

    measure: Measure
    lower: FloatArray
    upper: FloatArray
    """Infinite where nothing limits it; both ends NaN where the population is empty."""
    known_n: IntArray
    n: IntArray

    @property
    def value(self) -> FloatArray:
        """NaN while a question of the population is unknown."""
        return np.where(self.known_n == self.n, self.lower, np.nan)

    @property
    def worse(self) -> FloatArray:
        """The end that settings are compared by: the lower where more is better, the upper of errors and costs."""
        return self.upper if self.measure in LOWER_IS_BETTER else self.lower

    @property
    def mostly_known(self) -> NDArray[np.bool_]:
        """True if so much is known that a figure may be compared with one that is fully known."""
        return np.asarray((self.n > 0) & (self.known_n >= MOSTLY * self.n))

    def at(self, place: int | tuple[int, ...]) -> Figure:
        value, lower, upper = float(self.value[place]), float(self.lower[place]), float(self.upper[place])
        return Figure(
            None if np.isnan(value) or np.isinf(value) else value,
            None if np.isnan(lower) else lower,
            None if np.isnan(upper) or np.isinf(upper) else upper,
            int(self.known_n[place]),
            int(self.n[place]),
        )

    def laid(self, lay: Callable[[NDArray[Any]], NDArray[Any]]) -> Figures:
        """The same figures in another shape."""
        return Figures(self.measure, lay(self.lower), lay(self.upper), lay(self.known_n), lay(self.n))


@dataclass(frozen=True, slots=True)
class Lost:
    """Possible contributions to a measure by questions without a usable run, unknown under every setting."""

    n: int
    weight: FloatArray
    most: FloatArray
    """[S]: what they weigh together, and add to the sum at most; at least they add nothing."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure by question and setting, as the sum and the weight that it contributes to a ratio; all [N, S].

    A mean has weights 0 and 1; a share of rewrites has as many as the question was rewritten.
    """

    total: FloatArray
    weight: FloatArray
    """0 where the question is not in the population, or unknown."""
    open: NDArray[Any] | None = None
    """What an unknown question weighs at most; 0 for the others, infinite where nothing limits it."""
    least: FloatArray | None = None
    """What an unknown question adds to the sum at least; nothing without it."""
    most: FloatArray | None = None
    """And at most, infinite where nothing limits it; its weight without it, as of a share."""
    lost: Lost | None = None

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """[N, S]: the question is in the population, or may be, and what it adds is not known."""
        return np.zeros(self.weight.shape, np.bool_) if self.open is None else np.asarray(self.open > 0)

    @property
    def lost_n(self) -> int:
        return self.lost.n if self.lost is not None else 0

    @property
    def n(self) -> IntArray:
        """The population, by setting [S]."""
        counted: IntArray = self.known_n + np.count_nonzero(self.unknown, axis=0) + self.lost_n
        return counted

    @property
    def known_n(self) -> IntArray:
        """Questions of the population that are known, by setting [S]."""
        counted: IntArray = np.count_nonzero(self.weight, axis=0)
        return counted

    def figures(self, measure: Measure) -> Figures:
        """The ratio of sums by setting [S], from every unknown question at its lowest to every one at its highest."""
        weight = self.weight.sum(axis=0)
        low = high = self.total.sum(axis=0)
        if self.open is not None:
            added = self.open.sum(axis=0)
            weight = weight + added
            low = low + (0.0 if self.least is None else self.least.sum(axis=0))
            high = high + (added if self.most is None else self.most.sum(axis=0))
        if self.lost is not None:
            weight, high = weight + self.lost.weight, high + self.lost.most
        # An unlimited number of values from 0 to 1 can bring a share to either end.
        unlimited = np.isinf(weight)
        return Figures(
            measure,
            np.where(unlimited, 0.0, ratio(low, np.where(unlimited, 1.0, weight))),
            np.where(unlimited, 1.0, ratio(high, np.where(unlimited, 1.0, weight))),
            self.known_n,
            self.n,
        )

    def of(self, setting: int) -> FloatArray:
        """Values by question [N] under one setting; NaN where the question is unknown or not in the population."""
        return ratio(self.total[:, setting], self.weight[:, setting])

    def quantile(self, share: float, *, highest: bool = False) -> FloatArray:
        """The quantile over the population by setting [S], every unknown at its lowest, or at its highest.

        NaN where the population is empty; infinite where nothing limits it.
        """
        values = ratio(self.total, self.weight, otherwise=np.inf)
        if self.open is not None:
            unknown = self.most if highest else self.least
            values = np.where(self.unknown, (float(highest) if unknown is None else unknown), values)
        if self.lost is not None:
            end = self.lost.most / max(self.lost.n, 1) if highest else np.zeros(values.shape[1])
            values = np.concatenate([values, np.broadcast_to(end, (self.lost.n, len(end)))])
        if not len(values):
            return np.full(values.shape[1], np.nan)
        values.sort(axis=0)
        n = self.n
        place = np.maximum(n - 1, 0) * share
        low = np.floor(place).astype(np.int64)
        high = np.minimum(low + 1, np.maximum(n - 1, 0))
        columns = np.arange(values.shape[1])
        lower, upper = values[low, columns], values[high, columns]
        with np.errstate(invalid="ignore"):
            between = np.where(place > low, lower + (upper - lower) * (place - low), lower)
            return np.where(n > 0, np.where(np.isnan(between), np.inf, between), np.nan)

    def only(self, settings: Sequence[int]) -> Measured:
        """Some of the settings, in the order given."""
        places = list(settings)
        open_, least, most = (None if part is None else part[:, places] for part in (self.open, self.least, self.most))
        lost = self.lost and Lost(self.lost.n, self.lost.weight[places], self.lost.most[places])
        return Measured(self.total[:, places], self.weight[:, places], open_, least, most, lost)


@dataclass(frozen=True, slots=True)
class RightBy:
    """How each of N questions under S settings is judged to have ended right; all [N, S]."""

    basis: IntArray
    """Index into ``answers.BASES``; -1 where nothing could tell."""
    recorded: NDArray[np.bool_]
    """An answer, or a refusal, is recorded."""
    given: NDArray[np.bool_]
    """Of these, answers that do not say that they cannot tell."""
    otherwise: NDArray[np.bool_]
    """Something other than what people said of the answer tells whether the question ended right."""
    at_random: NDArray[np.bool_]
    """People judged the answer, and it was drawn for that by chance."""
    first: NDArray[np.bool_]
    """No question before it is the same but for case and white space: such a one tells nothing more."""
    learnt: NDArray[np.bool_]
    """The setting's grader was fitted to judgements of the question, or of some that it does not name."""

    @property
    def tells(self) -> NDArray[np.bool_]:
        """It is known whether the question ended right."""
        return self.recorded & (self.basis >= 0)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Figures of N gathered questions under S settings; what is not known is counted at both ends, never guessed."""

    configs: tuple[RunConfig, ...]
    """The settings [S]."""
    case_ids: tuple[str, ...]
    """The gathered questions [N], without the failed ones."""
    failed: tuple[str, ...]
    """Questions without a usable run: unknown in every figure that they belong to."""
    cutoff: int
    """k of recall, reciprocal rank and nDCG."""
    outcomes: IntArray
    """[N, S]: index into ``OUTCOMES``; -1 where it is not known."""
    notes: IntArray
    """[N, S]: index into ``NOTES`` of what is to be said of the answer; 0 where none is recorded."""
    path_known: NDArray[np.bool_]
    """[N, S]"""
    measures: Mapping[Measure, Measured]
    right_by: RightBy
    by_file: int = 0
    """Gathered questions whose labels name whole files; they are in none of :data:`OF_PASSAGES`."""

    def only(self, settings: Sequence[int]) -> Evaluation:
        """The figures of some of the settings, in the order given."""
        places = list(settings)
        measures = {name: found.only(places) for name, found in self.measures.items()}
        by = {item.name: getattr(self.right_by, item.name) for item in fields(self.right_by)}
        return replace(
            self,
            configs=tuple(self.configs[place] for place in places),
            outcomes=self.outcomes[:, places],
            notes=self.notes[:, places],
            path_known=self.path_known[:, places],
            measures=measures,
            right_by=RightBy(**{name: values[:, places] for name, values in by.items()}),
        )

    @property
    def known_n(self) -> IntArray:
        """Questions whose path is known, by setting [S]."""
        counted: IntArray = self.path_known.sum(axis=0)
        return counted

    @property
    def unknown_n(self) -> IntArray:
        """Questions that would need calls to tell, by setting [S]."""
        return len(self.case_ids) - self.known_n

    def figures(self, measure: Measure) -> Figures:
        """By setting [S]."""
        return self.measures[measure].figures(measure)

    def figure(self, measure: Measure, setting: int = 0) -> Figure:
        return self.measures[measure].only([setting]).figures(measure).at(0)

    def interval(self, measure: Measure, setting: int = 0) -> Interval | None:
        """The value with its 95 % interval over questions; None while one of the population is unknown."""
        measured = self.measures[measure]
        if self.figure(measure, setting).value is None:
            return None
        return interval(measured.of(setting), weights=measured.weight[:, setting])

    def paired(self, measure: Measure, before: int, after: int) -> PairedTest:
        """The paired test of two settings, over the questions known under both.

        It tells them apart only where the unknown ones could not turn it: where the bounds of the two do not overlap.
        """
        measured = self.measures[measure]
        test = paired_means(
            measured.of(before),
            measured.of(after),
            lower_is_better=measure in LOWER_IS_BETTER,
            weights=(measured.weight[:, before], measured.weight[:, after]),
        )
        unknown = self.unknown_between(measure, before, after)
        if not unknown or test.verdict == "not_distinguishable":
            return replace(test, unknown=unknown)
        sides = measured.only([before, after]).figures(measure)
        first, second = (after, before) if sides.measure in LOWER_IS_BETTER else (before, after)
        if test.verdict == "worse":
            first, second = second, first
        place = {before: 0, after: 1}
        apart = bool(sides.upper[place[first]] < sides.lower[place[second]])
        return replace(test, unknown=unknown, verdict=test.verdict if apart else "not_distinguishable")

    def unknown_between(self, measure: Measure, before: int, after: int) -> int:
        """Questions of the population that are unknown under one of two settings, or under both."""
        measured = self.measures[measure]
        unknown = measured.unknown
        return int((unknown[:, before] | unknown[:, after]).sum()) + measured.lost_n

    def quantile(self, measure: Measure, share: float, setting: int = 0) -> Figure:
        """Return a quantile over the questions, e.g. the median (0.5) or the 90th percentile of ``seconds``."""
        one = self.measures[measure].only([setting])
        ends = (one.quantile(share), one.quantile(share, highest=True))
        return Figures(measure, *ends, one.known_n, one.n).at(0)

    def outcome_counts(self, setting: int = 0) -> Counter[tuple[Outcome | None, AnswerNote]]:
        """Count the questions by outcome and note on the answer; None if unknown."""
        ends = zip(self.outcomes[:, setting].tolist(), self.notes[:, setting].tolist(), strict=True)
        return Counter((OUTCOMES[code] if code >= 0 else None, NOTES[note]) for code, note in ends)

    def pass_rates(self, setting: int = 0) -> FloatArray:
        """Pass rates of the last round of the questions whose path is known, ascending."""
        values = self.measures["pass_rate"].of(setting)
        return np.sort(values[~np.isnan(values)])


def side_by_side(parts: Sequence[Evaluation]) -> Evaluation:
    """Evaluations of the same questions as one, with the settings of the first before those of the next."""
    joined = cast("Evaluation", _joined(parts))
    return replace(joined, configs=tuple(config for part in parts for config in part.configs))


def _joined(values: Sequence[Any]) -> Any:
    """Join arrays along their last axis, the settings; what has none is the same in all."""
    first = values[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(values, axis=-1)
    if isinstance(first, Mapping):
        return {name: _joined([value[name] for value in values]) for name in first}
    if isinstance(first, Evaluation | Measured | RightBy | Lost):
        return replace(
            first, **{item.name: _joined([getattr(value, item.name) for value in values]) for item in fields(first)}
        )
    return first
