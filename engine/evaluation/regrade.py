"""Judging the same passages again, to see how far a grader's verdicts scatter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import Fault, Passage, PassageId, RunId, RunRecord, Verdict
from engine.roles import Grader, SilentTrace

MOST_TIMES = 20
_PATIENCE_S = 120.0
"""How long one grading of all passages of a run may take."""


class GraderSource(Protocol):
    """Where graders without a memory come from; see :class:`engine.running.resources.Resources`."""

    async def fresh_grader(self, config: RunConfig) -> Grader: ...


@dataclass(frozen=True, slots=True)
class Regraded:
    """What the new gradings said."""

    verdicts: Mapping[RunId, Mapping[PassageId, Sequence[Verdict]]]
    """By run and passage, in the order they were made."""
    fault: Fault | None = None
    """What ended it early; what was judged before stands."""


class _Patient(SilentTrace):
    def time_left_s(self) -> float:
        return _PATIENCE_S


def judged_passages(record: RunRecord) -> tuple[Passage, ...]:
    """Distinct passages that a run judged, in the order it met them."""
    found: dict[PassageId, Passage] = {}
    for current in record.rounds:
        for item in current.candidates:
            if item.passage.id in current.verdicts:
                found.setdefault(item.passage.id, item.passage)
    return tuple(found.values())


async def regrade(
    graders: GraderSource, records: Sequence[RunRecord], times: int, note: Callable[[int], None] | None = None
) -> Regraded:
    """Judge what each run judged ``times`` times more; no verdict comes from the cache, and none goes into it.

    ``note`` is told how many gradings of a run are done. A grader that cannot be reached ends it with a fault.
    """
    found: dict[RunId, dict[PassageId, list[Verdict]]] = {}
    done = 0
    for record in records:
        passages = judged_passages(record)
        scattered: dict[PassageId, list[Verdict]] = {passage.id: [] for passage in passages}
        found[record.id] = scattered
        try:
            grader = await graders.fresh_grader(record.config)
            for _ in range(min(times, MOST_TIMES)):
                verdicts = await grader.grade(record.question, passages, _Patient()) if passages else []
                for passage, verdict in zip(passages, verdicts, strict=True):
                    scattered[passage.id].append(verdict)
                done += 1
                if note is not None:
                    note(done)
                await asyncio.sleep(0)
        except WorkbenchError as error:
            return Regraded(found, Fault.of(error))
    return Regraded(found)
