"""A recorded run cut into the steps that a person follows: pure, nothing is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.model.events import (
    Analysed,
    Decided,
    Drafted,
    Evaluated,
    Event,
    Fused,
    MemoryKept,
    MemoryRecalled,
    NodeStarted,
    PassageGraded,
    Prepared,
    QualityChecked,
    Reranked,
    Retrieved,
    Rewritten,
    RouteChosen,
    Routed,
    RunFinished,
    RunStarted,
)

StepKind = Literal[
    "asked",
    "recalled",
    "analysed",
    "routed",
    "searched",
    "judged",
    "checked",
    "rewritten",
    "drafted",
    "evaluated",
    "kept",
    "ended",
]
_EVALUATING = ("eval_answer", "grade_relevance")


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """A moment of a run worth a sentence."""

    kind: StepKind
    seq: int
    """Folding every event up to this sequence number gives the picture of the moment, as a live viewer had it."""
    round: int = 0
    node: str = ""
    """The node at work; empty for ``asked`` and ``ended``."""
    draft: int = 0
    """The answer that ``drafted`` and ``evaluated`` speak of, from 0."""


def steps(events: Sequence[Event]) -> tuple[ReplayStep, ...]:
    """The steps of a run in order: none for no events, no ``ended`` while it is running.

    A round that ended before its decision has a ``judged`` step where at least one passage had been judged.
    """
    made: list[ReplayStep] = []
    node, draft, checked = "", 0, -1
    for event in events:
        if isinstance(event, NodeStarted):
            node = event.node
        if isinstance(event, Drafted):
            draft = event.draft.index
        if isinstance(event, QualityChecked):
            checked = event.round
        step = _step(event, node, draft, checked)
        if step is None:
            continue
        if made and _goes_on(made[-1], step):
            made.pop()
        made.append(step)
    return tuple(made)


def _step(event: Event, node: str, draft: int, checked: int) -> ReplayStep | None:  # noqa: PLR0912 - one case an event
    match event:
        case RunStarted() | Prepared():
            return ReplayStep("asked", event.seq)
        case MemoryRecalled():
            return ReplayStep("recalled", event.seq, node=node)
        case Analysed():
            return ReplayStep("analysed", event.seq, node=node)
        case Routed():
            return ReplayStep("routed", event.seq, event.round, node)
        case RouteChosen():
            return ReplayStep("routed", event.seq, node=node)
        case Retrieved() | Fused():
            return ReplayStep("searched", event.seq, event.round, node)
        case PassageGraded() | Reranked() if node == "retrieve":
            # Scored again while it searches: the search continues until the order stands.
            return ReplayStep("searched", event.seq, event.round, node)
        case PassageGraded() | Reranked():
            return ReplayStep("judged", event.seq, event.round, node)
        case QualityChecked():
            return ReplayStep("checked", event.seq, event.round, node)
        case Decided():
            return _decided(event, draft, checked)
        case Rewritten():
            return ReplayStep("rewritten", event.seq, event.rewrite.round, node)
        case Drafted():
            return ReplayStep("drafted", event.seq, node=node, draft=draft)
        case Evaluated():
            return ReplayStep("evaluated", event.seq, node=node, draft=event.draft)
        case MemoryKept():
            return ReplayStep("kept", event.seq, node=node)
        case RunFinished():
            return ReplayStep("ended", event.seq)
        case _:
            return None


def _decided(event: Decided, draft: int, checked: int) -> ReplayStep:
    decision = event.decision
    if decision.node in _EVALUATING:
        return ReplayStep("evaluated", event.seq, node=decision.node, draft=draft)
    if decision.node == "route_query":
        return ReplayStep("routed", event.seq, node=decision.node)
    kind: StepKind = "checked" if checked == decision.round else "judged"
    return ReplayStep(kind, event.seq, decision.round, decision.node)


def _goes_on(former: ReplayStep, step: ReplayStep) -> bool:
    """Whether ``step`` is a later moment of the same: verdict after verdict, and the decision that follows them."""
    return (former.kind, former.round, former.draft) == (step.kind, step.round, step.draft)
