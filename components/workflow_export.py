"""A run's workflow as files: a standalone SVG of the same picture, and the decision path as Graphviz source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import graphviz

from components.workflow_geometry import Box, Label, Route
from components.workflow_layout import MARGIN, Layout, layout_of
from components.workflow_picture import (
    STOPPED,
    EdgeView,
    NodeView,
    Tone,
    inequality_of,
    picture_of,
    say,
    title_of,
    tone_of_reason,
)
from engine.workflows.graph import START, WorkflowGraph

_FONT = (
    "'Source Sans 3', 'Helvetica Neue', Arial, 'Liberation Sans', 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', "
    "'Noto Sans CJK SC', sans-serif"
)
_TITLE, _LINE, _CHIP, _PADDING = 15.0, 12.0, 11.5, 14.0
_ICONS: Mapping[Tone, str] = MappingProxyType(
    {"plain": "", "active": "●", "passed": "✓", "rewrite": "↻", "forced": "!", "fault": "✗", "stopped": "■"}
)
_LIGHT = MappingProxyType(
    {
        "page": "#ffffff", "text": "#1c2130", "grey": "#5b6474", "edge": "#c3c9d4", "soft": "#f6f7f9",
        "passed": "#0d9488", "passed_ink": "#0f766e", "passed_soft": "#f0fdfa", "passed_chip": "#ccfbf1",
        "rewrite": "#d97706", "rewrite_ink": "#a34f06", "rewrite_soft": "#fffbeb", "rewrite_chip": "#fef0c3",
        "fault": "#dc2626", "fault_ink": "#b91c1c", "fault_soft": "#fef2f2", "fault_chip": "#fee2e2",
        "active": "#4f46e5", "active_ink": "#4f46e5", "active_soft": "#eef0ff", "active_chip": "#eef0ff",
    }
)  # fmt: skip
_DARK = MappingProxyType(
    {
        "page": "#141820", "text": "#e6e9ef", "grey": "#a2abba", "edge": "#4a5262", "soft": "#1a1e27",
        "passed": "#2dd4bf", "passed_ink": "#5eead4", "passed_soft": "#0c2b2a", "passed_chip": "#12403c",
        "rewrite": "#f59e0b", "rewrite_ink": "#fbbf24", "rewrite_soft": "#2d220c", "rewrite_chip": "#46340f",
        "fault": "#f87171", "fault_ink": "#fca5a5", "fault_soft": "#331618", "fault_chip": "#4a1f22",
        "active": "#818cf8", "active_ink": "#818cf8", "active_soft": "#1f2142", "active_chip": "#1f2142",
    }
)  # fmt: skip
_BOTH = "#6f7888"
"""Legible on a light and on a dark page: Graphviz source has one look."""
# What XML 1.0 cannot hold, not even escaped, and lone surrogates, which no encoding can write.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_MOST_LINES, _BOX_WIDTH = 3, 190.0
"""Of a query in a box of the decision path: lines, and pixels of one."""
_ANSWERS = ("generate_answer", "eval_answer", "grade_relevance")
"""Nodes whose visits are told by the answer that they write or judge."""

_Colours = Mapping[str, str]


def workflow_svg(
    graph: WorkflowGraph, record: Mapping[str, Any] | None, words: Mapping[str, str], *, dark: bool = False
) -> str:
    """The wide picture as one SVG document: no script, no style sheet, no reference to anything outside it."""
    layout, picture = layout_of(graph), picture_of(graph, record, words)
    colours = _DARK if dark else _LIGHT
    ways = sorted(layout.routes, key=lambda route: picture.edges[route.source, route.target].taken > 0)
    foot = layout.height + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width:g}" height="{foot + 22:g}" '
        f'viewBox="0 0 {layout.width:g} {foot + 22:g}" font-family="{_FONT}">',
        f"<title>{_safe(words['picture'])}</title>",
        f'<rect width="100%" height="100%" fill="{colours["page"]}"/>',
        *(_edge(route, picture.edges[route.source, route.target], colours) for route in ways),
        *(_dot(dot, colours) for dot in layout.dots),
        *(_node(box, picture.nodes[box.name], colours) for box in layout.boxes),
        *_chips(layout, picture.edges, colours),
        _text(MARGIN, foot, 12, colours["grey"], picture.status) if record is not None else "",
        "</svg>",
    ]
    return "".join(parts)


def decision_path_dot(record: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Graphviz source of the decision path: a row for each round and each further answer, a box for each visit of a
    node, and on the edges the inequality behind them.
    """
    drawing = graphviz.Digraph("decision_path")
    drawing.attr(rankdir="TB", bgcolor="transparent", nodesep="0.3", ranksep="0.45")
    drawing.attr(
        "node", shape="box", style="rounded,filled", fontname="sans-serif", fontsize="12", color=_LIGHT["edge"]
    )
    drawing.attr("edge", fontname="sans-serif", fontsize="10", color=_BOTH, fontcolor=_BOTH)
    visits = list(record["nodes"])
    rows: list[list[str]] = []
    before, pending, row = "start", "", -1
    if visits:
        drawing.node(before, label=_label(words["start"]), fillcolor=_LIGHT["soft"])
    for place, visit in enumerate(visits):
        decision = _decision_of(visit, record)
        label = _label(_heading(visit, words), *_visit_lines(visit, decision, record, words))
        tone = _visit_tone(visit, decision)
        new_row = place == 0 or _begins_row(visit, visits[place - 1])
        if new_row:
            rows.append([before] if place == 0 else [])
            row += 1
        rows[row].append(f"visit{place}")
        drawing.node(f"visit{place}", label=label, fillcolor=_LIGHT[f"{tone}_soft" if tone else "soft"])
        across = "true" if place == 0 or not new_row else "false"
        drawing.edge(before, f"visit{place}", label=_label(pending), constraint=across)
        before, pending = f"visit{place}", inequality_of(decision, words) if decision else ""
    if visits and record["outcome"]:
        drawing.node("end", label=_label(say(words, f"outcome_{record['outcome']}")), fillcolor=_LIGHT["soft"])
        drawing.edge(before, "end", label=_label(pending))
        rows[row].append("end")
    for above, below in pairwise(rows):
        # Unseen and strong: each row begins below the one before it, instead of where that one ended.
        first = next((name for name in above if name != "start"), above[0])
        drawing.edge(first, below[0], style="invis", weight="50")
    for names in rows:
        with drawing.subgraph() as line:
            line.attr(rank="same")
            for name in names:
                line.node(name)
    return str(drawing.source)


