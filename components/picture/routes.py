"""Orthogonal ways between boxes: shortest paths over a grid of lines that keep clear of every box.

A bend, a crossing and a stretch shared with another edge each cost as much as a detour, so the cheapest way is also the
legible one. The grid has some hundred points for a dozen boxes; the whole drawing is made once a graph and kept.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from components.picture.geometry import Box, Point, simplified

Side = Literal["left", "right", "top", "bottom"]

STUB = 18.0
"""How far a way leaves a box before it may turn."""
CLEAR = 6.0
"""Distance that a way keeps from boxes that are not its own."""
PORT_OFFSET = 16.0
LENGTH, BEND, CROSSING, SHARED, OFF_CENTRE, USED_PORT = 0.4, 46.0, 34.0, 6.0, 14.0, 60.0
NEAR_BOX = 0.08
"""What a pixel along a box costs where words have to stand there, above or below a way between two boxes."""

_STEPS: Mapping[Side, tuple[int, int]] = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
_SIDES: tuple[Side, ...] = ("left", "right", "top", "bottom")

SideCosts = Mapping[Side, float]


@dataclass(frozen=True, slots=True)
class Wanted:
    """An edge to route, with what it costs to leave and enter by each side."""

    source: str
    target: str
    leave: SideCosts
    enter: SideCosts


@dataclass(slots=True)
class Plan:
    """Boxes and the ways found so far; ``route`` adds one."""

    boxes: Mapping[str, Box]
    xs: list[float]
    ys: list[float]
    keeps_away: bool = False
    """Whether ways leave room next to boxes for the words of others."""
    shared: dict[tuple[int, int, str], list[tuple[str, str]]] = field(default_factory=dict)
    ports: dict[Point, list[tuple[str, str]]] = field(default_factory=dict)
    clear: dict[tuple[int, int, int, int], bool] = field(default_factory=dict)
    near_boxes: dict[tuple[int, int, int, int], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, boxes: Sequence[Box], tracks: int = 2, *, keeps_away: bool = False) -> Plan:
        """Lay the grid: lines through ports, next to boxes, and ``tracks`` free ones around the drawing."""
        xs: set[float] = set()
        ys: set[float] = set()
        for box in boxes:
            (cx, cy), stub = box.center, STUB
            xs |= {box.x - stub, box.right + stub, *(cx + shift for shift in _shifts(box, "top"))}
            ys |= {box.y - stub, box.bottom + stub, *(cy + shift for shift in _shifts(box, "left"))}
        rows = sorted({(box.y, box.bottom) for box in boxes})
        ys |= {(below + above) / 2 for (_, below), (above, _) in pairwise(rows) if above - below > 4 * STUB}
        for _ in range(tracks):
            xs |= {min(xs) - STUB, max(xs) + STUB}
            ys |= {min(ys) - STUB, max(ys) + STUB}
        return cls({box.name: box for box in boxes}, sorted(xs), sorted(ys), keeps_away)

    def route(self, wanted: Wanted) -> tuple[Point, ...]:
        """The cheapest way from border to border; a straight line where the boxes leave no other."""
        edge = (wanted.source, wanted.target)
        found = self._search(wanted)
        if found is None:
            return (self.boxes[wanted.source].center, self.boxes[wanted.target].center)
        cells, first, last = found
        self._remember(edge, cells, first, last)
        inner = [(self.xs[x], self.ys[y]) for x, y in cells]
        return simplified([first, *inner, last])

    def _search(self, wanted: Wanted) -> tuple[list[tuple[int, int]], Point, Point] | None:
        goals = {(cell, _opposite(side)): (cost, port) for side, port, cell, cost in self._doors(wanted, enter=True)}
        queue: list[tuple[float, int, tuple[int, int], Side]] = []
        cost_of: dict[tuple[tuple[int, int], Side], float] = {}
        came: dict[tuple[tuple[int, int], Side], tuple[tuple[int, int], Side] | None] = {}
        starts: dict[tuple[tuple[int, int], Side], Point] = {}
        for side, port, cell, cost in self._doors(wanted, enter=False):
            state = (cell, side)
            if cost < cost_of.get(state, float("inf")):
                cost_of[state], came[state], starts[state] = cost, None, port
                heapq.heappush(queue, (cost, len(came), cell, side))
        best: tuple[float, tuple[tuple[int, int], Side], Point] | None = None
        count = len(came)
        while queue:
            cost, _, cell, heading = heapq.heappop(queue)
            if best is not None and cost >= best[0]:
                break
            state = (cell, heading)
            if cost > cost_of[state]:
                continue
            for (goal, inward), (entry, port) in goals.items():
                if goal != cell:
                    continue
                total = cost + entry + (0.0 if inward == heading else BEND)
                if inward != _opposite(heading) and (best is None or total < best[0]):
                    best = (total, state, port)
            for following, step in self._moves(state, (wanted.source, wanted.target)):
                if cost + step < cost_of.get(following, float("inf")):
                    cost_of[following], came[following] = cost + step, state
                    count += 1
                    heapq.heappush(queue, (cost + step, count, *following))
        if best is None:
            return None
        states = [best[1]]
        while (before := came[states[-1]]) is not None:
            states.append(before)
        states.reverse()
        return [cell for cell, _ in states], starts[states[0]], best[2]

    def _moves(
        self, state: tuple[tuple[int, int], Side], edge: tuple[str, str]
    ) -> Iterator[tuple[tuple[tuple[int, int], Side], float]]:
        (x, y), heading = state
        for side in _SIDES:
            dx, dy = _STEPS[side]
            to = (x + dx, y + dy)
            if side == _opposite(heading) or not (0 <= to[0] < len(self.xs) and 0 <= to[1] < len(self.ys)):
                continue
            if not self._free((x, y), to):
                continue
            length = abs(self.xs[to[0]] - self.xs[x]) + abs(self.ys[to[1]] - self.ys[y])
            cost = length * LENGTH + (0.0 if side == heading else BEND) + self._disturbance((x, y), to, length, edge)
            yield (to, side), cost

    def _disturbance(self, cell: tuple[int, int], to: tuple[int, int], length: float, edge: tuple[str, str]) -> float:
        along = "h" if cell[1] == to[1] else "v"
        low = min(cell, to)
        others = self.shared.get((*low, along), [])
        kin = sum(1 for other in others if other[0] == edge[0] or other[1] == edge[1])
        cost = length * SHARED * (len(others) - kin) + length * 0.25 * kin
        if self.keeps_away and along == "h" and self._touches(cell, to, self.near_boxes, STUB + 1):
            cost += length * NEAR_BOX
        across = "v" if along == "h" else "h"
        x, y = to
        before = (x, y - 1, "v") if across == "v" else (x - 1, y, "h")
        passing = set(self.shared.get((x, y, across), [])) & set(self.shared.get(before, []))
        return cost + CROSSING * len(passing)

    def _doors(self, wanted: Wanted, *, enter: bool) -> Iterator[tuple[Side, Point, tuple[int, int], float]]:
        box = self.boxes[wanted.target if enter else wanted.source]
        costs = wanted.enter if enter else wanted.leave
        edge = (wanted.source, wanted.target)
        for side in _SIDES:
            if side not in costs:
                continue
            for shift in _shifts(box, side):
                port, outside = _port(box, side, shift)
                cell = (self._at(self.xs, outside[0]), self._at(self.ys, outside[1]))
                users = self.ports.get(port, [])
                # Arrows may merge on the way in and fork on the way out, but never run against each other.
                strangers = sum(1 for user in users if user[1 if enter else 0] != edge[1 if enter else 0])
                merging = len(users) - strangers
                cost = costs[side] + (OFF_CENTRE if shift else 0.0) + USED_PORT * strangers + 4.0 * merging
                yield side, port, cell, cost

    def _remember(self, edge: tuple[str, str], cells: Sequence[tuple[int, int]], first: Point, last: Point) -> None:
        for cell, to in pairwise(cells):
            along = "h" if cell[1] == to[1] else "v"
            self.shared.setdefault((*min(cell, to), along), []).append(edge)
        for port in (first, last):
            self.ports.setdefault(port, []).append(edge)

    def _free(self, cell: tuple[int, int], to: tuple[int, int]) -> bool:
        return not self._touches(cell, to, self.clear, CLEAR)

    def _touches(
        self, cell: tuple[int, int], to: tuple[int, int], known: dict[tuple[int, int, int, int], bool], margin: float
    ) -> bool:
        """Return whether a stretch comes closer than ``margin`` to a box; ``known`` keeps the answers."""
        key = (*min(cell, to), *max(cell, to))
        if key not in known:
            start, stop = (self.xs[cell[0]], self.ys[cell[1]]), (self.xs[to[0]], self.ys[to[1]])
            known[key] = any(box.grown(margin).crossed_by(start, stop) for box in self.boxes.values())
        return known[key]

    @staticmethod
    def _at(lines: Sequence[float], value: float) -> int:
        return bisect_left(lines, value)


def side_costs(costs: Iterable[tuple[Side, float]]) -> SideCosts:
    return dict(costs)


def _shifts(box: Box, side: Side) -> tuple[float, ...]:
    """Return the points on a side where an edge may meet the box: its middle, and more where there is room."""
    extent = box.h if side in ("left", "right") else box.w
    return (0.0, -PORT_OFFSET, PORT_OFFSET) if extent >= 4 * PORT_OFFSET else (0.0,)


def _port(box: Box, side: Side, shift: float) -> tuple[Point, Point]:
    (cx, cy), (dx, dy) = box.center, _STEPS[side]
    if side in ("left", "right"):
        x = box.right if side == "right" else box.x
        return (x, cy + shift), (x + dx * STUB, cy + shift)
    y = box.bottom if side == "bottom" else box.y
    return (cx + shift, y), (cx + shift, y + dy * STUB)


def _opposite(side: Side) -> Side:
    opposites: dict[Side, Side] = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
    return opposites[side]
