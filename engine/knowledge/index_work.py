"""The job that gives a collection another index, or only measures the one it has."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from engine.knowledge.index_choice import build_of
from engine.knowledge.pace import Progress, Rate
from engine.knowledge.recall import Indexed, measure_recall
from engine.library.index_values import IndexKind, IndexState, RecallFigures

_LOOK_S = 0.5


class Reindexed(Indexed, Protocol):
    """What is needed of the store."""

    async def change_index(self, collection: str, kind: IndexKind, build: Mapping[str, int]) -> None: ...

    async def use_index(self, collection: str) -> None: ...

    async def put_recall(self, collection: str, figures: RecallFigures) -> None: ...


async def work_on_index(
    store: Reindexed, collection: str, kind: IndexKind | None, report: Callable[[Progress], None]
) -> int:
    """Build another index where a ``kind`` is given, then measure recall; returns how many passages were compared.

    What was cut off is resumed by calling again: an index that is there, or being built, is not begun a second time.
    Stopping does not stop the server, which builds on; until the index is whole its searches find less.
    """
    if kind is not None:
        rows = (await store.index(collection)).rows
        await store.change_index(collection, kind, build_of(kind, rows))
        await _built(store, collection, _Phase("indexing", report))
        await store.use_index(collection)
    figures = await measure_recall(store, collection, _Phase("measuring", report))
    await store.put_recall(collection, figures)
    return figures.passages


async def _built(store: Reindexed, collection: str, phase: _Phase) -> None:
    """Wait until the index holds every row of the segments that are there."""
    while not _whole(state := await store.index(collection)):
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
