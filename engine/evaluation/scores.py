"""Retrieval measures of rankings against expectations, over all rankings at once.

The definitions are those of ir-measures, which the tests compare them with; it would bring SciPy along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.replay.masks import FloatArray

MAX_CUTOFF = 20
"""The largest top_k, and so the deepest cut-off that a round's kept passages can need."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Expectations that each rank meets for the first time; equal ones score equally.

    A passage that meets only what a better one has met already counts as unmet, so several chunks of an expected
    source count once. A passage that meets several expectations at once takes one place for each of them in nDCG.
    """

    expected: int
    """How many expectations the case has; at least 1."""
    gains: tuple[int, ...]
    """Newly met expectations by place, best first, at most :data:`MAX_CUTOFF` places."""

    def __post_init__(self) -> None:
        if self.expected < 1:
            raise ValueError("a ranking needs at least one expectation")
        if len(self.gains) > MAX_CUTOFF or not 0 <= sum(self.gains) <= self.expected:
            raise ValueError("more places or more met expectations than there can be")


@dataclass(frozen=True, slots=True)
class Scores:
    """Measures by ranking and cut-off: arrays [rankings, MAX_CUTOFF + 1], column k for the first k places.

    Column 0 is 0: a round that keeps nothing finds nothing. Beyond the end of a ranking the values stay.
    """

    recall: FloatArray
    rr: FloatArray
    """Reciprocal rank of the first place that meets an expectation; 0 where there is none within k."""
    ndcg: FloatArray
    """Binary gains, log2 discount; the ideal has every expectation on top, cut at k as well."""

    def __len__(self) -> int:
        return int(self.recall.shape[0])


def ranking_of(met: Sequence[Sequence[int]], expected: int) -> Ranking:
    """The ranking of one round: ``met`` has, place by place, the indices of the expectations that the passage meets."""
    seen: set[int] = set()
    gains: list[int] = []
    for indices in met[:MAX_CUTOFF]:
        fresh = set(indices) - seen
        seen |= fresh
        gains.append(len(fresh))
    return Ranking(expected, tuple(gains))


def scores_of(rankings: Sequence[Ranking]) -> Scores:
    """Scores in the order of ``rankings``."""
    gains = np.zeros((len(rankings), MAX_CUTOFF), dtype=np.int64)
    for row, ranking in enumerate(rankings):
        gains[row, : len(ranking.gains)] = ranking.gains
    expected = np.array([ranking.expected for ranking in rankings], dtype=np.int64).reshape(-1, 1)
    met = gains > 0
    # A passage that meets several expectations takes one place for each of them.
    places = np.cumsum(np.maximum(gains, 1), axis=1)
    discounts = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, places.max(initial=0) + 2)))))
    gained = np.where(met, discounts[places] - discounts[places - gains], 0.0)
    first = np.where(met.any(axis=1), np.argmax(met, axis=1) + 1.0, np.inf).reshape(-1, 1)
    return Scores(
        recall=_from_nothing(np.cumsum(gains, axis=1) / expected),
        rr=_from_nothing(np.where(np.arange(1, MAX_CUTOFF + 1) >= first, 1 / first, 0.0)),
        ndcg=_from_nothing(np.cumsum(gained, axis=1) / discounts[np.minimum(places, expected)]),
    )


def _from_nothing(values: FloatArray) -> FloatArray:
    """The values with a column before them: a round that keeps nothing finds nothing."""
    return np.pad(values, ((0, 0), (1, 0)))
