"""What the steps of a run cost, by counting its calls and by the times that it measured itself."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config import RoleName, RunConfig
from engine.values import RunRecord
from engine.whatif.values import Price

REWRITE_CALLS = 2
"""A rewrite that repeats a query is asked for once more (SPEC SC-06): two calls at worst."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """Prices of single steps under one config; seconds are None where the run measured no such step."""

    search: Price
    grading: Price
    rewrite: Price
    generation: Price

    def rounds_after(self, done: int, config: RunConfig) -> Price:
        """At worst: every rewrite that is left after round ``done`` with its search and a full round of gradings."""
        left = max(0, config.max_rewrites - done)
        depth = config.fetch_k if config.grade_probe else config.top_k
        return (self.rewrite * REWRITE_CALLS + self.search + self.grading * depth) * left


def tariff(record: RunRecord, config: RunConfig) -> Tariff:
    """Prices by the roles of ``config``; times from the record where the same model did the step there."""
    # What was answered from a cache or, in a branch, from its parent took no time that would tell anything.
    asked = {(call.node, call.round) for call in record.model_calls if not call.cached}
    rewrites = [item for item in record.nodes if item.node == "rewrite" and ("rewrite", item.round) in asked]
    grading = _total([item.duration_ms for item in record.nodes if item.node == "grade"])
    gradings = sum(call.role == "grader" and not call.cached for call in record.model_calls)
    written = any(call.role == "generator" and not call.cached for call in record.model_calls)
    generations = [item for item in record.nodes if item.node == "generate" and written]
    searches = [item for item in record.nodes if item.node == "retrieve"]
    if record.fork:
        searches = [item for item in searches if ("grade", item.round) in asked]
    return Tariff(
        search=Price(seconds=_mean([item.duration_ms for item in searches])),
        grading=_of(record, config, "grader", grading / gradings if gradings and grading is not None else None),
        rewrite=_of(record, config, "rewriter", _mean([item.duration_ms for item in rewrites])),
        generation=_of(record, config, "generator", _mean([item.duration_ms for item in generations])),
    )


def _of(record: RunRecord, config: RunConfig, role: RoleName, measured_s: float | None) -> Price:
    model = config.models.of(role)
    seconds = measured_s if model == record.config.models.of(role) else None
    return Price(0, 1, seconds) if model.built_in else Price(1, 0, seconds)


def _mean(durations_ms: list[float | None]) -> float | None:
    finished = [item for item in durations_ms if item is not None]
    return sum(finished) / len(finished) / 1000.0 if finished else None


def _total(durations_ms: list[float | None]) -> float | None:
    finished = [item for item in durations_ms if item is not None]
    return sum(finished) / 1000.0 if finished else None
