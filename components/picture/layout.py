"""A legible drawing plan of a workflow: pure, deterministic, for up to about a dozen nodes (UX, DESIGN).

Wide drawings run left to right, narrow ones from top to bottom. What only leads back (a rewrite) stands in a lane
next to the flow, half-way between the nodes it connects; other edges are routed around the boxes, and every
conditional edge gets room for the inequality that is printed on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from components.picture.geometry import Anchor, Box, Label, Route
from components.picture.ranks import LONGEST_ROW, Grid, Slot, folded, grid_of
from components.picture.routes import STUB, Plan, Side, SideCosts, Wanted, side_costs
from engine.flow.graph import END, START, Edge, WorkflowGraph

MARGIN = 26.0
DOT = 28.0
CHIP_HEIGHT = 21.0
CHIP_WIDTHS = (214.0, 172.0, 150.0, 118.0, 92.0)
"""Room tried for the words on an edge, widest first; the text is shortened to what is found."""
_CHIP_GAP = 182.0
_AISLE = 104.0
"""Room between the two rows of a folded flow, for its ways and what is printed on them."""
_ROOMY, _MIDDLING = 4, 5
"""Up to so many columns, chips get room between boxes; beyond it the boxes move together and chips go elsewhere."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes of nodes, dots for start and end, and routed edges, inside ``width`` × ``height`` pixels."""

    width: float
    height: float
    vertical: bool
    boxes: tuple[Box, ...]
    dots: tuple[Box, ...]
    routes: tuple[Route, ...]

    def box(self, name: str) -> Box:
        """The box or dot of a node; raises ``KeyError`` for a name that the graph does not have."""
        for box in (*self.boxes, *self.dots):
            if box.name == name:
                return box
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values with finished SVG paths, so that a browser draws without computing anything."""
        return {
            "width": self.width,
            "height": self.height,
            "vertical": self.vertical,
            "nodes": [_plain_box(box) for box in self.boxes],
            "dots": [_plain_box(box) for box in self.dots],
            "edges": [
                {
                    "source": route.source,
                    "target": route.target,
                    "conditional": route.conditional,
                    "path": route.path,
                    "arrow": route.arrow,
                    "label": _plain_label(route.label) if route.label else None,
                }
                for route in self.routes
            ],
        }


@lru_cache(maxsize=64)
def layout_of(graph: WorkflowGraph, *, vertical: bool = False, longest: int = LONGEST_ROW) -> Layout:
    """Plan the drawing of a graph; equal graphs give equal plans. A row longer than ``longest`` continues in a second.

    Nodes stand in one column where it is ``vertical``.
    """
    grid = grid_of(graph) if vertical else folded(grid_of(graph), graph, longest)
    boxes = _boxes(graph, grid, vertical=vertical)
    plan = Plan.of(boxes, keeps_away=not vertical)
    routes: list[Route] = []
    for edge in sorted(graph.edges, key=lambda item: _difficulty(item, grid)):
        leave, enter = _side_costs(edge, grid, vertical=vertical)
        points = plan.route(Wanted(edge.source, edge.target, leave, enter))
        routes.append(Route(edge.source, edge.target, edge.conditional, points))
    return _fitted(boxes, _labelled(routes, boxes, vertical=vertical), vertical=vertical)


def _boxes(graph: WorkflowGraph, grid: Grid, *, vertical: bool) -> list[Box]:
    """Rectangles of nodes and dots; the columns' distance depends on what is printed between them."""
    size = _node_size(_MIDDLING if grid.folded else grid.columns, vertical=vertical)
    along = _column_centres(graph, grid, size[1] if vertical else size[0], vertical=vertical)
    pitch = size[0] + 22 if vertical else size[1] + (_AISLE if grid.folded else 40)
    boxes = []
    for name in (*graph.nodes, START, END):
        slot = grid.slots[name]
        w, h = (DOT, DOT) if name in (START, END) else size
        main, cross = _at(along, slot), slot.row * pitch
        x, y = (cross, main) if vertical else (main, cross)
        boxes.append(Box(name, x - w / 2, y - h / 2, w, h))
    return boxes


def _node_size(columns: int, *, vertical: bool) -> tuple[float, float]:
    if vertical:
        return (154.0, 70.0)
    return (178.0, 70.0) if columns <= _ROOMY else (150.0, 70.0) if columns <= _MIDDLING else (138.0, 70.0)


