"""Intervals for figures whose results still come in: they hold at every moment at which they are read.

An ordinary 95 % interval is right for one look that was fixed before. Who looks again and again, and stops where the
figure pleases, is misled far more often; a confidence sequence covers the truth at all moments together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import log

import numpy as np

from engine.evaluation.figures import Evaluation
from engine.evaluation.measures import MEASURES, Measure
from engine.evaluation.statistics import ALPHA, Interval
from engine.replay.masks import FloatArray

SHUFFLED_FROM = 30
"""Batches of so many questions run them in random order, and show intervals while they run; with fewer, the end is near
before an interval says anything."""
_COARSE, _FINE = 40, 25
"""Means between 0 and 1 that are tried first, and then within the steps in which the two ends lie."""
_TRUNCATION = 0.5
"""c of the paper: no bet risks more than this share of the capital."""
_PIECE = 2_000_000
"""Numbers held at once: 16 MB."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Progress of a batch in the random order of its questions."""

    order: tuple[str, ...]
    """Every case of the batch, as they are begun."""
    ended: frozenset[str]

    @property
    def unbroken(self) -> tuple[str, ...]:
        """The cases up to the first that has not ended.

        Those that ended beyond it are left out: the quick ones end first, and are no random part of all.
        """
        for place, case_id in enumerate(self.order):
            if case_id not in self.ended:
                return self.order[:place]
        return self.order


def run_order(batch_id: str, case_ids: Sequence[str]) -> tuple[str, ...]:
    """The order in which a batch begins its cases: random for a large one, and the same after every restart."""
    if len(case_ids) < SHUFFLED_FROM:
        return tuple(case_ids)
    return tuple(
        sorted(case_ids, key=lambda case_id: sha256(f"{batch_id}\n{case_id}".encode(errors="replace")).digest())
    )


def drawn(batch_id: str, case_ids: Sequence[str], ended: Collection[str]) -> Drawn | None:
    """Return the progress of a batch; None if its order is not random."""
    if len(case_ids) < SHUFFLED_FROM:
        return None
    return Drawn(run_order(batch_id, case_ids), frozenset(ended))


def anytime_of(evaluation: Evaluation, measure: Measure, setting: int, so_far: Drawn) -> Interval | None:
    """Bound a measure over all questions of the batch; None unless it is a mean of values from 0 to 1.

    How many of the questions to come are in the population is not known, so as many as possible are assumed: the
    interval of a larger number contains that of a smaller one. The lower end counts every question that has run and is
    unknown as 0, the upper one as 1; also those that ended without a usable run.
    """
    if MEASURES[measure].kind != "share":
        return None
    measured = evaluation.measures[measure]
    own = dict(zip(evaluation.case_ids, measured.of(setting), strict=True))
    unknown = {
        case_id for case_id, is_so in zip(evaluation.case_ids, measured.unknown[:, setting], strict=True) if is_so
    }
    unknown |= set(evaluation.failed) if measured.lost_n else set()
    looked = so_far.unbroken
    ends = []
    for worst in (0.0, 1.0):
        values = np.array([worst if case in unknown else own.get(case, np.nan) for case in looked], dtype=np.float64)
        counted = values[~np.isnan(values)]
        ends.append(anytime_interval(counted, len(so_far.order) - (len(looked) - len(counted))))
    low, high = ends
    if low is None or high is None:
        return None
    return Interval(low.value, low.low, high.high, low.n, "anytime")


def anytime_interval(values: FloatArray, population: int) -> Interval | None:
    """An interval for the mean of ``population`` numbers in [0, 1], from ``values`` [n] drawn one by one.

    The probability that it ever misses the mean, looked at after each draw, is at most ``ALPHA``. None before the
    first draw; the mean itself after the last.

    This is the hedged capital process of Waudby-Smith and Ramdas, Estimating means of bounded random variables by
    betting (JRSS B 86, 2024), for sampling without replacement (their section 5). Were ``m`` the mean of all, the next
    draw would have the mean ``m_t = (N m - S_(t-1)) / (N - t + 1)``, and no one could win by betting on it:

        K+_t(m) = prod_(i<=t) (1 + l+_i (X_i - m_i)),  K-_t(m) = prod_(i<=t) (1 - l-_i (X_i - m_i))

    By Ville's inequality the capital ``max(K+, K-) / 2`` reaches ``1 / ALPHA`` with a probability of at most
    ``ALPHA``; every ``m`` for which it ever did is left out. The bets depend on what was drawn before alone:
    ``l_t = sqrt(2 log(2 / ALPHA) / (v_(t-1) t log(1 + t)))`` with the running variance ``v``, at most ``c / m_t``
    for K+ and ``c / (1 - m_t)`` for K-.
    """
    n = len(values)
    if n == 0:
        return None
    mean, total = float(values.mean()), float(values.sum())
    if n >= population:
        return Interval(mean, mean, mean, n, "anytime")
    # What was drawn already bounds the mean of all.
    least, most = total / population, 1.0 - (n - total) / population
    coarse = np.unique(np.concatenate([np.linspace(0.0, 1.0, _COARSE + 1), [mean]]))
    kept = np.flatnonzero(_unrefuted(values, population, coarse))
    if not len(kept):
        return Interval(mean, least, most, n, "anytime")
    first, last = int(kept[0]), int(kept[-1])
    low = np.linspace(coarse[max(first - 1, 0)], coarse[first], _FINE + 1)
    high = np.linspace(coarse[last], coarse[min(last + 1, len(coarse) - 1)], _FINE + 1)
    fine = _unrefuted(values, population, np.concatenate([low, high]))
    # The next value outward is left out already, so that nothing between them can be missed.
    start = max(int(np.flatnonzero(fine[: _FINE + 1])[0]) - 1, 0)
    end = min(int(np.flatnonzero(fine[_FINE + 1 :])[-1]) + 1, _FINE)
    return Interval(mean, max(least, float(low[start])), min(most, float(high[end])), n, "anytime")


def _unrefuted(values: FloatArray, population: int, grid: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Mask the means in ``grid`` [m] against which the capital never rose to ``1 / ALPHA``."""
    n = len(values)
    before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
    left = population - np.arange(n)
    bets = _bets(values)
    limit = log(2.0 / ALPHA)
    kept = np.ones(len(grid), dtype=bool)
    up, down = np.zeros(len(grid)), np.zeros(len(grid))
    rows = max(1, _PIECE // len(grid))
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        expected = (population * grid - before[part, None]) / left[part, None]
        possible = (expected >= 0.0) & (expected <= 1.0)
        # Without its sign: by -0.0 a bet would have no limit at all.
        expected = np.abs(np.clip(expected, 0.0, 1.0))
        gain = values[part, None] - expected
        bet = bets[part, None]
        with np.errstate(divide="ignore", over="ignore"):
            rising = np.log1p(np.minimum(bet, _TRUNCATION / expected) * gain)
            falling = np.log1p(-np.minimum(bet, _TRUNCATION / (1.0 - expected)) * gain)
        rising, falling = up + np.cumsum(rising, axis=0), down + np.cumsum(falling, axis=0)
        kept &= (possible & (np.maximum(rising, falling) < limit)).all(axis=0)
        up, down = rising[-1], falling[-1]
    return kept


def _bets(values: FloatArray) -> FloatArray:
    """The predictable plug-in bets of the paper, its equation (26) [n]."""
    t = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (t + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (t + 1)
    known = np.concatenate([[0.25], variances[:-1]])
    return np.asarray(np.sqrt(2.0 * log(2.0 / ALPHA) / (known * t * np.log1p(t))))
