"""Where the entities of a knowledge graph are drawn: springs along relationships, and no chance in it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_Points = npt.NDArray[np.float64]

_GAP = 64.0
"""Room that one entity takes, in units of the drawing: about the pixels of a picture that is not zoomed."""
_SIGHT = 4.5
"""Gaps from which on two no longer repel each other: else parts that nothing joins would drift apart without end."""
_STEPS = 160
_FEWER_STEPS = 90
_MANY = 250
"""From so many entities on fewer steps have to do: one costs the square of their number."""
_WIDER = 1.6
"""Width over height that a page has room for."""
_MOST_SPREAD = 1.6
_SUNFLOWER = math.pi * (3 - math.sqrt(5))
_APART = 12
"""Passes that push apart what overlaps."""


def layout_of(
    ids: Sequence[str],
    lines: Sequence[tuple[str, str, float]],
    groups: Sequence[str] = (),
    radii: Sequence[float] = (),
) -> dict[str, tuple[float, float]]:
    """Places by id, the middle of the picture at (0, 0); ``lines`` are source, target and weight.

    ``groups`` names what each belongs to: members begin beside each other and are drawn together. The order in which
    entities and lines are given makes no difference, and there is no chance in it.
    """
    if not ids:
        return {}
    given = {name: place for place, name in enumerate(ids)}
    order = sorted(given)
    at = {name: place for place, name in enumerate(order)}
    belongs = [groups[given[name]] if groups else "" for name in order]
    size = np.array([radii[given[name]] if radii else 8.0 for name in order])
    pairs: dict[tuple[int, int], float] = {}
    for source, target, weight in lines:
        if source in at and target in at and source != target:
            pair = (min(at[source], at[target]), max(at[source], at[target]))
            pairs[pair] = max(pairs.get(pair, 0.0), weight)
    gap = max(_GAP, 2.2 * float(size.mean()) + 36)
    points = _beginning(belongs, gap)
    _settle(points, _springs(pairs, len(order)), _middles(belongs), gap)
    _spread(points)
    _push_apart(points, size)
    points -= (points.max(axis=0) + points.min(axis=0)) / 2
    return {name: (round(float(x), 1), round(float(y), 1)) for name, (x, y) in zip(order, points, strict=True)}


def _beginning(belongs: Sequence[str], gap: float) -> _Points:
    """Groups as a sunflower around the middle, the largest first, and their members as one around theirs."""
    sizes: dict[str, int] = {}
    for name in belongs:
        sizes[name] = sizes.get(name, 0) + 1
    groups = sorted(sizes, key=lambda name: (-sizes[name], name))
    far = gap * math.sqrt(len(belongs) / max(1, len(groups)))
    centres = {name: _petal(place, far) for place, name in enumerate(groups)}
    seen: dict[str, int] = {}
    points = np.zeros((len(belongs), 2))
    for place, name in enumerate(belongs):
        seen[name] = seen.get(name, -1) + 1
        x, y = _petal(seen[name], gap * 0.7)
        points[place] = (centres[name][0] * _WIDER + x, centres[name][1] + y)
    return points


def _petal(place: int, gap: float) -> tuple[float, float]:
    away = gap * math.sqrt(place + 0.35)
    return away * math.cos(place * _SUNFLOWER), away * math.sin(place * _SUNFLOWER)


def _springs(pairs: dict[tuple[int, int], float], number: int) -> tuple[npt.NDArray[np.intp], _Points]:
    if not pairs:
        return np.zeros((0, 2), dtype=np.intp), np.zeros(0)
    ends = np.array(sorted(pairs), dtype=np.intp)
    weights = np.array([pairs[pair] for pair in sorted(pairs)])
    degrees = np.bincount(ends.ravel(), minlength=number).astype(float)
    # The many lines of a hub would pull all of its neighbours into one heap.
    busy = np.sqrt(np.maximum(1.0, np.minimum(degrees[ends[:, 0]], degrees[ends[:, 1]])))
    return ends, np.clip(weights, 0.25, 2.0) / busy


def _middles(belongs: Sequence[str]) -> _Points | None:
    """Rows that average the members of a group, for each member; None where there is one group at most."""
    names = sorted(set(belongs))
    if len(names) < 2:
        return None
    member = np.array([[float(name == other) for other in names] for name in belongs])
    averages: _Points = member @ (member / member.sum(axis=0)).T
    return averages


def _settle(
    points: _Points, springs: tuple[npt.NDArray[np.intp], _Points], middles: _Points | None, gap: float
) -> None:
    """Fruchterman and Reingold's forces, with gravity against parts that drift away; changes ``points``."""
    number = len(points)
    ends, weights = springs
    steps = _STEPS if number < _MANY else _FEWER_STEPS
    heat = gap * math.sqrt(number) * 0.35
    gravity = np.array([0.05, 0.075])
    for step in range(steps):
        between = points[:, None, :] - points[None, :, :]
        apart = np.einsum("ijk,ijk->ij", between, between)
        np.maximum(apart, 1.0, out=apart)
        repelled = gap * gap / apart
        repelled[apart > (_SIGHT * gap) ** 2] = 0.0
        moves = np.einsum("ijk,ij->ik", between, repelled)
        if len(ends):
            along = points[ends[:, 0]] - points[ends[:, 1]]
            long = np.linalg.norm(along, axis=1)
            pull = along * (weights * long / gap)[:, None]
            np.add.at(moves, ends[:, 0], -pull)
            np.add.at(moves, ends[:, 1], pull)
        if middles is not None:
            moves += 0.25 * (middles @ points - points)
        moves -= gravity * points * math.sqrt(number) * 0.3
        strength = np.maximum(np.linalg.norm(moves, axis=1), 1e-9)
        limit = np.minimum(strength, heat * (1 - step / steps) + 0.5)
        points += moves * (limit / strength)[:, None]


def _spread(points: _Points) -> None:
    """Fill the width of a page: a round heap leaves half of it empty."""
    wide, high = np.maximum(points.max(axis=0) - points.min(axis=0), 1.0)
    if len(points) > 2:
        points[:, 0] *= min(_MOST_SPREAD, max(1.0, _WIDER * high / wide))


def _push_apart(points: _Points, size: _Points) -> None:
    """No two circles over each other, with room for a short name below each."""
    needed = size[:, None] + size[None, :] + 14.0
    for _ in range(_APART):
        between = points[:, None, :] - points[None, :, :]
        apart = np.sqrt(np.einsum("ijk,ijk->ij", between, between))
        np.fill_diagonal(apart, np.inf)
        short = np.maximum(0.0, needed - apart)
        if not short.any():
            return
        # Two in one place have no direction of their own: the order tells them apart.
        points += 0.5 * np.einsum("ijk,ij->ik", between, short / np.maximum(apart, 1e-6))
        points[:, 0] += np.where((apart < 1e-6).any(axis=1), np.arange(len(points)) * 0.5, 0.0)
