"""A recorded run cut into the steps that a person follows: pure, nothing is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.events import (
    Decided,
    Event,
    NodeStarted,
    PassageGraded,
    Prepared,
    Retrieved,
    Rewritten,
    RunFinished,
    RunStarted,
)

StepKind = Literal["asked", "searched", "judged", "rewritten", "ended"]


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """A moment of a run worth a sentence."""

    kind: StepKind
    seq: int
    """Folding every event up to this sequence number gives the picture of the moment, as a live viewer had it."""
    round: int = 0
    node: str = ""
    """The node at work; empty for ``asked`` and ``ended``."""


def steps(events: Sequence[Event]) -> tuple[ReplayStep, ...]:
    """The steps of a run in order: none for no events, no ``ended`` while it goes on.

    A round that ended before its decision has a ``judged`` step where at least one passage had been judged.
    """
    made: list[ReplayStep] = []
    node = ""
    for event in events:
        if isinstance(event, NodeStarted):
            node = event.node
        step = _step(event, node)
        if step is None:
            continue
        if made and _goes_on(made[-1], step):
            made.pop()
        made.append(step)
    return tuple(made)


def _step(event: Event, node: str) -> ReplayStep | None:
    match event:
        case RunStarted() | Prepared():
            return ReplayStep("asked", event.seq)
        case Retrieved():
            return ReplayStep("searched", event.seq, event.round, node)
        case PassageGraded():
            return ReplayStep("judged", event.seq, event.round, node)
        case Decided():
            return ReplayStep("judged", event.seq, event.decision.round, event.decision.node)
        case Rewritten():
            return ReplayStep("rewritten", event.seq, event.rewrite.round, node)
        case RunFinished():
            return ReplayStep("ended", event.seq)
        case _:
            return None


def _goes_on(former: ReplayStep, step: ReplayStep) -> bool:
    """Whether ``step`` is a later moment of the same: verdict after verdict, and the decision that follows them."""
    return (former.kind, former.round) == (step.kind, step.round)
