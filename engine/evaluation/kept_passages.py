"""Passages kept and passed in the rounds of every path, compared with the labels: arrays over all questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.evaluation.evidence import Bits, Evidence, Places
from engine.evaluation.scores import MAX_CUTOFF, Ranking, ranking_of, scores_of
from engine.model.config import RunConfig
from engine.model.values import PassageId
from engine.replay.masks import BoolArray, FloatArray, IntArray

_PLACES = np.arange(MAX_CUTOFF, dtype=np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Counts over the rounds of the paths; all [N, S]. A passage kept in two rounds counts in both."""

    false_rewrites: FloatArray
    """Rewrites after a round that had kept an expected passage."""
    expected: FloatArray
    """Kept, judged passages that meet an expectation; of a question whose labels name files the best one alone."""
    passed: FloatArray
    """Kept passages that pass."""
    right: FloatArray
    """Those of both kinds."""
    seen_whole: BoolArray
    """False where the last round might keep passages that its search did not fetch."""
    recall: FloatArray
    rr: FloatArray
    ndcg: FloatArray
    """Of the kept passages of the last round, at the cut-off; 0 for questions without expectations."""


def kept_under(evidence: Evidence, configs: Sequence[RunConfig], last: IntArray, cutoff: int) -> Kept:
    """Count the passages kept by round, where the paths reach round ``last`` [N, S]; -1 for a round not reached."""
    shape = last.shape
    gates = _Gates(evidence.places, configs)
    counts = {name: np.zeros(shape) for name in ("false_rewrites", "expected", "passed", "right")}
    by_file = np.array([item.case.by_file for item in evidence.gathered], dtype=bool)
    kept_last = np.zeros(shape, dtype=np.uint32)
    seen_whole = np.ones(shape, dtype=bool)
    for r in range(evidence.places.met.shape[1]):
        rows = np.flatnonzero((evidence.places.rounds > r) & (last >= r).any(axis=1))
        if not len(rows):
            break
        reached = last[rows] >= r
        is_last = last[rows] == r
        kept = np.where(reached, gates.kept(rows, r), np.uint32(0))
        met = evidence.places.met[rows, r][:, None]
        passed = kept & gates.passing(rows, r)
        counts["false_rewrites"][rows] += (reached & ~is_last) & ((kept & met) != 0)
        counts["expected"][rows] += np.bitwise_count(kept & met & gates.judged(rows, r))
        counts["passed"][rows] += np.bitwise_count(passed)
        counts["right"][rows] += np.bitwise_count(passed & met)
        kept_last[rows] = np.where(is_last, kept, kept_last[rows])
        seen_whole[rows] &= ~(is_last & gates.unseen(rows, r))
    for name in ("expected", "right"):
        # The best passage passes where any of them does.
        counts[name][by_file] = np.minimum(counts[name][by_file], 1)
    recall, rr, ndcg = _retrieval(evidence, kept_last, last, cutoff)
    return Kept(**counts, seen_whole=seen_whole, recall=recall, rr=rr, ndcg=ndcg)


def passing_under(
    evidence: Evidence, configs: Sequence[RunConfig], last: IntArray
) -> Iterator[tuple[int, PassageId, BoolArray]]:
    """Each passage that a grader judged: its question's row, its id, and the settings [S] under which it passes.

    It passes under a setting where some round up to ``last`` [N, S] keeps it and its verdict reaches the cut.
    """
    gates = _Gates(evidence.places, configs)
    found: dict[tuple[int, PassageId], BoolArray] = {}
    for r in range(evidence.places.met.shape[1]):
        rows = np.flatnonzero(evidence.places.rounds > r)
        if not len(rows):
            break
        bits = np.where(last[rows] >= r, gates.kept(rows, r) & gates.passing(rows, r), np.uint32(0))
        for at, row in enumerate(rows.tolist()):
            table = evidence.gathered[row].table
            for passage, rank in enumerate(table.rounds[r].rank.tolist()):
                if 0 < rank <= MAX_CUTOFF and not np.isnan(table.reach[passage]):
                    key = (row, table.passages[passage])
                    passes = (bits[at] >> np.uint32(rank - 1)) & np.uint32(1) == 1
                    found[key] = found[key] | passes if key in found else passes
    yield from ((row, passage_id, mask) for (row, passage_id), mask in found.items())


