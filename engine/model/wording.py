"""Figures as text, with the digits that make them true; pages say the same in their own language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_MOST_DIGITS = 12
NOTICEABLE = 0.0005
"""A score, rate or similarity that moved by less has not moved."""


@dataclass(frozen=True, slots=True)
class Change:
    """Two values and what lies between them as text, with the digits that make it true: never ``0.70 → 0.69, 0.00``."""

    before: str
    after: str
    size: str
    """Without a sign."""
    direction: Literal[-1, 0, 1]

    @property
    def course(self) -> str:
        return f"{self.before} → {self.after}"


def direction_of(before: float, after: float) -> Literal[-1, 0, 1]:
    """Whether a value rose (1), fell (-1) or stayed: the one rule for figures, chips and scorecards."""
    moved = round(after - before, 9)
    return 0 if abs(moved) < NOTICEABLE else 1 if moved > 0 else -1


def change_of(before: float, after: float) -> Change:
    """The fewest decimals, two at least, in which both ends look as different as they are, and so does the size."""
    direction = direction_of(before, after)
    for digits in range(2, _MOST_DIGITS):
        old, new = f"{before:.{digits}f}", f"{after:.{digits}f}"
        size = f"{abs(after - before) if direction else 0:.{digits}f}"
        if (old != new and float(size) > 0) if direction else old == new:
            return Change(old, new, size, direction)
    return Change(f"{before:.2f}", f"{before:.2f}", "0.00", 0)


def distinct_texts(value: float, bound: float) -> tuple[str, str]:
    """Format two numbers with as many decimals as it takes to tell them apart, two at least."""
    for digits in range(2, _MOST_DIGITS):
        left, right = f"{value:.{digits}f}", f"{bound:.{digits}f}"
        if left != right or round(value - bound, 9) == 0:
            break
    return left, right


def named_in(reason: str) -> tuple[str, ...]:
    """The terms that the reason of a built-in rewrite names, ``… were added: glucose, fasting.``; none in others."""
    before, _, named = reason.rpartition(": ")
    return tuple(named.removesuffix(".").split(", ")) if before else ()
