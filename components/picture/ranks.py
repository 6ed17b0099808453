"""Grid of a workflow's nodes in columns and rows, before anything has a size.

Columns follow the flow. Row 0 is the longest way from start to end and negative rows hold its alternatives (a workflow
that never goes back has them on both sides). Positive rows, the lanes, hold what only leads back, such as a rewrite:
those nodes stand half-way between the columns that they connect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.flow.graph import END, START, WorkflowGraph

LONGEST_ROW = 6
"""Columns up to which a flow is drawn in one row."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the grid; a whole column belongs to the flow, a half one is between two of them."""

    column: float
    row: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Slots of all nodes, ``START`` in column 0 and ``END`` in the last one, and the edges that lead back."""

    slots: Mapping[str, Slot]
    columns: int
    """Number of columns between the two dots."""
    back: frozenset[tuple[str, str]]
    returning: frozenset[str]
    """Nodes that only lead back."""
    folded: bool = False
    """Whether the flow continues in row 1, below the row that it began in."""


def grid_of(graph: WorkflowGraph) -> Grid:
    """Place every node; equal graphs give equal grids."""
    names = (START, *graph.nodes, END)
    after = {name: graph.successors(name) for name in names}
    back = _back_edges(names, after)
    onward = {name: [target for target in after[name] if (name, target) not in back] for name in names}
    finishing = _reaching(END, onward)
    returning = [name for name in graph.nodes if name not in finishing and any(name == s for s, _ in back)]
    flow = [name for name in names if name not in returning]
    ranks = _ranks(flow, onward)
    columns = max((ranks[name] for name in graph.nodes if name in ranks), default=0)
    slots = {START: Slot(0, 0), END: Slot(columns + 1, 0)}
    slots |= _flow_slots(flow, onward, ranks, both_sides=not back)
    slots |= _lane_slots(returning, onward, back, slots)
    return Grid(slots, columns, frozenset(back), frozenset(returning))


def folded(grid: Grid, graph: WorkflowGraph, longest: int = LONGEST_ROW) -> Grid:
    """The flow of a grid with more columns than ``longest`` in two rows, both read from left to right.

    The second row ends at the right edge. An alternative that leads into the second row alone stands before it, and so
    does what leads back from it. A grid with other nodes next to its flow stays as it is.
    """
    first = (grid.columns + 2) // 2
    shift = grid.columns - first
    below = {name for name, slot in grid.slots.items() if slot.row == 0 and slot.column > first}
    lower = [name for name in graph.nodes if grid.slots[name].row > 0]
    entered = {edge.source for edge in graph.edges if edge.target in lower}
    if grid.columns <= longest or not entered <= below:
        return grid
    slots = {
        name: Slot(slot.column - shift, 1) if name in below and slot.row == 0 else slot
        for name, slot in grid.slots.items()
    }
    taken = {(slot.column, slot.row) for slot in slots.values()}
    place = float(first - shift)
    for name in graph.nodes:
        onward = {target for target in graph.successors(name) if (name, target) not in grid.back}
        alternative = grid.slots[name].row < 0 and onward <= below
        if (alternative or name in lower) and (place, 1) not in taken and place >= 1:
            slots[name] = Slot(place, 1)
            taken.add((place, 1))
            place -= 1
    return Grid(slots, first, grid.back, grid.returning, folded=True)


def _back_edges(names: Sequence[str], after: Mapping[str, Sequence[str]]) -> set[tuple[str, str]]:
    """Edges to a node that is still being visited, by depth first from the start."""
    back: set[tuple[str, str]] = set()
    state: dict[str, str] = {}

    def visit(name: str) -> None:
        state[name] = "open"
        for target in after[name]:
            if state.get(target) == "open":
                back.add((name, target))
            elif target not in state:
                visit(target)
        state[name] = "closed"

    for name in names:
        if name not in state:
            visit(name)
    return back


def _reaching(goal: str, onward: Mapping[str, Sequence[str]]) -> set[str]:
    reached = {goal}
    growing = True
    while growing:
        found = {name for name, targets in onward.items() if name not in reached and reached.intersection(targets)}
        reached |= found
        growing = bool(found)
    return reached


def _ranks(flow: Sequence[str], onward: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Longest way from the start, counted in edges; a node that nothing leads to stands in column 1."""
    ranks = {name: (0 if name == START else 1) for name in flow}
    for _ in flow:
        for name in flow:
            for target in onward[name]:
                if target in ranks:
                    ranks[target] = max(ranks[target], ranks[name] + 1)
    return ranks


