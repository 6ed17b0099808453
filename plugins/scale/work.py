"""The job that gives a collection another index, or only measures the one it has."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from engine.knowledge.base import KnowledgeBase
from engine.knowledge.manifest import Manifest
from engine.knowledge.progress import NOTHING, IngestReport, Progress, Rate
from plugins.scale.choice import build_of, kind_named
from plugins.scale.indexes import Indexes
from plugins.scale.recall import measure_recall
from plugins.scale.values import IndexKind, IndexState

_LOOK_S = 0.5


async def work(knowledge: KnowledgeBase, manifest: Manifest, report: Callable[[Progress], None]) -> IngestReport:
    """Do the job of a manifest."""
    indexes = Indexes(await knowledge.own_store())
    compared = await work_on_index(indexes, manifest.collection, kind_named(manifest.index), report)
    return replace(NOTHING, passages=compared)


async def work_on_index(
    indexes: Indexes, collection: str, kind: IndexKind | None, report: Callable[[Progress], None]
) -> int:
    """Build another index where a ``kind`` is given, then measure recall; returns how many passages were compared.

    What was cut off is resumed by calling again: an index that is there, or being built, is not started a second time.
    Stopping does not stop the server, which builds on; until the index is whole its searches find less.
    """
    if kind is not None:
        rows = (await indexes.state(collection)).rows
        await indexes.change(collection, kind, build_of(kind, rows))
        await _built(indexes, collection, _Phase("indexing", report))
        await indexes.use(collection)
    figures = await measure_recall(indexes, collection, _Phase("measuring", report))
    await indexes.put_recall(collection, figures)
    return figures.passages


async def _built(indexes: Indexes, collection: str, phase: _Phase) -> None:
    """Wait until the index holds every row of the segments that are there."""
    while not _whole(state := await indexes.state(collection)):
        phase(state.indexed, state.rows)
        await asyncio.sleep(_LOOK_S)


def _whole(state: IndexState) -> bool:
    return state.indexed >= state.rows


class _Phase:
    """Tells how far one part of the job has come."""

    def __init__(self, state: Literal["indexing", "measuring"], report: Callable[[Progress], None]) -> None:
        self._state = state
        self._report = report
        self._rate = Rate()
        self(0, 0)

    def __call__(self, done: int, total: int) -> None:
        self._rate.mark(time.monotonic(), done)
        per_second, left = self._rate.of(total - done)
        self._report(Progress(done, total, per_second, left, "", self._state))
