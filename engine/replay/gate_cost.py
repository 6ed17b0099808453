"""Cost of the pass-rate gate for a finished run, compared with ``min_relevant`` (SC-05)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.flow import workflow
from engine.model.config import RoleName
from engine.model.decide import Evidence, decide, passed_together
from engine.model.values import RunRecord, counted
from engine.replay.admitted import admitted

_ANSWERING: frozenset[RoleName] = frozenset({"refiner", "generator", "evaluator", "verifier"})


@dataclass(frozen=True, slots=True)
class GateCost:
    """Work that the gate ``min_relevant`` would have saved in a run that went by the pass rate."""

    round: int
    """The round at which enough verified passages were there."""
    relevant: int
    """How many of them, over the rounds up to it."""
    rewrites: int
    calls: int
    """Calls of chat models after that point, answers left out: they would have been written all the same."""
    built_in_calls: int
    saved_ms: float
    """Time from that round's decision to the beginning of generation."""


def gate_cost(record: RunRecord) -> GateCost | None:
    """Count what came after enough passages were verified; None where there was nothing to save.

    A passage that a low bar let through although the grader refused it is not verified.
    """
    own = workflow(record.workflow)
    flow = own.flow
    if (
        not own.plain_gate
        or record.config.gate != "pass_rate"
        or len(record.rounds) < 2
        or record.config.needs_whole
        or record.rounds[0].parts
    ):
        return None
    other, rewriting = replace(record.config, gate="min_relevant"), flow.of_kind("rewrite")
    for end in range(len(record.rounds) - 1):
        decision = decide(Evidence(record.rounds[: end + 1]), other)
        if decision.reason != "passed":
            continue
        early = record.rounds[: end + 1]
        if any(
            item.unaccepted for item in admitted(record, other, early, passed_together(early, other), verified=True)
        ):
            return None
        later = [
            call
            for call in record.model_calls
            if call.role not in _ANSWERING and (call.round > end or (call.round == end and call.node in rewriting))
        ]
        count = counted(later)
        return GateCost(
            round=end,
            relevant=int(decision.comparisons[0].value),
            rewrites=len(record.rewrites) - end,
            calls=count.done,
            built_in_calls=count.steps,
            saved_ms=_time_after(record, flow.gate, end),
        )
    return None


def _time_after(record: RunRecord, gate: str, end: int) -> float:
    graded = next((item for item in record.nodes if item.node == gate and item.round == end), None)
    onward = next(item.route for item in reversed(record.decisions) if item.node == gate)
    generated = next((item for item in record.nodes if item.node == onward), None)
    if graded is None or generated is None:
        return 0.0
    return max(0.0, generated.start_ms - graded.start_ms - (graded.duration_ms or 0.0))
