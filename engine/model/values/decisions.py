"""The values that say where a run went and why: comparisons, decisions, rewrites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.messages import N_
from engine.model.values.names import Quantity, Reason, Relation


@dataclass(frozen=True, slots=True)
class Comparison:
    """One inequality of a decision, kept as operands so that every language can print it."""

    quantity: Quantity
    value: float
    relation: Relation
    bound: float


QUANTITIES: Mapping[str, str] = {
    "pass_rate": N_("pass rate"),
    "relevant_passages": N_("relevant passages"),
    "sufficiency": N_("sufficiency of the passages together"),
    "covered_parts": N_("parts of the question covered"),
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

_SHARES = {"pass_rate", "elapsed_s", "quality_score", "top3_relevance", "table_coverage", "sufficiency"}
_WHOLE = frozenset(QUANTITIES) - _SHARES
_MOST_DIGITS = 12


def operands(comparison: Comparison) -> tuple[str, str]:
    """Return both sides as text, with as many digits as keep the inequality true (never ``0.30 < 0.30``)."""
    if comparison.quantity in _WHOLE:
        return f"{comparison.value:.0f}", f"{comparison.bound:.0f}"
    for digits in range(2, _MOST_DIGITS):
        left, right = f"{comparison.value:.{digits}f}", f"{comparison.bound:.{digits}f}"
        if _holds(float(left), comparison.relation, float(right)):
            return left, right
    return repr(comparison.value), repr(comparison.bound)


def inequality(comparisons: Sequence[Comparison], names: Mapping[str, str] = QUANTITIES, joint: str = " and ") -> str:
    """Write the comparisons, e.g. ``pass rate 0.40 < 0.60 and rewrites 1 < 3``, in ``names`` and ``joint``."""
    parts = []
    for comparison in comparisons:
        left, right = operands(comparison)
        parts.append(f"{names[comparison.quantity]} {left} {comparison.relation} {right}")
    return joint.join(parts)


def _holds(left: float, relation: str, right: float) -> bool:
    if relation == "<":
        return left < right
    return left >= right if relation == ">=" else left == right


@dataclass(frozen=True, slots=True)
class Decision:
    """One routing outcome with the inequality that caused it."""

    round: int
    route: str
    """Target of the edge: a node's name or ``end``."""
    reason: Reason
    comparisons: tuple[Comparison, ...]
    passed: int
    kept: int
    node: str = "grade"

    @property
    def pass_rate(self) -> float:
        return self.passed / self.kept if self.kept else 0.0

    @property
    def inequality(self) -> str:
        """The comparisons in English, with as many digits as make them true."""
        return inequality(self.comparisons)


INITIAL = "initial"
"""Strategy of a rewrite that is made before anything was searched (DL-05)."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A new query made after a round that did not pass."""

    round: int
    """The round that failed; the new query opens round + 1."""
    query: str
    """The query that failed."""
    rewritten_query: str
    reason: str
    keywords: tuple[str, ...] = ()
    strategy: str = ""
    """Code of what was done (``broader``, ``narrower``, ``feedback``, ``split`` …), for rendering per language."""
    repeated: bool = False
    """Equal to a query already tried, after one retry."""
    refused: tuple[str, ...] = ()
    """Proposals refused because they repeated a query."""
    failed: bool = False
    """The rewriter itself failed; the old query stands."""
    input_hash: str = ""
    part: str = ""
    """The part of the question that it searches for; empty where it is about the whole."""
    by: str = ""
    """``builtin`` where the built-in rewriter stood in for a model that only repeated itself."""

    @property
    def initial(self) -> bool:
        """True if it was made before anything was searched, and so answers nothing that failed."""
        return self.strategy == INITIAL and self.round < 0
