"""A recorded run cut into the steps that a person follows: pure, nothing is executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.flow import workflow
from engine.flow.flow import Flow
from engine.model.events import Decided, Drafted, Evaluated, Event, NodeStarted, QualityChecked, Rewritten, RunStarted

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
_KINDS: Mapping[str, StepKind] = {
    "run_started": "asked",
    "prepared": "asked",
    "memory_recalled": "recalled",
    "analysed": "analysed",
    "routed": "routed",
    "route_chosen": "routed",
    "retrieved": "searched",
    "fused": "searched",
    "passage_graded": "judged",
    "reranked": "judged",
    "quality_checked": "checked",
    "rewritten": "rewritten",
    "drafted": "drafted",
    "evaluated": "evaluated",
    "memory_kept": "kept",
    "run_finished": "ended",
}
"""By kind of event; what decisions show depends on the node that decided."""


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
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    if started is None:
        return ()
    flow = workflow(started.config.workflow).flow
    for event in events:
        if isinstance(event, NodeStarted):
            node = event.node
        if isinstance(event, Drafted):
            draft = event.draft.index
        if isinstance(event, QualityChecked):
            checked = event.round
        step = _step(event, flow, node, draft, checked)
        if step is None:
            continue
        if made and _goes_on(made[-1], step):
            made.pop()
        made.append(step)
    return tuple(made)


def _step(event: Event, flow: Flow, node: str, draft: int, checked: int) -> ReplayStep | None:
    if isinstance(event, Decided):
        return _decided(event, flow, draft, checked)
    kind = _KINDS.get(event.kind)
    if kind is None:
        return None
    if kind == "judged" and node in flow.of_kind("search"):
        # Scored again while it searches: the search continues until the order stands.
        kind = "searched"
    at = event.rewrite.round if isinstance(event, Rewritten) else getattr(event, "round", 0)
    spoken_of = event.draft if isinstance(event, Evaluated) else draft if kind == "drafted" else 0
    return ReplayStep(kind, event.seq, at, "" if kind in ("asked", "ended") else node, spoken_of)


def _decided(event: Decided, flow: Flow, draft: int, checked: int) -> ReplayStep:
    decision = event.decision
    if decision.node in flow.of_kind("evaluate"):
        return ReplayStep("evaluated", event.seq, node=decision.node, draft=draft)
    if decision.node in flow.preparing:
        return ReplayStep("routed", event.seq, node=decision.node)
    kind: StepKind = "checked" if checked == decision.round else "judged"
    return ReplayStep(kind, event.seq, decision.round, decision.node)


def _goes_on(former: ReplayStep, step: ReplayStep) -> bool:
    """Return whether ``step`` continues the same moment: verdict after verdict, and the decision that follows."""
    return (former.kind, former.round, former.draft) == (step.kind, step.round, step.draft)
