"""The drawing plan of workflows: legible for the ones we have, sound for any small graph."""

from __future__ import annotations

import re
from itertools import combinations, product
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.picture.geometry import Box, Route, rounded
from components.picture.layout import Layout, layout_of
from engine.flow.graph import END, START, Edge, WorkflowGraph, graph_of
from engine.model.config import WorkflowName


def graph(nodes: str, *edges: str) -> WorkflowGraph:
    """``a>b`` is a plain edge, ``a?b`` a chosen one; ``(`` and ``)`` are start and end."""
    made = []
    for edge in edges:
        source, sign, target = re.split(r"([>?])", edge)
        made.append(Edge({"(": START}.get(source, source), {")": END}.get(target, target), conditional=sign == "?"))
    return WorkflowGraph(tuple(nodes.split()), tuple(made))


SELF_CORRECTIVE = graph(
    "retrieve grade rewrite generate",
    *("(>retrieve", "retrieve>grade", "grade?rewrite", "grade?generate", "grade?)", "rewrite>retrieve", "generate>)"),
)
QUALITY_LOOP = graph(
    "question_router retrieve fuse rerank grade_documents rewrite generate",
    *("(>question_router", "question_router>retrieve", "retrieve>fuse", "fuse>rerank", "rerank>grade_documents"),
    *("grade_documents?rewrite", "grade_documents?generate", "rewrite>question_router", "generate>)"),
)
DUAL_LOOP = graph(
    "retrieve_memory route_query rewrite_query retrieve_documents grade_documents generate_response direct_response "
    "grade_relevance consolidate_memory fallback",
    *("(>retrieve_memory", "retrieve_memory>route_query", "route_query?direct_response", "route_query?rewrite_query"),
    *("rewrite_query>retrieve_documents", "retrieve_documents>grade_documents", "grade_documents?generate_response"),
    *(
        "grade_documents?retrieve_documents",
        "grade_documents?fallback",
        "fallback>)",
        "direct_response>grade_relevance",
    ),
    *("generate_response>grade_relevance", "grade_relevance?rewrite_query", "grade_relevance?consolidate_memory"),
    "consolidate_memory>)",
)
EVALUATION = graph(
    "retrieve grade rewrite prepare generate_answer eval_answer",
    *("(>retrieve", "retrieve>grade", "grade?rewrite", "grade?prepare", "rewrite>retrieve", "prepare>generate_answer"),
    *("generate_answer>eval_answer", "eval_answer?generate_answer", "eval_answer?)"),
)
FAN_OUT = graph(
    "analyse words vectors entities fuse generate",
    *("(>analyse", "analyse?words", "analyse?vectors", "analyse?entities", "words>fuse", "vectors>fuse"),
    *("entities>fuse", "fuse>generate", "generate>)"),
)
KNOWN = {
    "self_corrective": SELF_CORRECTIVE,
    "quality_loop": QUALITY_LOOP,
    "dual_loop": DUAL_LOOP,
    "answer_evaluation": EVALUATION,
    "fan_out": FAN_OUT,
}


@st.composite
def small_graphs(draw: st.DrawFn) -> WorkflowGraph:
    names = [f"n{place}" for place in range(draw(st.integers(1, 6)))]
    sources, targets = st.sampled_from([START, *names]), st.sampled_from([*names, END])
    pairs = draw(st.sets(st.tuples(sources, targets), min_size=1, max_size=len(names) + 3))
    return WorkflowGraph(
        tuple(names), tuple(Edge(*pair, conditional=draw(st.booleans())) for pair in sorted({(START, "n0"), *pairs}))
    )


def all_boxes(layout: Layout) -> list[Box]:
    return [*layout.boxes, *layout.dots]


def flaws(layout: Layout, drawn: WorkflowGraph) -> list[str]:
    """What is missing, overlaps, leaves the picture or does not end on its node; nothing where the layout is sound."""
    found = []
    if [box.name for box in layout.boxes] != list(drawn.nodes):
        found.append("other nodes than the graph's")
    if {(route.source, route.target) for route in layout.routes} != {(e.source, e.target) for e in drawn.edges}:
        found.append("other edges than the graph's")
    labels = [route.label.box for route in layout.routes if route.label]
    solid = [*combinations(all_boxes(layout), 2), *product(labels, all_boxes(layout)), *combinations(labels, 2)]
    found += [f"{one} overlaps {other}" for one, other in solid if one.overlaps(other)]
    found += [f"{box} leaves the page" for box in (*all_boxes(layout), *labels) if not inside(box, layout)]
    for route in layout.routes:
        if not on_border(layout.box(route.source), route.points[0]):
            found.append(f"{route} does not begin on its node")
        if not on_border(layout.box(route.target), route.points[-1]):
            found.append(f"{route} does not end on its node")
        if not all(a[0] == b[0] or a[1] == b[1] for a, b in route.segments):
            found.append(f"{route} runs aslant")
        found += [f"{route} crosses {name}" for name in crossed(route, layout)]
    return found


def inside(box: Box, layout: Layout) -> bool:
    return box.x >= 0 and box.y >= 0 and box.right <= layout.width and box.bottom <= layout.height


