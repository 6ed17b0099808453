"""Logistic regression with a prior: coefficients that judgements pull away from those that ship.

The most likely coefficients under a normal prior around the shipped ones: minimise the log loss plus
``strength / 2 * sum((spread * (w - w0))²)``, where ``spread`` is how far a feature varies among the judgements, so that
the strength means the same for every feature. Newton's method; the problem is convex.
"""

from __future__ import annotations

import numpy as np

from engine.replay.masks import BoolArray, FloatArray

STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Of the prior, weakest first; cross-validation picks one."""
_STEPS = 50
_CLOSE = 1e-8
_LEAST_SPREAD = 1e-3


def refitted(features: FloatArray, truth: BoolArray, prior: FloatArray, strength: float) -> FloatArray:
    """Intercept and weights [1 + F] from features [N, F], labels [N] and the prior's [1 + F]."""
    design = np.column_stack([np.ones(len(features)), features])
    spread = np.concatenate(([1.0], np.maximum(features.std(axis=0), _LEAST_SPREAD)))
    pull = strength * spread**2
    found = prior.copy()
    for _ in range(_STEPS):
        chance = chances(design, found)
        slope = design.T @ (chance - truth) + pull * (found - prior)
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(pull)
        step = np.linalg.solve(curve, slope)
        # Newton's step may lead too far where chances are close to 0 and 1.
        while _loss(design, truth, prior, pull, found - step) > _loss(design, truth, prior, pull, found) + _CLOSE:
            step = step / 2
        found = found - step
        if float(np.abs(step).max()) < _CLOSE:
            break
    return found


def chances(design: FloatArray, coefficients: FloatArray) -> FloatArray:
    """P(relevant) of rows that begin with 1."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(design @ coefficients, -60.0, 60.0))), dtype=np.float64)


def log_loss(chance: FloatArray, truth: BoolArray) -> float:
    """Sum over rows."""
    sure = np.clip(np.where(truth, chance, 1.0 - chance), 1e-12, 1.0)
    return float(-np.log(sure).sum())


def _loss(design: FloatArray, truth: BoolArray, prior: FloatArray, pull: FloatArray, found: FloatArray) -> float:
    return log_loss(chances(design, found), truth) + float((pull * (found - prior) ** 2).sum()) / 2
