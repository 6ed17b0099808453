"""What a change of settings does to each question of a set: values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.evaluation.statistics import PairedTest
from engine.model.config import RunConfig
from engine.model.values import Outcome, RunId

FlipVerdict = Literal["better", "worse", "same", "unknown"]

FlipReason = Literal[
    "gained_expected",
    "lost_expected",
    "now_answers",
    "now_refuses",
    "now_refuses_unanswerable",
    "now_answers_unanswerable",
    "fewer_calls",
    "more_calls",
    "other_outcome",
    "nothing",
    "unknown_before",
    "unknown_after",
]
"""What decides the verdict; the first that holds. Quality goes before cost, and cost counts only where the path
changed: one grading less on the same path is no flip."""


@dataclass(frozen=True, slots=True)
class Side:
    """One question under one of the two settings."""

    known: bool
    """Whether the path is known; if not, everything else here is empty."""
    outcome: Outcome | None = None
    round: int | None = None
    """The round that led to the outcome, from 0; as many rewrites came before it."""
    steps: int | None = None
    """Calls of chat models and built-in roles, as if uncached."""
    hit: bool | None = None
    """Whether the generator is given an expected passage; None without expectations, or where that is not known."""
    quality: float | None = None
    """1 or 0; see ``figures.Measure``. None where not known."""

    @property
    def rewrites(self) -> int | None:
        return self.round


@dataclass(frozen=True, slots=True)
class Flip:
    """One question before and after."""

    case_id: str
    question: str
    run_id: RunId
    """Its recorded run."""
    before: Side
    after: Side
    verdict: FlipVerdict
    reason: FlipReason

    @property
    def steps_change(self) -> int | None:
        """Steps more (positive) or fewer (negative) than before; None where not known."""
        if self.before.steps is None or self.after.steps is None:
            return None
        return self.after.steps - self.before.steps


@dataclass(frozen=True, slots=True)
class Flips:
    """Every gathered question; better, worse, unknown, then the rest, each in the order of the set."""

    before: RunConfig
    after: RunConfig
    rows: tuple[Flip, ...]
    test: PairedTest
    """On quality, over the questions known on both sides."""

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def better(self) -> int:
        return self._count("better")

    @property
    def worse(self) -> int:
        return self._count("worse")

    @property
    def unknown(self) -> int:
        return self._count("unknown")

    @property
    def flipped(self) -> int:
        """Better and worse ones; the unknown are apart, because they may not flip."""
        return self.better + self.worse

    @property
    def shown(self) -> tuple[Flip, ...]:
        """All but those that stay the same."""
        return tuple(row for row in self.rows if row.verdict != "same")

    def _count(self, verdict: FlipVerdict) -> int:
        return sum(row.verdict == verdict for row in self.rows)