def on_border(box: Box, point: tuple[float, float]) -> bool:
    x, y = point
    level = min(abs(x - box.x), abs(x - box.right)) < 0.1 and box.y <= y <= box.bottom
    upright = min(abs(y - box.y), abs(y - box.bottom)) < 0.1 and box.x <= x <= box.right
    return level or upright


def crossed(route: Route, layout: Layout) -> list[str]:
    shrunk = [Box(box.name, box.x + 1, box.y + 1, box.w - 2, box.h - 2) for box in all_boxes(layout)]
    return [box.name for box in shrunk for part in route.segments if box.crossed_by(*part)]


@pytest.mark.parametrize("vertical", [False, True])
@pytest.mark.parametrize("name", KNOWN)
def test_every_known_workflow_is_drawn_without_collisions(name: str, vertical: bool) -> None:
    assert flaws(layout_of(KNOWN[name], vertical=vertical), KNOWN[name]) == []


@given(small_graphs(), st.booleans())
def test_any_small_graph_is_drawn_without_collisions(drawn: WorkflowGraph, vertical: bool) -> None:
    assert flaws(layout_of(drawn, vertical=vertical), drawn) == []


@settings(max_examples=25)
@given(small_graphs())
def test_the_order_of_edges_does_not_change_the_drawing(drawn: WorkflowGraph) -> None:
    turned = WorkflowGraph(drawn.nodes, drawn.edges[::-1])
    assert layout_of.__wrapped__(turned).to_dict() == layout_of.__wrapped__(drawn).to_dict()


def test_a_corner_is_round_between_its_sides_and_never_longer_than_half_of_one() -> None:
    assert rounded([(0, 10), (40, 10), (40, 60)]) == "M0 10L31 10Q40 10 40 19L40 60"
    assert rounded([(0, 10), (40, 10), (40, 18)]) == "M0 10L36 10Q40 10 40 14L40 18"


def test_the_four_node_loop_runs_left_to_right_with_rewrite_below_and_between() -> None:
    """SC-12: the live four-node workflow looks like its picture."""
    layout = layout_of(SELF_CORRECTIVE)
    row = [layout.box(name) for name in (START, "retrieve", "grade", "generate", END)]
    assert len({box.center[1] for box in row}) == 1
    assert [box.x for box in row] == sorted(box.x for box in row)
    rewrite = layout.box("rewrite")
    assert rewrite.y > row[1].bottom
    assert row[1].center[0] < rewrite.center[0] < row[2].center[0]


def test_the_rewrite_comes_back_into_retrieve_from_below_in_one_bend() -> None:
    layout = layout_of(SELF_CORRECTIVE)
    ways = {(route.source, route.target): route for route in layout.routes}
    into, back = ways["grade", "rewrite"], ways["rewrite", "retrieve"]
    assert into.points[0] == (layout.box("grade").center[0], layout.box("grade").bottom)
    assert back.points[-1] == (layout.box("retrieve").center[0], layout.box("retrieve").bottom)
    assert len(into.points) == len(back.points) == 3


def test_the_way_of_a_failed_grader_passes_above_everything() -> None:
    layout = layout_of(SELF_CORRECTIVE)
    way = next(route for route in layout.routes if (route.source, route.target) == ("grade", END))
    assert min(y for _, y in way.points) < min(box.y for box in layout.boxes)
    assert len(way.points) == 4


@pytest.mark.parametrize("vertical", [False, True])
def test_each_choice_of_the_four_node_loop_has_room_for_its_inequality(vertical: bool) -> None:
    labels = {route.target: route.label for route in layout_of(SELF_CORRECTIVE, vertical=vertical).routes}
    for target in ("rewrite", "generate"):
        label = labels[target]
        assert label is not None
        assert label.w >= 150


def test_the_narrow_drawing_of_the_four_node_loop_fits_a_telephone() -> None:
    layout = layout_of(SELF_CORRECTIVE, vertical=True)
    assert layout.width <= 400
    rows = [layout.box(name).y for name in (START, "retrieve", "grade", "generate", END)]
    assert rows == sorted(rows)


def test_alternatives_stand_on_both_sides_where_nothing_leads_back() -> None:
    layout = layout_of(FAN_OUT)
    middle = layout.box("fuse").center[1]
    heights = sorted(layout.box(name).center[1] for name in ("words", "vectors", "entities"))
    assert heights[0] < middle < heights[2]
    assert heights[1] == middle


def test_a_compiled_graph_gives_the_same_value_each_time_and_keeps_the_choices() -> None:
    """SC-01: the drawing is made from the compiled graph."""

    class Drawn:
        nodes: ClassVar[dict[str, None]] = dict.fromkeys((START, "a", "b", END))
        edges = (Edge("b", END, conditional=True), Edge(START, "a"), Edge("a", "b"), Edge("b", "a", conditional=True))

    class Compiled:
        name: WorkflowName = "dual_loop"

        def get_graph(self) -> Drawn:
            return Drawn()

    shape = graph_of(Compiled())
    assert shape.workflow == "dual_loop"
    assert shape.nodes == ("a", "b")
    assert shape.edges == (
        Edge(START, "a"),
        Edge("a", "b"),
        Edge("b", "a", conditional=True),
        Edge("b", END, conditional=True),
    )
    assert shape == graph_of(Compiled())