def _heading(visit: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Node and round; the nodes that write and judge answers count those instead."""
    title = title_of(visit["node"], words)
    counted = say(words, "nth_answer", n=visit["visit"]) if visit["node"] in _ANSWERS else ""
    return f"{title} · {counted or say(words, 'round', n=visit['round'])}"


def _begins_row(visit: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    revised = visit["node"] == "generate_answer" and visit["visit"] > 1
    return bool(visit["round"] != before["round"] or revised)


def _decision_of(visit: Mapping[str, Any], record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The decision of a visit: of one node and round the first visit made the first one."""

    def same(item: Mapping[str, Any]) -> bool:
        return bool(item["node"] == visit["node"] and item["round"] == visit["round"])

    nth = sum(same(item) and item["visit"] < visit["visit"] for item in record["nodes"])
    decisions = [item for item in record["decisions"] if same(item)]
    return decisions[nth] if nth < len(decisions) else None


def _visit_tone(visit: Mapping[str, Any], decision: Mapping[str, Any] | None) -> str:
    """The family of colours of a visit; none for one that was stopped."""
    if visit.get("error") == STOPPED:
        return ""
    if visit.get("error"):
        return "fault"
    if decision is None:
        # The dual loop's first one comes before anything was searched, and corrects nothing.
        first = visit["node"] == "rewrite_query" and visit["visit"] == 1
        return "rewrite" if visit["node"].startswith("rewrite") and not first else "passed"
    return _family(tone_of_reason(decision["reason"]))


def _visit_lines(
    visit: Mapping[str, Any],
    decision: Mapping[str, Any] | None,
    record: Mapping[str, Any],
    words: Mapping[str, str],
) -> list[str]:
    if visit["node"].startswith("rewrite"):
        # The n-th visit made the n-th rewrite; a round may have two, before its search and after its answer.
        made = record["rewrites"][visit["visit"] - 1 : visit["visit"]]
        return [line for item in made for line in _wrapped(f"→ {item['rewritten_query']}")]
    if decision is None or visit["node"] not in ("grade", "grade_documents"):
        return []
    checks = [item["quality"] for item in record["rounds"] if item["index"] == visit["round"] and item["quality"]]
    if checks:
        return [say(words, "issues", n=len(checks[0]["issues"]))] if checks[0]["issues"] else []
    return [say(words, "passed_once", a=f"{decision['passed']}/{decision['kept']}")]


def _wrapped(text: str) -> list[str]:
    """A query as lines of a box: broken at a space where there is one, and after three lines cut."""
    lines: list[str] = []
    left = " ".join(text.split())
    while left and len(lines) < _MOST_LINES:
        line = left
        while width_of(line, _LINE) > _BOX_WIDTH:
            shorter = line.rpartition(" ")[0] if lines or line.count(" ") > 1 else ""
            line = shorter or line[:-1]
        lines.append(line)
        left = left[len(line) :].strip()
    return [*lines[:-1], f"{lines[-1]}…"] if left else lines


def _label(*lines: str) -> str:
    """A label in which nothing of the text is read as Graphviz markup: no escapes, no HTML-like label."""
    written = [graphviz.escape(_UNWRITABLE.sub("\ufffd", line).replace("\n", " ")) for line in lines]
    label: str = graphviz.nohtml("\\n".join(written))
    return label


def _edge(route: Route, view: EdgeView, colours: _Colours) -> str:
    colour = colours[_family(view.tone)] if view.taken else colours["edge"]
    look = 'stroke-width="2"' if view.taken else 'stroke-width="1.5" opacity="0.75"'
    detail = f"<title>{_safe(view.detail)}</title>" if view.detail else ""
    return (
        f'<g {look}>{detail}<path d="{route.path}" fill="none" stroke="{colour}"/>'
        f'<path d="{route.arrow}" fill="{colour}" stroke="none"/></g>'
    )


def _dot(dot: Box, colours: _Colours) -> str:
    (x, y), edge = dot.center, colours["edge"]
    core = "" if dot.name == START else f'<circle cx="{x:g}" cy="{y:g}" r="{dot.w * 0.225:g}" fill="{edge}"/>'
    return f'<circle cx="{x:g}" cy="{y:g}" r="{dot.w / 2:g}" fill="{colours["soft"]}" stroke="{edge}"/>{core}'


def _node(box: Box, view: NodeView, colours: _Colours) -> str:
    quiet = view.tone in ("plain", "stopped")
    line, fill = (colours["edge"], colours["page"]) if quiet else _pair(view.tone, colours)
    ink = colours["grey"] if quiet else colours[f"{_family(view.tone)}_ink"]
    width, left = box.w - 2 * _PADDING, box.x + _PADDING
    title = f"{view.title} ×{view.visits}" if view.visits > 1 else view.title
    rows = [
        _text(left, box.y + 42 + 15.5 * place, _LINE, colours["grey"], fit(variants, width, _LINE))
        for place, variants in enumerate(view.lines[:2])
    ]
    return "".join(
        [
            f"<g data-node={quoteattr(box.name)}><title>{_safe(view.spoken)}</title>",
            f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.w:g}" height="{box.h:g}" rx="11" fill="{fill}" '
            f'stroke="{line}" stroke-width="1.5"/>',
            _text(left, box.y + 25, _TITLE, colours["text"], fit((title,), width - 20, _TITLE), bold=True),
            _text(box.right - _PADDING, box.y + 24, 12, ink, _ICONS[view.tone], anchor="end", bold=True),
            *rows,
            "</g>",
        ]
    )


