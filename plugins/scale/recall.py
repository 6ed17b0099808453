"""Recall of a collection's index against exact search, and its speed.

Vectors of the collection itself are the questions; each is left out of what is found for it, for every index finds
that one. The exact nearest come from a pass over all vectors, so that measuring a million takes minutes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from engine.knowledge.milvus_reader import search_params
from engine.model.values import PassageId
from engine.roles import Vector
from plugins.scale.choice import BREADTHS
from plugins.scale.indexes import Indexes
from plugins.scale.values import BreadthFigures, IndexState, RecallFigures

LIMIT = 10
"""The k of recall@k."""
QUESTIONS = 100
_PAGE = 2000
"""Vectors read between two looks at progress and cancellation."""
_EXTRA = 10
"""Exact hits kept beyond k: those as near as the last one count as well as it does."""
_AS_NEAR = 1e-6

Compared = Callable[[int, int], None]
"""Receives the number of vectors compared and of all vectors."""


async def measure_recall(
    indexes: Indexes,
    collection: str,
    progress: Compared | None = None,
    *,
    questions: int = QUESTIONS,
    limit: int = LIMIT,
) -> RecallFigures:
    """Compare the index, at each breadth that it can have, with exact search."""
    exact = await exact_nearest(indexes, collection, progress, questions=questions, limit=limit)
    return await recall_of(indexes, collection, exact)


async def exact_nearest(
    indexes: Indexes,
    collection: str,
    progress: Compared | None = None,
    *,
    questions: int = QUESTIONS,
    limit: int = LIMIT,
) -> Exact:
    """Return the exact search results for some vectors of the collection, by a pass over all of them."""
    ids = await indexes.store.ids(collection)
    asked = [ids[place * len(ids) // questions] for place in range(questions)] if len(ids) > questions else ids
    exact = Exact.of(await indexes.store.vectors(collection, asked), limit)
    for start in range(0, len(ids), _PAGE):
        page = await indexes.store.vectors(collection, ids[start : start + _PAGE])
        await asyncio.to_thread(exact.compare, page)
        if progress is not None:
            progress(min(start + _PAGE, len(ids)), len(ids))
    return exact


async def recall_of(indexes: Indexes, collection: str, exact: Exact) -> RecallFigures:
    """Return the recall of the current index against them, at each breadth it supports."""
    state = await indexes.state(collection)
    rows = []
    for breadth in breadths(state):
        params = search_params(state.parameter, breadth, exact.limit + 1)
        rows.append(await _searched(indexes, collection, exact, breadth, params))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return RecallFigures(state.kind, dict(state.build), exact.compared, exact.limit, len(exact.keys), tuple(rows), now)


def breadths(state: IndexState) -> tuple[int, ...]:
    """Breadths to try, the one in use among them; a single 0 for an index that has none."""
    if not state.parameter:
        return (0,)
    return tuple(sorted({*BREADTHS[state.parameter], *([state.breadth] if state.breadth else [])}))


async def _searched(
    indexes: Indexes, collection: str, exact: Exact, breadth: int, params: Mapping[str, int]
) -> BreadthFigures:
    if not exact.keys:
        return BreadthFigures(breadth, 1.0, 0.0, 0.0)
    # The first search of a kind is not timed: it may load what the others find loaded.
    await indexes.nearest(collection, exact.queries[0], exact.limit + 1, params)
    shares, taken = [], []
    for place, query in enumerate(exact.queries):
        found, ms = await indexes.nearest(collection, query, exact.limit + 1, params)
        shares.append(exact.share(place, found))
        taken.append(ms)
    return BreadthFigures(breadth, float(np.mean(shares)), float(np.median(taken)), float(np.percentile(taken, 95)))


@dataclass(slots=True)
class Exact:
    """The exact nearest of each question among the vectors compared so far."""

    keys: list[PassageId]
    queries: Vector
    limit: int
    found: list[list[tuple[float, PassageId]]]
    """Cosine and id, best first, a few more than ``limit``."""
    compared: int = 0

    @classmethod
    def of(cls, queries: Mapping[PassageId, Vector], limit: int) -> Exact:
        """``queries`` by id: each is left out of its own hits."""
        rows = np.stack(list(queries.values())) if queries else np.empty((0, 1), dtype=np.float32)
        return cls(list(queries), _unit(rows), limit, [[] for _ in queries])

    def compare(self, page: Mapping[PassageId, Vector]) -> None:
        """Take further vectors into account."""
        if not page:
            return
        ids = list(page)
        self.compared += len(ids)
        scores = self.queries @ _unit(np.stack(list(page.values()))).T
        most = self.limit + _EXTRA + 1
        for place, row in enumerate(scores):
            best = np.argpartition(-row, min(most, len(row)) - 1)[:most]
            own = self.keys[place]
            fresh = [(float(row[column]), ids[column]) for column in best if ids[column] != own]
            self.found[place] = sorted([*self.found[place], *fresh], reverse=True)[: self.limit + _EXTRA]

    def share(self, place: int, found: Sequence[PassageId]) -> float:
        """Share of the exact nearest of one question that are among what an index found, itself left out."""
        nearest = self.found[place]
        wanted = min(self.limit, len(nearest))
        if not wanted:
            return 1.0
        last = nearest[wanted - 1][0]
        right = {key for score, key in nearest if score >= last - _AS_NEAR}
        own = self.keys[place]
        kept = [key for key in found if key != own][: self.limit]
        return min(wanted, sum(key in right for key in kept)) / wanted


def _unit(rows: Vector) -> Vector:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)
