"""Results of a what-if: the known part of the path, what is missing, and the cost of knowing more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.values import AnswerNote, Decision, Outcome, Passage, PassageId, Reason, Round
from engine.replay.admitted import Admitted

State = Literal["known", "generation", "needs_calls"]
"""``known``: path and generator's input equal the recording, so its answer stands. ``generation``: the path is known,
the answer would have to be generated. ``needs_calls``: the next route is not determined."""

Gap = Literal[
    "retrieval",
    "candidates",
    "verdicts",
    "rewrite",
    "unrecorded",
    "time",
    "answer",
    "routing",
    "memory",
    "web",
    "evaluation",
    "scores",
    "unmeasured",
]
"""What the record cannot tell: ``retrieval`` another collection or workflow, ``candidates`` a deeper search,
``verdicts`` kept passages that no one judged, ``rewrite`` the rewriter would see something else, ``unrecorded`` the run
did not continue here, ``time`` the deadline would fall elsewhere, ``answer`` the generator would see something else,
``routing`` another router would choose, ``memory`` other memories would come up, ``web`` the web would be searched,
``evaluation`` the evaluator would be another one or see something else, ``scores`` passages would be reranked that
this run did not score, ``unmeasured`` an imported trace gives no scale for a threshold that is compared."""

_REWRITING: frozenset[Reason] = frozenset({"below_gate", "low_quality", "answer_off"})
"""Reasons that lead to a rewrite."""


@dataclass(frozen=True, slots=True)
class CallsNeeded:
    """Cost of the next step, and of the rest at worst; both zero if all is known."""

    next: Cost = Cost()
    worst: Cost = Cost()

    def without_times(self) -> CallsNeeded:
        """The same where chat models are called whose calls had no times."""
        first, worst = (replace(item, seconds=None) if item.calls else item for item in (self.next, self.worst))
        return CallsNeeded(first, worst)


@dataclass(frozen=True, slots=True)
class Step:
    """One round of the path, as these settings would have gated and judged it."""

    round: Round
    decision: Decision | None
    """None where the route is not determined. Where ``ungraded`` is not empty, its figures count those as failed."""
    ungraded: tuple[PassageId, ...] = ()
    """Kept passages that would have been judged and have no recorded verdict."""
    unseen: int = 0
    """Passages below the recorded depth that might be kept as well."""
    passed: tuple[int, int] = (0, 0)
    """Least and most kept passages that pass."""
    score: tuple[float, float] = (0.0, 0.0)
    """Least and highest score that routes (quality-control loop)."""
    after: tuple[Decision, ...] = ()
    """Decisions on answers written from this round, before another one is searched."""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All that is determined of this round, in order."""
        return (*(() if self.decision is None else (self.decision,)), *self.after)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The path of a run under other settings, as far as its record can tell."""

    config: RunConfig
    state: State
    steps: tuple[Step, ...]
    gap: Gap | None
    """What is missing; None where everything is known."""
    outcome: Outcome | None
    """None where it is not determined."""
    reason: str = ""
    """Of the last decision of a known path."""
    passages: tuple[Passage, ...] = ()
    """What the generator would be given, best first, before its token budget cuts; empty where it is not known."""
    around: Mapping[PassageId, tuple[PassageId, ...]] | None = None
    """What these passages would bring along from their sources, before the token budget cuts; None where the record
    does not tell."""
    verified: bool = True
    answer: str = ""
    """The answer that stands; empty where it would have to be generated."""
    answer_note: AnswerNote = ""
    """What is to be said of that answer; nothing is known of one that would have to be generated."""
    calls_needed: CallsNeeded = CallsNeeded()
    cost: Cost = Cost()
    """What the path costs as far as it is known: gradings, rewrites, generation, checks of the answer that stands."""
    checks: int | None = 0
    """Calls among ``cost`` that check the answer; None where a model would check one of which no record tells them."""
    same_path: bool = False
    """Whether every decision and the outcome are those of the recording."""
    opening: tuple[Decision, ...] = ()
    """Decisions before the first round: whether to search, and on an answer without a search."""
    answers: int = 0
    """Answers written on the path as far as it is known; counted by workflows that evaluate them."""
    admits: tuple[Admitted, ...] = ()
    """Passages that the answer would be written from although the run had held them back."""

    @property
    def path_known(self) -> bool:
        return self.state != "needs_calls"

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return (*self.opening, *(decision for step in self.steps for decision in step.decisions))

    @property
    def rewrites(self) -> int:
        """Rewrites on the path as far as it is known, the initial one of the dual loop left out."""
        return sum(decision.reason in _REWRITING for decision in self.decisions)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values; passages by id."""
        return {
            "state": self.state,
            "path_known": self.path_known,
            "gap": self.gap,
            "outcome": self.outcome,
            "reason": self.reason,
            "same_path": self.same_path,
            "decisions": [
                {**asdict(decision), "pass_rate": decision.pass_rate, "inequality": decision.inequality}
                for decision in self.decisions
            ],
            "rounds": [
                {
                    "round": step.round.index,
                    "query": step.round.query,
                    "kept": [passage.id for passage in step.round.kept],
                    "ungraded": list(step.ungraded),
                    "unseen": step.unseen,
                    "passed": list(step.passed),
                    "strategy": step.round.strategy,
                    "score": list(step.score),
                }
                for step in self.steps
            ],
            "passages": [passage.id for passage in self.passages],
            "around": None if self.around is None else {name: list(ids) for name, ids in self.around.items()},
            "admits": [item.to_dict() for item in self.admits],
            "verified": self.verified,
            "answers": self.answers,
            "answer": self.answer,
            "answer_note": self.answer_note,
            "calls_needed": asdict(self.calls_needed),
            "cost": asdict(self.cost),
        }
