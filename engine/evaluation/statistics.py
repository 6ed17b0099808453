"""Intervals and paired tests for figures over the same questions; resampling is seeded, so results repeat exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, comb, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np

from engine.replay.masks import BoolArray, FloatArray, IntArray

CONFIDENCE = 0.95
ALPHA = 0.05
RESAMPLES = 2000
SEED = 20250301

Verdict = Literal["better", "worse", "not_distinguishable"]
_PIECE = 4_000_000
"""Drawn values held at once: 32 MB."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure over ``n`` questions with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int
    method: Literal["bootstrap", "wilson", "anytime"] = "bootstrap"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Whether one setting differs from another on the same questions."""

    verdict: Verdict
    p: float
    """Two-sided; 1.0 where nothing differs."""
    n: int
    """Questions known under both settings."""
    gained: int
    """Questions where the second is better."""
    lost: int
    difference: Interval | None = None
    """Mean of second minus first; None without questions."""
    unknown: int = 0
    """Further questions, not known under both: the verdict would stand however they ended."""


def interval(values: FloatArray, weights: FloatArray | None = None) -> Interval | None:
    """The percentile bootstrap interval of the mean of ``values`` [n]; NaN are left out, None where none is left.

    ``weights`` [n] are what the values count in a mean: whole questions are resampled, each with its own. Shares
    that are all 0 or all 1 never vary when resampled, which would say that 10 of 10 is certain; for them it is
    Wilson's interval (1927).
    """
    there = ~np.isnan(values)
    known, weights = values[there], None if weights is None else weights[there]
    n = len(known)
    if n == 0:
        return None
    if known[0] in (0.0, 1.0) and bool(np.all(known == known[0])):
        return wilson(int(known.sum()), n)
    value = float(_mean(known, weights, np.arange(n)))
    drawn = _resampled(n, lambda places: _mean(known, weights, places))
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(value, float(low), float(high), n)


def mcnemar(before: FloatArray, after: FloatArray, unknown: int = 0) -> PairedTest:
    """McNemar's exact test of two columns of 0 and 1 [n]; rows with a NaN in either are left out.

    Only the questions that differ carry information: under equality each is as likely gained as lost. ``unknown``
    questions that are not known in both count against what the others say, so that they could not turn a verdict.
    """
    both = _both(before, after)
    first, second = before[both], after[both]
    gained = int(np.sum(second > first))
    lost = int(np.sum(second < first))
    ahead, behind = max(gained, lost), min(gained, lost) + unknown
    p = sign_test(ahead, behind) if ahead > behind else 1.0
    difference = _difference(first, second, None)[0]
    return PairedTest(_verdict(p, gained - lost), p, len(first), gained, lost, difference, unknown)


def sign_test(gained: int, lost: int) -> float:
    """Two-sided p of a fair coin that fell ``gained`` times on one side and ``lost`` times on the other; exact.

    What ``scipy.stats.binomtest`` gives, whose import takes longer than all else that moving a slider does.
    """
    n = gained + lost
    tail = sum(comb(n, k) for k in range(min(gained, lost) + 1))
    return min(1.0, float(2 * tail / 2**n))


def questions_to_tell(test: PairedTest) -> int | None:
    """About how many questions like these would tell the two settings apart; None where as many are gained as lost.

    From the normal form of McNemar's test at 5 %, were as large a share of them gained and lost; six that all fall on
    one side are the fewest that the exact test tells from chance.
    """
    changed, net = test.gained + test.lost, abs(test.gained - test.lost)
    if not net:
        return None
    return ceil(test.n * max(3.841 * changed / net**2, 6 / changed))


def paired_means(
    before: FloatArray,
    after: FloatArray,
    *,
    lower_is_better: bool,
    weights: tuple[FloatArray, FloatArray] | None = None,
) -> PairedTest:
    """A paired bootstrap test of two columns of numbers [n], such as calls or seconds; NaN as in :func:`mcnemar`.

    The difference of the means is resampled over questions; p is twice the smaller share of resamples at or beyond 0
    (Efron & Tibshirani 1993, ch. 16), never below 1 / (resamples + 1). ``weights`` are those of the two columns, as
    in :func:`interval`.
    """
    both = _both(before, after)
    first, second = before[both], after[both]
    weighed = None if weights is None else (weights[0][both], weights[1][both])
    n = len(first)
    better = second < first if lower_is_better else second > first
    worse = second > first if lower_is_better else second < first
    gained, lost = int(better.sum()), int(worse.sum())
    difference, drawn = _difference(first, second, weighed)
    if difference is None or gained == lost == 0:
        return PairedTest("not_distinguishable", 1.0, n, gained, lost, difference)
    side = min(int(np.sum(drawn <= 0)), int(np.sum(drawn >= 0)))
    p = min(1.0, 2.0 * (side + 1) / (len(drawn) + 1))
    verdict = _verdict(p, -difference.value if lower_is_better else difference.value)
    # Resampling fewer than five values cannot show doubt that there is: p would be too small.
    if n < 5:
        p, verdict = 1.0, "not_distinguishable"
    return PairedTest(verdict, p, n, gained, lost, difference)


def t_quantile(share: float, freedom: int) -> float:
    """Student's t below a share of it; good to three decimals from 10 degrees of freedom on.

    Abramowitz and Stegun (1964), 26.7.5.
    """
    x = NormalDist().inv_cdf(share)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def _difference(
    first: FloatArray, second: FloatArray, weights: tuple[FloatArray, FloatArray] | None
) -> tuple[Interval | None, FloatArray]:
    """The difference of the means of two paired columns with its interval, and its resamples."""
    n = len(first)
    if n == 0:
        return None, np.empty(0)

    def difference(places: IntArray) -> FloatArray:
        if weights is None:
            return _mean(second - first, None, places)
        return _mean(second, weights[1], places) - _mean(first, weights[0], places)

    drawn = _resampled(n, difference)
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(difference(np.arange(n))), float(low), float(high), n), drawn


def corrected_p(baseline: FloatArray, columns: FloatArray) -> FloatArray:
    """P-values of every column [n, S] against ``baseline`` [n], corrected for having tried all of them; [S].

    Westfall and Young's max-statistic by sign flipping: were a setting no better or worse than the baseline, each
    question's difference could as well have had the other sign. The signs of all settings are flipped together, which
    keeps their likeness: 400 settings that differ on three questions cost little. The statistic is
    ``sum(d) / sqrt(sum(d * d))``; a NaN counts as no difference.
    """
    differences = np.nan_to_num(columns - baseline[:, None], nan=0.0)
    spread = np.sqrt((differences**2).sum(axis=0))
    changed = spread > 0
    p = np.ones(columns.shape[1])
    if not changed.any():
        return p
    scaled = differences[:, changed] / spread[changed]
    scaled, places = np.unique(scaled, axis=1, return_inverse=True)
    observed = np.abs(scaled.sum(axis=0))
    signs = np.random.default_rng(SEED).integers(0, 2, (RESAMPLES, len(baseline))).astype(np.float32) * 2 - 1
    greatest = np.abs(signs @ scaled.astype(np.float32)).max(axis=1)
    # Single precision: what is equal must count as reached.
    reached = (greatest[:, None] >= observed[None, :] - 1e-4).sum(axis=0)
    p[changed] = ((reached + 1) / (RESAMPLES + 1))[places.ravel()]
    return p


def with_correction(test: PairedTest, p_corrected: float) -> PairedTest:
    """The test with the greater of its own and a corrected p-value, and the verdict by that."""
    p = max(test.p, p_corrected)
    return replace(test, p=p, verdict=test.verdict if p < ALPHA else "not_distinguishable")


def _verdict(p: float, gain: float) -> Verdict:
    if p >= ALPHA or gain == 0:
        return "not_distinguishable"
    return "better" if gain > 0 else "worse"


def _both(before: FloatArray, after: FloatArray) -> BoolArray:
    """Return whether each row is known in both columns."""
    known: BoolArray = ~(np.isnan(before) | np.isnan(after))
    return known


def wilson(successes: int, n: int) -> Interval:
    """Wilson's interval (1927) of a share; there is at least one."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share = successes / n
    middle = share + z * z / (2 * n)
    spread = z * sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    low, high = ((middle + side * spread) / (1 + z * z / n) for side in (-1, 1))
    return Interval(share, max(0.0, low), min(1.0, high), n, "wilson")


def _resampled(n: int, figure: Callable[[IntArray], FloatArray]) -> FloatArray:
    """The figure of every resample [RESAMPLES]; it is given the places of the drawn questions [rows, n]."""
    random = np.random.default_rng(SEED)
    rows = max(1, min(RESAMPLES, _PIECE // n))
    pieces = []
    for start in range(0, RESAMPLES, rows):
        pieces.append(figure(random.integers(0, n, (min(rows, RESAMPLES - start), n))))
    return np.concatenate(pieces)


def _mean(values: FloatArray, weights: FloatArray | None, places: IntArray) -> FloatArray:
    """Average the values at places along their last axis, weighted where weights are given."""
    drawn = values[places]
    if weights is None:
        return np.asarray(drawn.mean(axis=-1))
    weighed = weights[places]
    return np.asarray((drawn * weighed).sum(axis=-1) / weighed.sum(axis=-1))
