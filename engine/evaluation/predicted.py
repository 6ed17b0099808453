"""The share of wrong answers, from few judgements of people drawn at random and the verdicts of a model on all.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Science 2023), as ARES uses it for
retrieval-augmented generation: the model says how many answers are wrong, and the judgements say how far the model is
off. How much it is believed is tuned (PPI++, Angelopoulos, Duchi and Zrnic, 2023): a useless model leaves the estimate
that the judgements alone would give. The interval is that of Student's t. With few judgements none of them may show an
error of the model, and the interval would be far too short: so two answers of each kind of disagreement are added to
the variance, as Agresti and Coull (1998) add them to a proportion. Its coverage is simulated in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from engine.evaluation.cases import firsts
from engine.evaluation.evidence import Evidence, Gathered, RunFacts
from engine.evaluation.statistics import t_quantile
from engine.replay.masks import FloatArray

LEAST = 15
"""Judgements from which on an estimate is made."""
_ADDED = 2
"""Answers of each kind of disagreement that are added to the variance."""
_NOT_READ = 0.5
"""What stands for a verdict that could not be read or was not asked for; any number is right, this one says nothing."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """An estimate with its interval; it certifies nothing."""

    value: float
    low: float
    high: float
    confidence: float
    judged: int
    """Answers that people judged and that were drawn for it at random."""
    verdicts: int
    """Answers with a verdict of the model."""
    n: int
    """All answers given."""
    believed: float
    """How much the model counts, in [0, 1]; at 0 the judgements stand alone."""
    alone: tuple[float, float]
    """The interval from the judgements alone, made in the same way."""


def predicted_wrong(evidence: Evidence, confidence: float = 0.95) -> Predicted | None:
    """The share of wrong ones among the answers given in a gathering, as people would judge them.

    None under :data:`LEAST` judgements drawn at random, or where no model has judged any answer.
    """
    given = [item.own for item in _once(evidence) if _given(item.own)]
    drawn = [answer for answer in given if answer.judged is not None and answer.judged.at_random]
    rest = [answer for answer in given if answer.judged is None or not answer.judged.at_random]
    verdicts = sum(answer.verdict is not None for answer in given)
    if len(drawn) < LEAST or not verdicts:
        return None
    wrong = np.array([not answer.judged.right for answer in drawn if answer.judged is not None], dtype=np.float64)
    value, half, believed = estimate(wrong, _said_wrong(drawn), _said_wrong(rest), confidence)
    by_hand, by_hand_half, _ = estimate(wrong, np.zeros(len(wrong)), np.zeros(0), confidence)
    # The estimate itself may lie outside of what a share can be.
    at, low, high = (float(np.clip(end, 0.0, 1.0)) for end in (value, value - half, value + half))
    return Predicted(
        value=at,
        low=low,
        high=high,
        confidence=confidence,
        judged=len(drawn),
        verdicts=verdicts,
        n=len(given),
        believed=believed,
        alone=(max(0.0, by_hand - by_hand_half), min(1.0, by_hand + by_hand_half)),
    )


def drawn_at_random(evidence: Evidence) -> int:
    """Answers given in a gathering that people judged because they were drawn at random: what an estimate takes."""
    given = (item.own for item in _once(evidence) if _given(item.own))
    return sum(answer.judged is not None and answer.judged.at_random for answer in given)


def estimate(
    truth: FloatArray, said: FloatArray, said_of_rest: FloatArray, confidence: float = 0.95
) -> tuple[float, float, float]:
    """The mean of the truth [n], half the width of its interval, and how much the predictions were believed.

    ``said`` [n] are the predictions where the truth is known, ``said_of_rest`` [N] those where it is not; all in
    [0, 1]. Raises ``ValueError`` under two known truths.
    """
    n, rest = len(truth), len(said_of_rest)
    if n < 2:
        raise ValueError("an estimate needs at least two judgements")
    spread = float(np.concatenate([said, said_of_rest]).var()) if rest else 0.0
    together = float(np.mean((truth - truth.mean()) * (said - said.mean())))
    believed = float(np.clip(together / ((1 + n / rest) * spread), 0.0, 1.0)) if spread else 0.0
    off = truth - believed * said
    value = float(off.mean()) + (believed * float(said_of_rest.mean()) if rest else 0.0)
    # Wrong where the model says right, and right where it says wrong.
    widened = np.concatenate([off, np.repeat([1.0, -believed], _ADDED)])
    variance = float(widened.var(ddof=1)) / n + (believed**2 * float(said_of_rest.var()) / rest if rest else 0.0)
    return value, t_quantile(0.5 + confidence / 2, n - 1) * sqrt(variance), believed


def _once(evidence: Evidence) -> list[Gathered]:
    """Each question once: the same one again tells nothing more."""
    return [item for item, first in zip(evidence.gathered, firsts(evidence.cases), strict=True) if first]


def _given(answer: RunFacts) -> bool:
    return answer.cited is not None and not answer.cannot_tell


def _said_wrong(answers: list[RunFacts]) -> FloatArray:
    values: list[Any] = [_NOT_READ if answer.verdict is None else answer.verdict.right == "no" for answer in answers]
    return np.array(values, dtype=np.float64)