class _Gates:
    """The gates of S settings over the places of all rounds, worked out once for every distinct threshold."""

    def __init__(self, places: Places, configs: Sequence[RunConfig]) -> None:
        self.places = places
        self.top_k = np.array([config.top_k for config in configs], dtype=np.int64)
        self.top_places = ((1 << self.top_k) - 1).astype(np.uint32)
        similarity = np.array([config.similarity_threshold for config in configs])
        confidence = np.array([config.min_confidence for config in configs])
        self.similarity, thresholds = similarity, np.unique(similarity)
        self.of_threshold = np.searchsorted(thresholds, similarity)
        self.near = _bits(places.similarity[..., None, :] >= thresholds[:, None])
        cuts = np.unique(confidence)
        self.of_cut = np.searchsorted(cuts, confidence)
        with np.errstate(invalid="ignore"):
            self.confident = _bits(places.reach[..., None, :] >= cuts[:, None])
        self.readable = _bits(~np.isnan(places.reach))

    def kept(self, rows: IntArray, r: int) -> Bits:
        """[rows, S]"""
        return np.asarray(self.near[rows, r][:, self.of_threshold] & self.top_places, dtype=np.uint32)

    def passing(self, rows: IntArray, r: int) -> Bits:
        """[rows, S], regardless of what is kept"""
        return np.asarray(self.confident[rows, r][:, self.of_cut], dtype=np.uint32)

    def judged(self, rows: IntArray, r: int) -> Bits:
        """[rows, 1]: a readable verdict is recorded."""
        return np.asarray(self.readable[rows, r][:, None], dtype=np.uint32)

    def unseen(self, rows: IntArray, r: int) -> BoolArray:
        """[rows, S]: passages below what was fetched might be kept."""
        deeper = self.top_k > self.places.depth[rows, r][:, None]
        return np.asarray(deeper & (self.places.deepest[rows, r][:, None] >= self.similarity))


def _bits(flags: BoolArray) -> Bits:
    """[..., 20] flags as one number each, the first flag lowest."""
    return np.asarray((flags.astype(np.uint32) << _PLACES).sum(axis=-1), dtype=np.uint32)


def _retrieval(
    evidence: Evidence, kept_last: Bits, last: IntArray, cutoff: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Recall, reciprocal rank and nDCG [N, S] of the kept passages of the last round."""
    found = tuple(np.zeros(last.shape) for _ in range(3))
    expected = np.array([bool(item.case.expected) for item in evidence.gathered], dtype=bool)
    if not expected.any():
        return found[0], found[1], found[2]
    rows, columns = np.nonzero(expected[:, None] & (last >= 0))
    rounds = last[rows, columns]
    kept = kept_last[rows, columns]
    # Kept places below the last one that is expected change no measure; without them few rankings are distinct.
    up_to = kept & evidence.places.met[rows, rounds]
    for shift in (1, 2, 4, 8, 16):
        up_to |= up_to >> np.uint32(shift)
    deep = evidence.places.met.shape[1]
    keys = ((rows * deep + rounds) << MAX_CUTOFF) | (kept & up_to).astype(np.int64)
    distinct, places = np.unique(keys, return_inverse=True)
    scores = scores_of([_ranking(evidence, int(key), deep) for key in distinct])
    for target, values in zip(found, (scores.recall, scores.rr, scores.ndcg), strict=True):
        target[rows, columns] = values[places.ravel(), cutoff]
    return found[0], found[1], found[2]


def _ranking(evidence: Evidence, key: int, deep: int) -> Ranking:
    bits, run_round = key & ((1 << MAX_CUTOFF) - 1), key >> MAX_CUTOFF
    item = evidence.gathered[run_round // deep]
    met = item.table.met_by_rank(run_round % deep) if bits else []
    kept = [indices for place, indices in enumerate(met[:MAX_CUTOFF]) if bits >> place & 1]
    return ranking_of(kept, len(item.case.expected))