def _flow_slots(
    flow: Sequence[str], onward: Mapping[str, Sequence[str]], ranks: Mapping[str, int], *, both_sides: bool
) -> dict[str, Slot]:
    rows: dict[str, int] = dict.fromkeys(_main_way(flow, onward, ranks), 0)
    taken = {(ranks[name], 0) for name in rows}
    inner = [name for name in flow if name not in (START, END)]
    order = [0, *(sign * step for step in range(1, len(inner) + 1) for sign in ((-1, 1) if both_sides else (-1,)))]
    for name in sorted(inner, key=lambda item: (ranks[item], inner.index(item))):
        if name in rows:
            continue
        inherited = [rows[before] for before in inner if name in onward[before] and rows.get(before, 0) != 0]
        rows[name] = next(row for row in [*inherited[:1], *order] if (ranks[name], row) not in taken)
        taken.add((ranks[name], rows[name]))
    return {name: Slot(ranks[name], rows[name]) for name in inner}


def _main_way(flow: Sequence[str], onward: Mapping[str, Sequence[str]], ranks: Mapping[str, int]) -> list[str]:
    """One longest way, walked back from the end; without an end, from the farthest node."""
    inner = [name for name in flow if name not in (START, END)]
    if not inner:
        return []
    leading = [name for name in inner if END in onward[name]] or inner
    current = max(leading, key=lambda name: (ranks[name], -inner.index(name)))
    way = [current]
    while True:
        before = [name for name in inner if current in onward[name] and ranks[name] == ranks[current] - 1]
        if not before:
            return way
        current = before[0]
        way.append(current)


def _lane_slots(
    returning: Sequence[str],
    onward: Mapping[str, Sequence[str]],
    back: Iterable[tuple[str, str]],
    flow: Mapping[str, Slot],
) -> dict[str, Slot]:
    slots: dict[str, Slot] = {}
    spans: list[tuple[float, float, int]] = []
    for group in _groups(returning, onward):
        depth = _depths(group, onward)
        deepest = max(depth.values())
        entries = [flow[name].column for name in flow if set(onward[name]) & set(group)]
        exits = [flow[t].column for s, t in back if s in group and t in flow]
        right = max(entries, default=1.0)
        left = min([*exits, right])
        between = max(int(right - left), 1)
        places = {name: right - 0.5 - min(int(between * (depth[name] - 0.5) / deepest), between - 1) for name in group}
        lane = 1
        for name in sorted(group, key=lambda item: (depth[item], returning.index(item))):
            span = (min(left, places[name]), max(right, places[name]))
            while _occupied(slots, spans, places[name], lane, span):
                lane += 1
            slots[name] = Slot(places[name], lane)
        rows = {slots[name].row for name in group}
        spans += [(left, right, row) for row in rows]
    return slots


def _occupied(
    slots: Mapping[str, Slot],
    spans: Iterable[tuple[float, float, int]],
    column: float,
    lane: int,
    span: tuple[float, float],
) -> bool:
    near = any(slot.row == lane and abs(slot.column - column) < 1 for slot in slots.values())
    crossing = any(row == lane and left < span[1] and span[0] < right for left, right, row in spans)
    return near or crossing


def _groups(names: Sequence[str], onward: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Returning nodes that lead to one another, each group in the order given."""
    groups: list[list[str]] = []
    for name in names:
        joined = [group for group in groups if any(name in onward[other] or other in onward[name] for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(item for group in joined for item in group), name])
    return groups


def _depths(group: Sequence[str], onward: Mapping[str, Sequence[str]]) -> dict[str, int]:
    depth = dict.fromkeys(group, 1)
    for _ in group:
        for name in group:
            for target in onward[name]:
                if target in depth:
                    depth[target] = max(depth[target], depth[name] + 1)
    return depth
