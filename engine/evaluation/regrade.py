"""Judging the same passages again, to see how far a grader's verdicts scatter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from engine.config import RunConfig
from engine.nodes.run_context import Roles
from engine.roles import SilentTrace
from engine.values import Passage, PassageId, RunRecord, Verdict

MOST_TIMES = 20
_PATIENCE_S = 120.0
"""How long one grading of all passages may take."""


class RoleSource(Protocol):
    """Where roles come from; see :class:`engine.resources.Resources`."""

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]: ...


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
    roles: RoleSource, records: Sequence[RunRecord], times: int, note: Callable[[int], None] | None = None
) -> dict[str, dict[PassageId, list[Verdict]]]:
    """Verdicts of ``times`` new gradings by run id and passage; no verdict comes from the cache.

    ``note`` is told how many gradings of a run are done. Raises ``ModelError`` where the grader cannot be reached.
    """
    found: dict[str, dict[PassageId, list[Verdict]]] = {}
    done = 0
    for record in records:
        passages = judged_passages(record)
        scattered: dict[PassageId, list[Verdict]] = {passage.id: [] for passage in passages}
        made, _ = await roles.roles(replace(record.config, ignore_cache=True))
        for _ in range(min(times, MOST_TIMES)):
            verdicts = await made.grader.grade(record.question, passages, _Patient()) if passages else []
            for passage, verdict in zip(passages, verdicts, strict=True):
                scattered[passage.id].append(verdict)
            done += 1
            if note is not None:
                note(done)
            await asyncio.sleep(0)
        found[record.id] = scattered
    return found
