"""The drawing of a workflow: shapes that stand still, and what a moment of a run changes in them.

Pages build the shapes once and are sent changes from then on, so that style sheets can animate; saved pictures are made
of the same shapes. Every text is set as text, never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from components.common.i18n import Words
from components.common.markup import Node, node
from components.picture.geometry import Box, Label, Route
from components.picture.layout import Layout
from components.picture.picture import EdgeView, NodeView, PictureView, Tone
from engine.flow.graph import START

Paint = dict[str, dict[str, str]]
"""By the name of a part (``data-part``) its attributes at a moment; ``text`` is what stands in it."""

TITLE_SIZE, LINE_SIZE, CHIP_SIZE = 15.0, 12.0, 12.0
_PADDING = 14.0
ICONS: Mapping[Tone, str] = MappingProxyType(
    {"plain": "", "active": "●", "passed": "✓", "rewrite": "↻", "forced": "!", "fault": "✗", "stopped": "■"}
)


def shapes_of(layout: Layout, words: Words) -> Node:
    """Draw the static part of a plan: an ``svg`` element whose changing parts are named."""
    return _shapes(layout, words("Workflow of the run"), words("Question"), words("End"))


@lru_cache(maxsize=64)
def _shapes(layout: Layout, label: str, start: str, end: str) -> Node:
    width = f"max-width:{layout.width * 1.12:.0f}px;min-width:{layout.width * (0.6 if layout.vertical else 0.62):.0f}px"
    return node(
        "svg",
        "",
        node("g", "edges", *(_edge(route) for route in layout.routes)),
        *(_dot(dot, start if dot.name == START else end) for dot in layout.dots),
        *(_box(box) for box in layout.boxes),
        node("g", "", *(_chip(route, route.label) for route in layout.routes if route.label)),
        viewBox=f"0 0 {layout.width:g} {layout.height:g}",
        role="group",
        aria_label=label,
        style=width,
    )


def painted(layout: Layout, picture: PictureView) -> Paint:
    """Every changing part of a drawing as it looks in this picture."""
    paint: Paint = {}
    for route in layout.routes:
        view = picture.edges[route.source, route.target]
        paint.update(_painted_edge(_key(route), view))
        if route.label:
            paint.update(_painted_chip(_key(route), route.label, view))
    for box in layout.boxes:
        paint.update(_painted_node(box, picture.nodes[box.name]))
    return paint


def _key(route: Route) -> str:
    return f"{route.source}>{route.target}"


def _edge(route: Route) -> Node:
    line, head = node("path", "line", d=route.path), node("path", "head", d=route.arrow)
    title = node("title", data_part=f"detail:{_key(route)}")
    return node("g", "edge", line, head, title, data_part=f"edge:{_key(route)}")


def _painted_edge(key: str, view: EdgeView) -> Iterator[tuple[str, dict[str, str]]]:
    yield f"edge:{key}", {"class": _classes("edge", view.tone, taken=view.taken > 0, live=view.live)}
    yield f"detail:{key}", {"text": view.detail}


def _dot(dot: Box, name: str) -> Node:
    x, y = dot.center
    centre = {"cx": f"{x:g}", "cy": f"{y:g}"}
    core = () if dot.name == START else (Node("circle", {"class": "core", **centre, "r": f"{dot.w * 0.225:g}"}),)
    rim = Node("circle", {"class": "rim", **centre, "r": f"{dot.w / 2:g}"})
    return node("g", "dot", rim, *core, node("title", "", name))


def _box(box: Box) -> Node:
    """The box of a node with its places for words; a grader's has a bar for its progress."""
    name, left = box.name, f"{box.x + _PADDING:g}"
    bar = {"x": left, "y": f"{box.bottom - 5:g}", "width": f"{box.w - 2 * _PADDING:g}", "height": "3", "rx": "1.5"}
    return node(
        "g",
        "node",
        *(Node("rect", {"class": kind, **_frame(box.grown(by), rx)}) for kind, by, rx in _FRAMES),
        node("text", "name", x=left, y=f"{box.y + 25:g}", data_part=f"name:{name}"),
        node("text", "icon", x=f"{box.right - _PADDING:g}", y=f"{box.y + 24:g}", data_part=f"icon:{name}"),
        *(
            node("text", "fact", x=left, y=f"{box.y + 42 + 15.5 * row:g}", data_part=f"fact{row}:{name}")
            for row in range(2)
        ),
        Node("rect", {"class": "track", **bar}),
        Node("rect", {"class": "done", **bar, "data-part": f"done:{name}"}),
        node("title", data_part=f"hint:{name}"),
        tabindex="0",
        role="button",
        data_node=name,
        data_part=f"node:{name}",
    )