def _column_centres(graph: WorkflowGraph, grid: Grid, extent: float, *, vertical: bool) -> list[float]:
    chosen = {(edge.source, edge.target) for edge in graph.edges if edge.conditional}
    centres = [0.0]
    for column in range(1, grid.columns + 2):
        dots = (column == 1) + (column == grid.columns + 1)
        gap = _gap(grid, vertical=vertical)
        # A way needs room to leave one box and enter the next, also next to a dot.
        gap = max(gap - 16.0 * dots, 2 * STUB + 4)
        if _straight_choice(grid, column, chosen):
            gap = max(gap, 56.0) if vertical else (max(gap, _CHIP_GAP) if _roomy(grid) else gap)
        half = extent - (extent - DOT) / 2 * dots
        centres.append(centres[-1] + half + gap)
    return centres


def _gap(grid: Grid, *, vertical: bool) -> float:
    if vertical:
        return 48.0
    return 86.0 if _roomy(grid) else 42.0


def _roomy(grid: Grid) -> bool:
    return grid.columns <= _ROOMY and not grid.folded


def _straight_choice(grid: Grid, column: int, chosen: set[tuple[str, str]]) -> bool:
    """Return whether a conditional edge of row 0 crosses the gap before ``column``."""
    return any(
        grid.slots[source] == Slot(column - 1, 0) and grid.slots[target] == Slot(column, 0) for source, target in chosen
    )


def _at(centres: Sequence[float], slot: Slot) -> float:
    low = int(slot.column)
    if slot.column == low:
        return centres[low]
    return (centres[low] + centres[low + 1]) / 2


def _difficulty(edge: Edge, grid: Grid) -> tuple[int, float, str, str]:
    """Short straight edges are routed first, so that the long ones go around them."""
    source, target = grid.slots[edge.source], grid.slots[edge.target]
    span = target.column - source.column
    other_row = source.row != target.row
    back = (edge.source, edge.target) in grid.back
    kind = 0 if not other_row and span == 1 else 1 if other_row and not back else 2
    return (kind, abs(span), edge.source, edge.target)


def _side_costs(edge: Edge, grid: Grid, *, vertical: bool) -> tuple[SideCosts, SideCosts]:
    """Return the cost of leaving and entering by each side; forward is along the flow, outward towards the lanes."""
    back = (edge.source, edge.target) in grid.back or bool({edge.source, edge.target} & grid.returning)
    forward, backward, inward, outward = _sides(vertical=vertical)
    down = grid.slots[edge.target].row - grid.slots[edge.source].row if grid.folded else 0
    if down > 0:
        return side_costs([(outward, 0.0), (forward, 4.0)]), side_costs([(inward, 0.0), (backward, 24.0)])
    if grid.folded and down == 0 and edge.target in grid.returning:
        return side_costs([(backward, 0.0), (outward, 20.0)]), side_costs([(forward, 0.0), (outward, 20.0)])
    if down < 0:
        return side_costs([(inward, 0.0), (outward, 60.0)]), side_costs([(outward, 0.0), (inward, 60.0)])
    if edge.source in grid.returning:
        leave = side_costs([(outward, 20.0), (backward, 0.0), (inward, 24.0), (forward, 60.0)])
    elif back:
        leave = side_costs([(outward, 0.0), (backward, 90.0), (inward, 34.0), (forward, 60.0)])
    else:
        leave = side_costs([(forward, 0.0), (inward, 24.0), (outward, 40.0)])
    if edge.target in grid.returning:
        enter = side_costs([(outward, 20.0), (forward, 0.0), (inward, 24.0), (backward, 60.0)])
    elif back:
        enter = side_costs([(outward, 0.0), (forward, 90.0), (inward, 34.0), (backward, 60.0)])
    else:
        enter = side_costs([(backward, 0.0), (inward, 24.0), (outward, 40.0)])
    return leave, enter


def _sides(*, vertical: bool) -> tuple[Side, Side, Side, Side]:
    return ("bottom", "top", "left", "right") if vertical else ("right", "left", "top", "bottom")


def _labelled(routes: Sequence[Route], boxes: Sequence[Box], *, vertical: bool) -> list[Route]:
    """Routes with room for words on the conditional ones: clear of boxes and other labels, if possible of lines."""
    placed: list[Label] = []
    done: list[Route] = []
    frame = _frame([*boxes, *(Box("", x, y, 0, 0) for route in routes for x, y in route.points)])
    for route in routes:
        label = None
        if route.conditional:
            others = [other for other in routes if other is not route]
            label = _label_for(route, others, boxes, placed, frame, strict=vertical)
        if label is not None:
            placed.append(label)
        done.append(Route(route.source, route.target, route.conditional, route.points, label))
    return done


