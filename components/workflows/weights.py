"""Weights that always sum to 1: what the others become when one of them is moved."""

from __future__ import annotations

import math
from collections.abc import Sequence

STEP = 0.05
_DIGITS = 4


def rebalanced(weights: Sequence[float], moved: int) -> tuple[float, ...]:
    """All weights with the one at ``moved`` as it is and the others making up for it; they sum to 1.

    Those below it share what is left in their proportion, so that weights set from top to bottom stay as they were
    set. Those above it give way only where nothing else is left, and for the last one. On steps of :data:`STEP` where
    the moved one and those that stay are.
    """
    fixed = min(max(weights[moved], 0.0), 1.0)
    above, below = list(weights[:moved]), list(weights[moved + 1 :])
    left = 1.0 - fixed
    if below and math.fsum(above) <= left + 1e-9:
        below = _shared(below, left - math.fsum(above))
    else:
        below = [0.0] * len(below)
        above = _shared(above, left)
    return tuple(round(value, _DIGITS) for value in (*above, fixed, *below))


def scaled(weights: Sequence[float]) -> tuple[float, ...]:
    """The same proportions with the sum 1; equal ones where all are 0."""
    total = math.fsum(weights)
    if total <= 0:
        return tuple([1.0 / len(weights)] * len(weights))
    shares = [round(value / total, _DIGITS) for value in weights]
    largest = shares.index(max(shares))
    # What rounding leaves goes where it weighs least.
    shares[largest] = round(shares[largest] + 1.0 - math.fsum(shares), _DIGITS)
    return tuple(shares)


def _shared(weights: Sequence[float], total: float) -> list[float]:
    """``total`` over the weights in their proportion, in whole steps by largest remainder where it is whole itself."""
    own = math.fsum(weights)
    ideal = [total * (value / own if own > 0 else 1.0 / len(weights)) for value in weights]
    steps = round(total / STEP)
    if abs(steps * STEP - total) > 1e-6:
        return ideal
    counts = [int(value / STEP + 1e-9) for value in ideal]
    behind = sorted(range(len(ideal)), key=lambda place: (counts[place] - ideal[place] / STEP, place))
    for place in behind[: steps - sum(counts)]:
        counts[place] += 1
    return [round(count * STEP, _DIGITS) for count in counts]