_FRAMES = (("pulse", 0, 11), ("box", 0, 11), ("ring", 4, 15))


def _frame(box: Box, rx: float) -> dict[str, str]:
    sides = {"x": box.x, "y": box.y, "width": box.w, "height": box.h, "rx": rx}
    return {name: f"{value:g}" for name, value in sides.items()}


def _painted_node(box: Box, view: NodeView) -> Iterator[tuple[str, dict[str, str]]]:
    name, width = box.name, box.w - 2 * _PADDING
    measured = view.progress is not None
    classes = _classes("node", view.tone, measured=measured, resting=not view.visits)
    yield f"node:{name}", {"class": classes, "aria-label": view.spoken}
    yield f"name:{name}", {"text": fit((counted(view),), width - 20, TITLE_SIZE)}
    yield f"icon:{name}", {"text": ICONS[view.tone]}
    for row in range(2):
        yield f"fact{row}:{name}", {"text": fit(view.lines[row], width, LINE_SIZE) if row < len(view.lines) else ""}
    origin = f"transform-origin:{box.x + _PADDING:g}px 0"
    yield f"done:{name}", {"style": f"{origin};transform:scaleX({view.progress or 0:.3f})"}
    yield f"hint:{name}", {"text": hint(view)}


def _chip(route: Route, label: Label) -> Node:
    key = _key(route)
    frame = {"y": f"{label.y:g}", "height": f"{label.h:g}", "rx": f"{label.h / 2:g}"}
    return node(
        "g",
        "chip-edge",
        Node("rect", {"class": "pill", **frame, "data-part": f"pill:{key}"}),
        node("text", "words", y=f"{label.y + label.h / 2 + 4:g}", data_part=f"words:{key}"),
        node("title", data_part=f"why:{key}"),
        data_part=f"chip:{key}",
    )


def _painted_chip(key: str, label: Label, view: EdgeView) -> Iterator[tuple[str, dict[str, str]]]:
    text = fit(view.chips, label.w - 20, CHIP_SIZE)
    width = min(label.w, width_of(text, CHIP_SIZE) + 20)
    x = label.x + {"start": 0.0, "middle": (label.w - width) / 2, "end": label.w - width}[label.anchor]
    yield f"chip:{key}", {"class": _classes("chip-edge", view.tone, empty=not text)}
    yield f"pill:{key}", {"x": f"{x:g}", "width": f"{width:g}"}
    yield f"words:{key}", {"x": f"{x + width / 2:g}", "text": text}
    yield f"why:{key}", {"text": view.detail}


def _classes(kind: str, tone: Tone, **more: bool) -> str:
    return " ".join((kind, tone, *(name for name, present in more.items() if present)))


def counted(view: NodeView) -> str:
    """A node's title with its number of visits."""
    return f"{view.title} ×{view.visits}" if view.visits > 1 else view.title


def hint(view: NodeView) -> str:
    """Every fact of a node in its longest wording, a line each."""
    return "\n".join(line[0] for line in view.lines)


# -- how wide words are ----------------------------------------------------------------------------------------------


def fit(variants: Sequence[str], width: float, size: float) -> str:
    """The first wording that fits into ``width`` pixels, or the last one shortened."""
    for text in variants:
        if width_of(text, size) <= width:
            return text
    text = variants[-1] if variants else ""
    while text and width_of(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}…" if text else ""


@lru_cache(maxsize=4096)
def width_of(text: str, size: float) -> float:
    """Width in pixels, estimated, for what draws it has other fonts than the next reader."""
    return size * sum(_ems(char) for char in text)


def _ems(char: str) -> float:
    code = ord(char)
    if code >= 0x1100 and code != 0x2026:
        return 0.75 if 0x2000 <= code < 0x2E80 else 1.0
    if char in "ijlI.,:;'|! ()[]f·tr":
        return 0.3
    if char in "mwMW@%":
        return 0.82
    return 0.65 if "A" <= char <= "Z" else 0.53