def _chips(layout: Layout, edges: Mapping[tuple[str, str], EdgeView], colours: _Colours) -> list[str]:
    drawn = []
    for route in layout.routes:
        view = edges[route.source, route.target]
        if route.label is not None and view.chips:
            drawn.append(_chip(route.label, view, colours))
    return drawn


def _chip(label: Label, view: EdgeView, colours: _Colours) -> str:
    text = fit(view.chips, label.w - 20, _CHIP)
    width = min(label.w, width_of(text, _CHIP) + 20)
    slack = {"start": 0.0, "middle": (label.w - width) / 2, "end": label.w - width}[label.anchor]
    x, family = label.x + slack, _family(view.tone)
    # A picture is opened where other fonts are: the words are squeezed into the chip rather than run over it.
    fitted = f' textLength="{width - 20:g}" lengthAdjust="spacingAndGlyphs"'
    words = _text(
        x + width / 2, label.y + label.h / 2 + 4, _CHIP, colours[f"{family}_ink"], text, anchor="middle", more=fitted
    )
    return (
        f'<rect x="{x:g}" y="{label.y:g}" width="{width:g}" height="{label.h:g}" rx="{label.h / 2:g}" '
        f'fill="{colours[f"{family}_chip"]}"/>{words}'
    )


def _pair(tone: Tone, colours: _Colours) -> tuple[str, str]:
    family = _family(tone)
    return colours[family], colours[f"{family}_soft"]


def _family(tone: Tone) -> str:
    """Which colours a tone has; an answer forced through an unmet gate shares those of a rewrite."""
    return "rewrite" if tone == "forced" else tone if tone in ("passed", "rewrite", "fault", "active") else "passed"


def _text(
    x: float, y: float, size: float, fill: str, text: str, *, anchor: str = "start", bold: bool = False, more: str = ""
) -> str:
    weight = ' font-weight="650"' if bold else ""
    where = f'x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}"'
    return f'<text {where} fill="{fill}"{weight}{more}>{_safe(text)}</text>' if text else ""


def _safe(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text), {'"': "&quot;"})


def fit(variants: Sequence[str], width: float, size: float) -> str:
    """The first wording that fits into ``width`` pixels, or the last one shortened."""
    for text in variants:
        if width_of(text, size) <= width:
            return text
    text = variants[-1] if variants else ""
    while text and width_of(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}…" if text else ""


def width_of(text: str, size: float) -> float:
    """Width in pixels, estimated alike here and in the browser, so that both shorten the same texts."""
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
