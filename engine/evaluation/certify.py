"""Settings whose share of wrong answers is below a given limit, at a confidence.

Learn then test (Angelopoulos, Bates, Candès, Jordan and Lei, 2021): each setting is a hypothesis, *its risk is above
the bound*, with the exact binomial p-value of its wrong answers. Settings are tested one after the other, from the
strictest to the laxest, and the first that fails ends it: so the chance that any certified setting breaks the bound is
at most one minus the confidence, no matter how many are tried. The order comes from the settings alone, never from
what is known of the answers. A question that stands in the set twice counts once. One without a usable run counts as
a failure under every setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, floor, fsum, lgamma, log, log1p
from typing import Literal

import numpy as np

from engine.evaluation.cases import firsts
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import Evaluation, RightBy
from engine.model.config import RunConfig
from engine.replay.masks import BoolArray, FloatArray, IntArray

Risk = Literal["wrong_given", "refused_answerable"]
"""What is bounded: wrong ones among the answers given, or refused ones among the answerable questions."""
Standing = Literal["certified", "open", "violated"]
"""What can be said of a setting: ``violated`` where the answers at hand exceed the bound, whatever is missing."""
_STRICTER: dict[str, int] = {
    "similarity_threshold": 1,
    "grade_pass_threshold": 1,
    "min_relevant": 1,
    "min_confidence": 1,
    "cascade_low": 1,
    "cascade_high": 1,
    "top_k": -1,
    "max_rewrites": -1,
}
"""Whether more of a setting means fewer answers (1) or more of them (-1)."""
_MOST = 1_000_000
"""Answers beyond which it is no longer said how many more would be needed."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """Those of S settings that keep a risk below a bound, and what is missing if that is unknown."""

    risk: Risk
    bound: float
    confidence: float
    trials: IntArray
    """[S]: answers given, or answerable questions, that count."""
    failures: IntArray
    """[S]: of these, how many are wrong, or refused."""
    unrecorded: IntArray
    """[S]: questions with a label whose answer under the setting is not recorded, or was not checked; with any, nothing
    is certified."""
    p: FloatArray
    """[S]: chance of so few failures, were the risk at the bound; 1 without trials."""
    certified: BoolArray
    """[S]"""
    lost: int = 0
    """Questions with a label that have no usable run: among the trials and the failures."""
    learnt: int = 0
    """Questions that taught the grader, in no trial: a fit does better on what it has seen."""

    def more(self, setting: int) -> int | None:
        """Return how many more without a failure bring the p-value below its level; None if too many.

        0 where it is there already.
        """
        return further(int(self.failures[setting]), int(self.trials[setting]), self.bound, self.confidence)

    def standing(self, setting: int) -> Standing:
        """Return whether a setting is certified, not yet, or exceeds the bound already."""
        if self.certified[setting]:
            return "certified"
        most = self.bound * int(self.trials[setting] + self.unrecorded[setting])
        return "violated" if round(int(self.failures[setting]) - most, 9) > 0 else "open"

    def most_answers(self, current: int | None) -> int | None:
        """The certified setting with the most answers, of equal ones ``current``; None where none is certified."""
        places = np.flatnonzero(self.certified)
        if not len(places):
            return None
        given = (self.trials if self.risk == "wrong_given" else self.trials - self.failures)[places]
        best = places[given == given.max()]
        return current if current in best else int(best[0])


def certify(
    evaluation: Evaluation,
    *,
    risk: Risk = "wrong_given",
    bound: float = 0.1,
    confidence: float = 0.95,
) -> Certificates:
    """Certify the settings of an evaluation; raises ``ValueError`` for a bound outside of (0, 1).

    Settings with too few trials to be certified at all are passed over in the sequence: they give fewer answers, which
    says nothing of how many are wrong. Questions that a grader was fitted to take no part in what is said of it.
    """
    if not (0 < bound < 1 and 0 < confidence < 1):
        raise ValueError("a bound and a confidence lie between 0 and 1")
    measured, by = evaluation.measures[risk], evaluation.right_by
    counted, missing = _population(by)
    if risk == "refused_answerable":
        counted, missing = np.ones_like(counted), measured.unknown & by.first
    else:
        # What was given and could not be checked may be wrong for want of support.
        missing = missing | (by.tells & by.given & by.first & (measured.weight == 0))
    # The same question again is no further trial, and one that taught the grader is none at all.
    counted = counted & by.first & ~by.learnt
    unrecorded = np.asarray((missing & ~by.learnt).sum(axis=0), np.int64)
    lost = measured.lost_n
    trials = (measured.weight * counted).sum(axis=0).astype(np.int64) + lost
    failures = (measured.total * counted).sum(axis=0).astype(np.int64) + lost
    pairs = zip(failures.tolist(), trials.tolist(), strict=True)
    p = np.array([p_value(k, n, bound) for k, n in pairs], dtype=np.float64)
    certified = np.zeros(len(p), dtype=np.bool_)
    least = further(0, 0, bound, confidence)
    for place in strictest_first(evaluation.configs):
        if unrecorded[place] or least is None or trials[place] < least:
            continue
        if p[place] > 1 - confidence:
            break
        certified[place] = True
    learnt = int((by.learnt & by.first).sum(axis=0).max(initial=0))
    return Certificates(risk, bound, confidence, trials, failures, unrecorded, p, certified, lost, learnt)


def _population(by: RightBy) -> tuple[BoolArray, BoolArray]:
    """Mask the answers that count [N, S], and those that are missing from the record.

    Where only a judgement of the answer decides, chosen judgements say nothing of the other answers: they
    count where every such question is recorded and judged, else only those drawn at random do.
    """
    alone = ~by.otherwise
    judged = alone & by.given & (by.basis >= 0)
    open_ = alone & (~by.recorded | (by.given & ~judged))
    counted = ~alone | (judged & (by.at_random | ~open_.any(axis=0)))
    missing = ~by.recorded & (by.otherwise | (counted & judged).any(axis=0))
    return counted, np.asarray(missing)


@lru_cache(maxsize=65_536)
def p_value(failures: int, trials: int, bound: float) -> float:
    """The chance of at most so many failures in so many trials where each fails with the chance ``bound``."""
    if not trials:
        return 1.0
    fail, pass_ = log(bound), log1p(-bound)
    ways = lgamma(trials + 1)
    terms = (
        exp(ways - lgamma(k + 1) - lgamma(trials - k + 1) + k * fail + (trials - k) * pass_)
        for k in range(failures + 1)
    )
    return min(1.0, fsum(terms))


def further(failures: int, trials: int, bound: float, confidence: float) -> int | None:
    """Further trials without a failure after which the p-value is at most one minus the confidence."""
    low, high = 0, 1
    while p_value(failures, trials + high, bound) > 1 - confidence:
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while low < high:
        middle = (low + high) // 2
        if p_value(failures, trials + middle, bound) > 1 - confidence:
            low = middle + 1
        else:
            high = middle
    return low


def strictest_first(configs: Sequence[RunConfig]) -> list[int]:
    """Places of settings, the strictest first, by the values of their sliders alone.

    How strict one is, is the mean over the sliders that differ of its place among the values tried.
    """
    strict = np.zeros(len(configs))
    for name, direction in _STRICTER.items():
        values, places = np.unique([getattr(config, name) for config in configs], return_inverse=True)
        if len(values) > 1:
            strict += direction * places / (len(values) - 1)
    return [int(place) for place in np.argsort(-strict, kind="stable")]


def similarity_cut(evidence: Evidence, keep: float = 0.95) -> tuple[float, int] | None:
    """The similarity threshold that keeps a right passage for a share of new questions, and the questions behind it.

    Split conformal (Vovk et al. 2005): of n questions whose first search found an expected passage, the best one's
    similarity is taken, and the cut is the one at place ``floor((n + 1)(1 - keep))`` from below, rounded down to two
    decimals, as a slider has: a hair more would keep fewer. None where n is too small: 19 questions for 95 %.
    """
    places = evidence.places
    if not len(evidence) or not places.met.shape[1]:
        return None
    found = [
        float(places.similarity[row, 0, [place for place in range(20) if int(places.met[row, 0]) >> place & 1]].max())
        for row, first in enumerate(firsts(evidence.cases))
        if first and places.met[row, 0]
    ]
    at = int((len(found) + 1) * (1 - keep) + 1e-9)
    return (floor(100 * sorted(found)[at - 1] + 1e-9) / 100, len(found)) if at else None