def _label_for(
    route: Route,
    others: Sequence[Route],
    boxes: Sequence[Box],
    placed: Sequence[Label],
    frame: Box,
    *,
    strict: bool,
) -> Label | None:
    """The cheapest free place; ``strict`` refuses places that would widen the drawing."""
    best: tuple[float, Label] | None = None
    for width in CHIP_WIDTHS:
        for own, label in _label_places(route, width, boxes, frame):
            area = label.box.grown(3)
            beyond = max(0.0, frame.x - area.x) + max(0.0, area.right - frame.right)
            if (strict and beyond > 4) or any(area.overlaps(box) for box in [*boxes, *(other.box for other in placed)]):
                continue
            higher = max(0.0, frame.y - area.y) + max(0.0, area.bottom - frame.bottom)
            crossed = sum(label.box.crossed_by(*part) for other in others for part in other.segments)
            cost = own + 0.5 * beyond + 1.2 * higher + 0.4 * (CHIP_WIDTHS[0] - width) + 45 * crossed
            if best is None or cost < best[0]:
                best = (cost, label)
    return best[1] if best else None


def _label_places(route: Route, width: float, boxes: Sequence[Box], frame: Box) -> Iterator[tuple[float, Label]]:
    """Places with their cost: above, below or on a level stretch, over the boxes at its ends, next to upright ones."""
    tall = max(box.h for box in boxes) / 2
    for (x0, y0), (x1, y1) in route.segments:
        length = abs(x1 - x0) + abs(y1 - y0)
        if length < CHIP_HEIGHT:
            continue
        for share in (0.5, 0.3, 0.7):
            x, y, slid = x0 + (x1 - x0) * share, y0 + (y1 - y0) * share, 12 * abs(share - 0.5)
            if y0 == y1:
                tight = max(0.0, width - length + 16) * 0.15
                on_line = 8.0 if length > width + 44 else 200.0
                tops = ((y - CHIP_HEIGHT - 5, 0.0), (y + 5, 4.0), (y - CHIP_HEIGHT / 2, on_line))
                over = ((y - tall - CHIP_HEIGHT - 6, 30.0), (y + tall + 6, 36.0))
                for top, cost in (*tops, *over):
                    for left in (x - width / 2, min(x0, x1) + 10, frame.right - width):
                        off = left + width / 2 - x
                        # A shorter text is laid towards its way.
                        anchor: Anchor = "middle" if abs(off) < 1 else "start" if off > 0 else "end"
                        yield slid + tight + cost + 0.35 * abs(off), Label(left, top, width, CHIP_HEIGHT, anchor)
            else:
                yield slid + 2, Label(x + 8, y - CHIP_HEIGHT / 2, width, CHIP_HEIGHT, "start")
                yield slid + 8, Label(x - 8 - width, y - CHIP_HEIGHT / 2, width, CHIP_HEIGHT, "end")


def _fitted(boxes: Sequence[Box], routes: Sequence[Route], *, vertical: bool) -> Layout:
    """Move everything so that it begins at the margin, and measure the whole."""
    corners = [Box("", x, y, 0, 0) for route in routes for x, y in route.points]
    frame = _frame([*boxes, *corners, *(route.label.box for route in routes if route.label)])
    margin = 12.0 if vertical else MARGIN
    dx, dy = margin - frame.x, margin - frame.y
    moved = {box.name: box.moved(dx, dy) for box in boxes}
    return Layout(
        width=frame.w + 2 * margin,
        height=frame.h + 2 * margin,
        vertical=vertical,
        boxes=tuple(box for name, box in moved.items() if name not in (START, END)),
        dots=(moved[START], moved[END]),
        routes=tuple(route.moved(dx, dy) for route in routes),
    )


def _frame(shapes: Sequence[Box]) -> Box:
    """The smallest rectangle around all shapes."""
    left, top = min(shape.x for shape in shapes), min(shape.y for shape in shapes)
    right, bottom = max(shape.right for shape in shapes), max(shape.bottom for shape in shapes)
    return Box("", left, top, right - left, bottom - top)


def _plain_box(box: Box) -> Mapping[str, Any]:
    return {"name": box.name, "x": box.x, "y": box.y, "w": box.w, "h": box.h}


def _plain_label(label: Label) -> Mapping[str, Any]:
    return {"x": label.x, "y": label.y, "w": label.w, "h": label.h, "anchor": label.anchor}
