"""Boxes, routes and label places of a drawn workflow, in pixels, y growing downwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

CORNER = 9.0
ARROW = 9.0
"""Length of an arrow head; a line ends that much before its last point, or it would show through the tip."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its top left corner."""

    name: str
    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    @property
    def center(self) -> Point:
        return (self.x + self.w / 2, self.y + self.h / 2)

    def grown(self, margin: float) -> Box:
        return Box(self.name, self.x - margin, self.y - margin, self.w + 2 * margin, self.h + 2 * margin)

    def moved(self, dx: float, dy: float) -> Box:
        return Box(self.name, self.x + dx, self.y + dy, self.w, self.h)

    def overlaps(self, other: Box) -> bool:
        """Return whether the two share an area; touching sides do not."""
        apart = self.right <= other.x or other.right <= self.x or self.bottom <= other.y or other.bottom <= self.y
        return not apart

    def crossed_by(self, start: Point, stop: Point) -> bool:
        """Return whether a horizontal or vertical segment runs through the inside."""
        low_x, high_x = sorted((start[0], stop[0]))
        low_y, high_y = sorted((start[1], stop[1]))
        return low_x < self.right and high_x > self.x and low_y < self.bottom and high_y > self.y


@dataclass(frozen=True, slots=True)
class Label:
    """Room kept free for the words on an edge; ``anchor`` says from where a shorter text is laid."""

    x: float
    y: float
    w: float
    h: float
    anchor: Anchor

    @property
    def box(self) -> Box:
        return Box("", self.x, self.y, self.w, self.h)

    def moved(self, dx: float, dy: float) -> Label:
        return Label(self.x + dx, self.y + dy, self.w, self.h, self.anchor)


@dataclass(frozen=True, slots=True)
class Route:
    """The orthogonal way of one edge, from border to border."""

    source: str
    target: str
    conditional: bool
    points: tuple[Point, ...]
    label: Label | None = None

    def moved(self, dx: float, dy: float) -> Route:
        points = tuple((x + dx, y + dy) for x, y in self.points)
        label = self.label.moved(dx, dy) if self.label else None
        return Route(self.source, self.target, self.conditional, points, label)

    @property
    def segments(self) -> tuple[tuple[Point, Point], ...]:
        return tuple(pairwise(self.points))

    @property
    def path(self) -> str:
        """SVG path data with rounded corners, ending before the arrow head."""
        return rounded(_shortened(self.points, ARROW))

    @property
    def arrow(self) -> str:
        """SVG path data of the arrow head."""
        (x0, y0), (x, y) = self.points[-2:]
        length = math.hypot(x - x0, y - y0) or 1.0
        ux, uy = (x - x0) / length, (y - y0) / length
        back_x, back_y, half = x - ux * (ARROW + 2), y - uy * (ARROW + 2), 5.5
        left = (back_x - uy * half, back_y + ux * half)
        right = (back_x + uy * half, back_y - ux * half)
        return f"M{_n(x)} {_n(y)}L{_n(left[0])} {_n(left[1])}L{_n(right[0])} {_n(right[1])}Z"


def rounded(points: Sequence[Point]) -> str:
    """SVG path data through orthogonal points with corners of radius :data:`CORNER` or less."""
    parts = [f"M{_n(points[0][0])} {_n(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(CORNER, _distance(before, corner) / 2, _distance(corner, after) / 2)
        near, far = _towards(corner, before, radius), _towards(corner, after, radius)
        parts.append(f"L{_n(near[0])} {_n(near[1])}Q{_n(corner[0])} {_n(corner[1])} {_n(far[0])} {_n(far[1])}")
    parts.append(f"L{_n(points[-1][0])} {_n(points[-1][1])}")
    return "".join(parts)


def simplified(points: Sequence[Point]) -> tuple[Point, ...]:
    """The same way without points that repeat or lie on a straight line."""
    kept: list[Point] = []
    for point in points:
        if kept and _distance(kept[-1], point) < 0.01:
            continue
        while len(kept) > 1 and _straight(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def _straight(a: Point, b: Point, c: Point) -> bool:
    return (a[0] == b[0] == c[0]) or (a[1] == b[1] == c[1])


def _shortened(points: Sequence[Point], by: float) -> list[Point]:
    before, last = points[-2], points[-1]
    return [*points[:-1], _towards(last, before, min(by, _distance(before, last) / 2))]


def _distance(a: Point, b: Point) -> float:
    return math.hypot(a[0] - b[0], a[1] - b[1])


def _towards(start: Point, goal: Point, by: float) -> Point:
    length = _distance(start, goal) or 1.0
    return (start[0] + (goal[0] - start[0]) * by / length, start[1] + (goal[1] - start[1]) * by / length)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
