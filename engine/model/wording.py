"""English sentences made from codes and operands; pages do the same in their own language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.messages import N_
from engine.model.values import Comparison, Decision

QUANTITIES: Mapping[str, str] = {
    "pass_rate": N_("pass rate"),
    "relevant_passages": N_("relevant passages"),
    "rewrites": N_("rewrites"),
    "repeated_rewrites": N_("repeated rewrites"),
    "failed_rewrites": N_("failed rewrites"),
    "elapsed_s": N_("elapsed seconds"),
    "candidates": N_("candidates"),
    "unreadable": N_("unreadable verdicts"),
    "ungraded": N_("passages left ungraded"),
    "quality_score": N_("quality score"),
    "top3_relevance": N_("relevance of the best three"),
    "untried_strategies": N_("untried searches"),
    "corrections": N_("corrections"),
    "suggestions": N_("suggestions"),
    "epoch": N_("answers written"),
    "unreached_evaluators": N_("evaluators without a judgement"),
    "failed_answers": N_("answers that failed"),
    "table_coverage": N_("share of the question that a table covers"),
}

_WHOLE = frozenset(QUANTITIES) - {"pass_rate", "elapsed_s", "quality_score", "top3_relevance", "table_coverage"}
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


def apart(value: float, bound: float) -> tuple[str, str]:
    """Both with as many decimals as it takes to tell them apart, two at least."""
    for digits in range(2, _MOST_DIGITS):
        left, right = f"{value:.{digits}f}", f"{bound:.{digits}f}"
        if left != right or round(value - bound, 9) == 0:
            break
    return left, right


def operands(comparison: Comparison) -> tuple[str, str]:
    """Both sides as text, with as many digits as keep the inequality true (never ``0.30 < 0.30``)."""
    if comparison.quantity in _WHOLE:
        return f"{comparison.value:.0f}", f"{comparison.bound:.0f}"
    for digits in range(2, _MOST_DIGITS):
        left, right = f"{comparison.value:.{digits}f}", f"{comparison.bound:.{digits}f}"
        if _holds(float(left), comparison.relation, float(right)):
            return left, right
    return repr(comparison.value), repr(comparison.bound)


def inequality(comparisons: Sequence[Comparison], names: Mapping[str, str] = QUANTITIES, joint: str = " and ") -> str:
    """E.g. ``pass rate 0.40 < 0.60 and rewrites 1 < 3``; ``names`` and ``joint`` carry the language."""
    parts = []
    for comparison in comparisons:
        left, right = operands(comparison)
        parts.append(f"{names[comparison.quantity]} {left} {comparison.relation} {right}")
    return joint.join(parts)


def decision_sentence(decision: Decision) -> str:
    """One line of a decision path in English, e.g. ``round 0: pass rate 0.40 < 0.60 … → rewrite``.

    A decision that compared nothing, such as a router's choice, is told by its reason alone.
    """
    why = f"{decision.inequality} → " if decision.comparisons else ""
    return f"round {decision.round}: {why}{decision.route} ({decision.reason})"


def named_in(reason: str) -> tuple[str, ...]:
    """The terms that the reason of a built-in rewrite names, ``… were added: glucose, fasting.``; none in others."""
    before, _, named = reason.rpartition(": ")
    return tuple(named.removesuffix(".").split(", ")) if before else ()


def _holds(left: float, relation: str, right: float) -> bool:
    if relation == "<":
        return left < right
    return left >= right if relation == ">=" else left == right
