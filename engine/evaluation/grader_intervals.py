"""Sampling error of a grader's figures: whole questions are resampled, for the verdicts of one are no chance apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.statistics import CONFIDENCE, SEED, Interval, interval
from engine.replay.masks import BoolArray, FloatArray, IntArray

LEAST = 10
"""Questions without which nothing is said of sampling error."""
_RESAMPLES = 500
_PIECE = 1_000_000
"""Weights held at once: 8 MB."""


def intervals_of(
    questions: Sequence[str], p: FloatArray, truth: BoolArray, passed: BoolArray, bins: int
) -> dict[str, Interval]:
    """The 95 % intervals of κ, AUC, Brier score and calibration error, by name; all of them over pairs [n].

    That of the calibration error is reflected at its value, since a resample is off the diagonal by chance once more.
    """
    return _resampled(questions, lambda weight: _figures(weight, p, truth, passed, bins))


def kappa_interval(questions: Sequence[str], first: BoolArray, second: BoolArray) -> Interval | None:
    """The 95 % interval of κ between two columns of verdicts [n]."""
    return _resampled(questions, lambda weight: {"kappa": _kappa(weight, first, second)}).get("kappa")


def share_interval(questions: Sequence[str], hits: NDArray[Any], of: NDArray[Any]) -> Interval | None:
    """The 95 % interval of the share of ``hits`` among ``of`` [n]; None below :data:`LEAST` questions that have any."""
    place, count = _numbered(questions)
    mine, all_ = (np.bincount(place, column, count).astype(np.float64) for column in (hits, of))
    if np.count_nonzero(all_) < LEAST:
        return None
    with np.errstate(invalid="ignore"):
        return interval(mine / all_, weights=all_)


def shares_of(
    questions: Sequence[str], passed: BoolArray, truth: BoolArray, files: Sequence[tuple[str, bool]] = ()
) -> dict[str, Interval]:
    """The intervals of the shares, by name; ``files`` are questions of whole files, and whether the best one passes."""
    right = passed & truth
    of_files = np.array([passes for _, passes in files], dtype=bool)
    found = {
        "accuracy": share_interval(questions, passed == truth, np.ones(len(truth))),
        "precision": share_interval(questions, right, passed),
        "recall": share_interval(
            [*questions, *(question for question, _ in files)],
            np.concatenate((right, of_files)),
            np.concatenate((truth, np.ones(len(files), dtype=bool))),
        ),
        "f1": share_interval(questions, 2.0 * right, passed + 1.0 * truth),
    }
    return {name: error for name, error in found.items() if error is not None}


def _resampled(questions: Sequence[str], figures: Callable[[FloatArray], dict[str, FloatArray]]) -> dict[str, Interval]:
    """Percentile bootstrap of what ``figures`` makes of weights [rows, n].

    None below :data:`LEAST` questions, and none of a figure that no resample changes: all right in so many is not
    certain.
    """
    place, count = _numbered(questions)
    if count < LEAST:
        return {}
    random, rows = np.random.default_rng(SEED), max(1, _PIECE // len(place))
    drawn: dict[str, list[FloatArray]] = {}
    for start in range(0, _RESAMPLES, rows):
        chosen = random.multinomial(count, np.full(count, 1 / count), min(rows, _RESAMPLES - start))
        for name, values in figures(chosen[:, place].astype(np.float64)).items():
            drawn.setdefault(name, []).append(values)
    own = figures(np.ones((1, len(place))))
    found = {}
    for name, pieces in drawn.items():
        values = np.concatenate(pieces)
        values, value = values[~np.isnan(values)], float(own[name][0])
        if len(values) < _RESAMPLES / 2 or np.isnan(value) or np.ptp(values) < 1e-9:
            continue
        low, high = (float(end) for end in np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]))
        if name == "ece":
            low, high = max(0.0, 2 * value - high), max(0.0, 2 * value - low)
        found[name] = Interval(value, low, high, count)
    return found


def _numbered(questions: Sequence[str]) -> tuple[IntArray, int]:
    """The number of the question of each pair [n], and how many questions there are."""
    _, place = np.unique(np.array(questions, dtype=object).astype(str), return_inverse=True)
    return place, int(place.max(initial=-1)) + 1


def _figures(
    weight: FloatArray, p: FloatArray, truth: BoolArray, passed: BoolArray, bins: int
) -> dict[str, FloatArray]:
    """The four figures of pairs that count as often as ``weight`` [rows, n] says; NaN where one cannot be had."""
    total = weight.sum(axis=1)
    yes = weight @ truth
    with np.errstate(invalid="ignore", divide="ignore"):
        auc = _below(weight * ~truth, weight * truth, p) / (yes * (total - yes))
    place = bin_of(p, bins)
    off = np.zeros(len(weight))
    for index in np.unique(place):
        inside = place == index
        off += np.abs(weight[:, inside] @ (p[inside] - truth[inside]))
    brier = weight @ (p - truth) ** 2 / total
    return {"kappa": _kappa(weight, truth, passed), "auc": auc, "brier": brier, "ece": off / total}


def _kappa(weight: FloatArray, first: BoolArray, second: BoolArray) -> FloatArray:
    total = weight.sum(axis=1)
    agree, yes, said = (weight @ item for item in (first == second, first, second))
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = (yes * said + (total - yes) * (total - said)) / total**2
        return np.asarray((agree / total - chance) / (1 - chance))


def _below(wrong: FloatArray, right: FloatArray, p: FloatArray) -> FloatArray:
    """How many pairs of a wrong and a right one are in order, by row; those that are worth the same are half."""
    order = np.argsort(p, kind="stable")
    starts = np.flatnonzero(np.diff(p[order], prepend=-np.inf))
    wrongs, rights = (np.add.reduceat(item[:, order], starts, axis=1) for item in (wrong, right))
    return np.asarray((rights * (np.cumsum(wrongs, axis=1) - wrongs / 2)).sum(axis=1))


def bin_of(p: FloatArray, bins: int) -> IntArray:
    """The bin of each P; they are closed above, the first one on both sides."""
    return np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], p).astype(np.int64)
