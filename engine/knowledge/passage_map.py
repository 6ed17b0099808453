"""Passages on a plane: their vectors' first two principal components, and the place of a query among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.library.values import MapPoint, PassageMap
from engine.model.values import PassageId
from engine.roles import StoredPassage, Vector

MOST_POINTS = 5000
"""More would hide each other, and take a browser seconds to draw."""
_PAGE = 500
_SHOWN = 240
"""Characters of a passage that go with its point."""


class ReadsVectors(Protocol):
    """Source of a map's vectors."""

    async def ids(self, collection: str) -> list[PassageId]: ...

    async def page(self, collection: str, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]: ...


@dataclass(frozen=True, slots=True)
class Axes:
    """The plane on which vectors vary most."""

    centre: Vector
    """Shape (dim,)."""
    directions: Vector
    """Shape (2, dim): unit length and at right angles, or zeros where the vectors do not vary so far."""
    explained: tuple[float, float]
    """Shares of the variance, in [0, 1]."""

    def place(self, vectors: Vector) -> Vector:
        """Coordinates of vectors of shape (n, dim), shape (n, 2)."""
        return np.asarray((vectors - self.centre) @ self.directions.T, dtype=np.float32)


def principal_axes(vectors: Vector) -> Axes:
    """Principal components by singular values, of vectors of shape (n, dim); the same vectors give the same axes.

    A component has no sign of its own: the one is taken that makes its largest part positive.
    """
    exact = np.asarray(vectors, dtype=np.float64)
    centre = exact.mean(axis=0) if len(exact) else np.zeros(exact.shape[1])
    _, lengths, right = np.linalg.svd(exact - centre, full_matrices=False)
    variances = np.zeros(2)
    directions = np.zeros((2, exact.shape[1]))
    total = float((lengths**2).sum())
    # Less than rounding leaves over is no variance: equal vectors have no direction.
    found = [place for place in range(min(2, len(lengths))) if lengths[place] > 1e-6 * max(1.0, lengths[0])]
    for place in found:
        direction = right[place]
        largest = direction[int(np.argmax(np.abs(direction)))]
        directions[place] = direction if largest > 0 else -direction
        variances[place] = lengths[place] ** 2 / total
    explained = (float(variances[0]), float(variances[1]))
    return Axes(centre.astype(np.float32), directions.astype(np.float32), explained)


def sampled(ids: Sequence[PassageId], most: int, always: Sequence[PassageId]) -> list[PassageId]:
    """Choose at most ``most`` ids, always the same, spread evenly; those of ``always`` that are there come first."""
    there = set(ids)
    kept = [item for item in dict.fromkeys(always) if item in there][:most]
    others = [item for item in ids if item not in set(kept)]
    room = most - len(kept)
    if len(others) <= room:
        return [*kept, *others]
    return [*kept, *(others[place * len(others) // room] for place in range(room))]


async def passage_map(
    store: ReadsVectors,
    collection: str,
    most: int,
    query: Vector | None = None,
    hits: Sequence[PassageId] = (),
) -> PassageMap:
    """Place at most ``most`` passages on their first two components, with the query and all its hits among them."""
    ids = await store.ids(collection)
    wanted = sampled(ids, max(2, min(most, MOST_POINTS)), hits)
    passages: list[StoredPassage] = []
    rows: list[Vector] = []
    for start in range(0, len(wanted), _PAGE):
        for passage, vector in await store.page(collection, wanted[start : start + _PAGE]):
            passages.append(passage)
            rows.append(_unit(vector))
    if not passages:
        return PassageMap((), (0.0, 0.0), len(ids))
    vectors = np.stack(rows)
    axes = principal_axes(vectors)
    places = axes.place(vectors)
    return PassageMap(
        points=tuple(map(_point, passages, places)),
        explained=axes.explained,
        total=len(ids),
        query=None if query is None else _pair(axes.place(_unit(query)[np.newaxis])[0]),
        hits=tuple(item for item in hits if item in {passage.id for passage in passages}),
    )


def _point(passage: StoredPassage, place: Vector) -> MapPoint:
    x, y = _pair(place)
    text = passage.text[:_SHOWN]
    return MapPoint(passage.id, passage.source, passage.section, text, x, y)


def _pair(place: Vector) -> tuple[float, float]:
    return float(place[0]), float(place[1])


def _unit(vector: Vector) -> Vector:
    """Scale vectors to length 1, as they are compared: another program's may have any length."""
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length, dtype=np.float32) if length else np.asarray(vector, dtype=np.float32)
