"""Where a run went and why: comparisons, decisions, rewrites."""

from __future__ import annotations

from dataclasses import dataclass

from engine.model.values.names import Quantity, Reason, Relation


@dataclass(frozen=True, slots=True)
class Comparison:
    """One inequality of a decision, kept as operands so that every language can print it."""

    quantity: Quantity
    value: float
    relation: Relation
    bound: float


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
        from engine.model.wording import inequality

        return inequality(self.comparisons)


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
    by: str = ""
    """``builtin`` where the built-in rewriter stood in for a model that only repeated itself."""
