"""Retrieval measures of rankings against expectations, worked out by ir-measures in one call over the distinct ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from engine.replay.masks import FloatArray

MAX_CUTOFF = 20
"""The largest top_k, and so the deepest cut-off that a round's kept passages can need."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Which of a case's expectations each place of a ranking meets for the first time; two equal ones score alike.

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
    """Scores in the order of ``rankings``; equal ones are worked out once, and all in one call of ir-measures."""
    distinct = tuple(dict.fromkeys(rankings))
    place = {ranking: index for index, ranking in enumerate(distinct)}
    table = _distinct_scores(distinct)
    rows = [place[ranking] for ranking in rankings]
    return Scores(table.recall[rows], table.rr[rows], table.ndcg[rows])


@lru_cache(maxsize=8)
def _distinct_scores(rankings: tuple[Ranking, ...]) -> Scores:
    shape = (len(rankings), MAX_CUTOFF + 1)
    scores = Scores(np.zeros(shape), np.zeros(shape), np.zeros(shape))
    if not rankings:
        return scores
    values = _measured(rankings)
    for row, ranking in enumerate(rankings):
        own = values[str(row)]
        cut = 0
        for k in range(1, MAX_CUTOFF + 1):
            # A place that meets several expectations became several places of what ir-measures saw.
            cut += max(1, ranking.gains[k - 1]) if k <= len(ranking.gains) else 1
            scores.recall[row, k] = own[f"R@{cut}"]
            scores.ndcg[row, k] = own[f"nDCG@{cut}"]
            # The pytrec_eval provider knows no cut-off of RR: it is that of the whole ranking, or beyond k nothing.
            first = own["RR"]
            scores.rr[row, k] = first if first * k >= 1.0 - 1e-9 else 0.0
    return scores


def _measured(rankings: Sequence[Ranking]) -> Mapping[str, Mapping[str, float]]:
    """Values by ranking (its index as text) and measure."""
    import ir_measures
    from ir_measures import RR, R, nDCG

    deepest = MAX_CUTOFF + max(ranking.expected for ranking in rankings)
    measures: list[Any] = [RR, *(measure @ k for k in range(1, deepest + 1) for measure in (R, nDCG))]
    qrels = {str(row): {f"e{i}": 1 for i in range(item.expected)} for row, item in enumerate(rankings)}
    run = {str(row): _scored(item) for row, item in enumerate(rankings)}
    values: dict[str, dict[str, float]] = {query: {} for query in qrels}
    # Asked by name: left to itself, ir-measures mixes providers by what happens to be installed.
    for metric in ir_measures.pytrec_eval.iter_calc(measures, qrels, run):
        values[metric.query_id][str(metric.measure)] = metric.value
    for own in values.values():
        for measure in measures:
            own.setdefault(str(measure), 0.0)
    return values


def _scored(ranking: Ranking) -> dict[str, float]:
    """Documents with falling scores: the expectations where they are first met, other names elsewhere."""
    names: list[str] = []
    met = 0
    for place, gain in enumerate(ranking.gains):
        names.extend(f"e{met + i}" for i in range(gain))
        met += gain
        if not gain:
            names.append(f"unmet{place}")
    return {name: float(len(names) - index) for index, name in enumerate(names)}
