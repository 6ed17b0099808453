"""A run's workflow as files: a standalone SVG of the same picture, and the decision path as Graphviz source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import cast
from xml.sax.saxutils import escape

import graphviz

from components.common.i18n import Words
from components.common.markup import Node
from components.common.outcomes import ended_text, round_text
from components.common.phrases import node_text
from components.picture.drawing import CHIP_SIZE, LINE_SIZE, TITLE_SIZE, Paint, painted, shapes_of, width_of
from components.picture.layout import MARGIN, layout_of
from components.picture.picture import STOPPED, Tone, picture_of, tone_of_reason
from components.picture.words import inequality_of
from engine.flow import workflow
from engine.flow.flow import Flow
from engine.flow.graph import WorkflowGraph
from engine.model.values import Decision, NodeExecution, RunRecord

_FONT = (
    "'Source Sans 3', 'Helvetica Neue', Arial, 'Liberation Sans', 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', "
    "'Noto Sans CJK SC', sans-serif"
)
_ON_A_PAGE = ("pulse", "ring", "track", "done")
"""Shapes that only a page shows, for what moves and what can be chosen."""
_KEPT = frozenset("x y width height rx cx cy r d data-node".split())
_LOOKS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "edge": {"stroke-width": "thick", "opacity": "faint"},
        "line": {"fill": "none", "stroke": "way"},
        "head": {"fill": "way", "stroke": "none"},
        "rim": {"fill": "soft", "stroke": "edge"},
        "core": {"fill": "edge"},
        "box": {"fill": "inside", "stroke": "frame", "stroke-width": "1.5"},
        "name": {"fill": "text", "font-size": f"{TITLE_SIZE:g}", "font-weight": "650"},
        "icon": {"fill": "sign", "font-size": "12", "font-weight": "650", "text-anchor": "end"},
        "fact": {"fill": "grey", "font-size": f"{LINE_SIZE:g}"},
        "pill": {"fill": "chip"},
        "words": {"fill": "ink", "font-size": f"{CHIP_SIZE:g}", "text-anchor": "middle"},
    }
)
"""By the class of a shape its attributes; a name of a colour or of a role stands for what the moment makes of it."""
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
        "active": "#7c87f5", "active_ink": "#7c87f5", "active_soft": "#1f2142", "active_chip": "#1f2142",
    }
)  # fmt: skip
_IN_THE_DARK = {colour: _DARK[name] for name, colour in _LIGHT.items()}
_COLOUR = re.compile('="(#[0-9a-f]{6})"')
_BOTH = "#6f7888"
"""Legible on a light and on a dark page: Graphviz source has one look."""
# What XML 1.0 cannot hold, not even escaped, and lone surrogates, which no encoding can write.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_MOST_LINES, _BOX_WIDTH = 3, 190.0
"""Of a query in a box of the decision path: lines, and pixels of one."""

_Colours = Mapping[str, str]


def workflow_svg(graph: WorkflowGraph, record: RunRecord | None, words: Words) -> str:
    """The wide picture as one SVG document: no script, no style sheet, no reference to anything outside it."""
    layout, picture = layout_of(graph), picture_of(graph, record, words)
    paint = painted(layout, picture)
    edges, *others = (kid for kid in shapes_of(layout, words).kids if isinstance(kid, Node))
    # Ways that were taken are drawn last, or a faint one crosses over them.
    ways = sorted((kid for kid in edges.kids if isinstance(kid, Node)), key=lambda way: _taken(way, paint))
    foot, label = layout.height + 8, words("Workflow of the run")
    status = f'<text x="{MARGIN:g}" y="{foot:g}" font-size="12" fill="{_LIGHT["grey"]}">{_safe(picture.status)}</text>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width:g}" height="{foot + 22:g}" '
        f'viewBox="0 0 {layout.width:g} {foot + 22:g}" font-family="{_FONT}">',
        f"<title>{_safe(label)}</title>",
        f'<rect width="100%" height="100%" fill="{_LIGHT["page"]}"/>',
        *(_drawn(shape, paint, _LIGHT) for shape in (*ways, *others)),
        status if record is not None else "",
        "</svg>",
    ]
    return "".join(parts)


def darkened(svg: str) -> str:
    """The picture that :func:`workflow_svg` wrote, in the colours of a dark page."""
    # In texts quotation marks are escaped, so that this is an attribute.
    return _COLOUR.sub(lambda found: f'="{_IN_THE_DARK[found[1]]}"', svg)


def _taken(way: Node, paint: Paint) -> bool:
    return "taken" in paint[way.attrs["data-part"]]["class"].split()


def decision_path_dot(record: RunRecord, words: Words) -> str:
    """Graphviz source of the decision path: a row for each round and each further answer, a box for each visit of a
    node, and on the edges the inequality behind them.
    """
    drawing = graphviz.Digraph("decision_path")
    drawing.attr(rankdir="TB", bgcolor="transparent", nodesep="0.3", ranksep="0.45")
    drawing.attr(
        "node", shape="box", style="rounded,filled", fontname="sans-serif", fontsize="12", color=_LIGHT["edge"]
    )
    drawing.attr("edge", fontname="sans-serif", fontsize="10", color=_BOTH, fontcolor=_BOTH)
    visits, flow = list(record.nodes), workflow(record.workflow).flow
    rows: list[list[str]] = []
    before, pending, row = "start", "", -1
    if visits:
        drawing.node(before, label=_label(words("Question")), fillcolor=_LIGHT["soft"])
    for place, visit in enumerate(visits):
        decision = _decision_of(visit, record)
        label = _label(_heading(visit, flow, record, words), *_visit_lines(visit, flow, decision, record, words))
        searched = any(item.node in flow.of_kind("search") for item in visits[:place])
        tone = _visit_tone(visit, decision, corrects=searched and visit.node in flow.of_kind("rewrite"))
        new_row = place == 0 or _begins_row(visit, visits[place - 1], flow)
        if new_row:
            rows.append([before] if place == 0 else [])
            row += 1
        rows[row].append(f"visit{place}")
        drawing.node(f"visit{place}", label=label, fillcolor=_LIGHT[f"{tone}_soft" if tone else "soft"])
        across = "true" if place == 0 or not new_row else "false"
        drawing.edge(before, f"visit{place}", label=_label(pending), constraint=across)
        before, pending = f"visit{place}", inequality_of(decision, words) if decision else ""
    if visits and record.outcome:
        drawing.node("end", label=_label(ended_text(record, words)), fillcolor=_LIGHT["soft"])
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


def _heading(visit: NodeExecution, flow: Flow, record: RunRecord, words: Words) -> str:
    """Node and round; the nodes that judge answers, and those that revise them, count those instead."""
    title = node_text(visit.node, record.workflow, words)
    answers = visit.node in flow.revising | flow.of_kind("evaluate")
    counted = words("answer {n}", n=visit.visit) if answers else round_text(visit.round, words)
    return f"{title} · {counted}"


def _begins_row(visit: NodeExecution, before: NodeExecution, flow: Flow) -> bool:
    revised = visit.node in flow.revising and visit.visit > 1
    return bool(visit.round != before.round or revised)


def _decision_of(visit: NodeExecution, record: RunRecord) -> Decision | None:
    """The decision of a visit: of one node and round the first visit made the first one."""

    def same(item: NodeExecution | Decision) -> bool:
        return bool(item.node == visit.node and item.round == visit.round)

    nth = sum(same(item) and item.visit < visit.visit for item in record.nodes)
    decisions = [item for item in record.decisions if same(item)]
    return decisions[nth] if nth < len(decisions) else None


def _visit_tone(visit: NodeExecution, decision: Decision | None, *, corrects: bool) -> str:
    """The family of colours of a visit, which may correct a search; none for one that was stopped."""
    if visit.error == STOPPED:
        return ""
    if visit.error:
        return "fault"
    if decision is None:
        return "rewrite" if corrects else "passed"
    return _family(tone_of_reason(decision.reason))


def _visit_lines(
    visit: NodeExecution,
    flow: Flow,
    decision: Decision | None,
    record: RunRecord,
    words: Words,
) -> list[str]:
    if visit.node in flow.of_kind("rewrite"):
        # The n-th visit made the n-th rewrite; a round may have two, before its search and after its answer.
        made = record.rewrites[visit.visit - 1 : visit.visit]
        return [line for item in made for line in _wrapped(f"→ {item.rewritten_query}")]
    if decision is None or visit.node != flow.gate:
        return []
    checks = [item.quality for item in record.rounds if item.index == visit.round and item.quality]
    if checks:
        return [words.count("1 issue", "{n} issues", len(checks[0].issues))] if checks[0].issues else []
    return [words("{a} passed", a=f"{decision.passed}/{decision.kept}")]


def _wrapped(text: str) -> list[str]:
    """A query as lines of a box: broken at a space where there is one, and after three lines cut."""
    lines: list[str] = []
    left = " ".join(text.split())
    while left and len(lines) < _MOST_LINES:
        line = left
        while width_of(line, LINE_SIZE) > _BOX_WIDTH:
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


def _drawn(shape: Node, paint: Paint, roles: _Colours) -> str:
    """A shape and what is in it as SVG, the looks that a style sheet gives them on a page written into it."""
    part = shape.attrs.get("data-part", "")
    now = {**shape.attrs, **paint.get(part, {})}
    classes = now.get("class", "").split()
    kind = classes[0] if classes else ""
    text = now.get("text", "") + "".join(item for item in shape.kids if isinstance(item, str))
    if kind in _ON_A_PAGE or "empty" in classes or (not text and shape.tag in ("text", "title")):
        return ""
    if shape.tag == "g" and part:
        roles = {**roles, **_roles(classes, roles)}
    kept = {name: value for name, value in now.items() if name in _KEPT}
    kept |= {name: roles.get(value, value) for name, value in _LOOKS.get(kind, {}).items()}
    if kind == "words":
        # A picture is opened where other fonts are: the words are squeezed into the chip rather than run over it.
        room = float(paint[part.replace("words:", "pill:", 1)]["width"]) - 20
        kept |= {"textLength": f"{room:g}", "lengthAdjust": "spacingAndGlyphs"}
    inside = [_safe(text), *(_drawn(kid, paint, roles) for kid in shape.kids if isinstance(kid, Node))]
    if kind == "node":
        # Heard instead of the tooltip, which repeats what stands in the box.
        inside = [f"<title>{_safe(now['aria-label'])}</title>", *inside]
    written = "".join(f' {name}="{_safe(value)}"' for name, value in kept.items())
    return f"<{shape.tag}{written}>{''.join(inside)}</{shape.tag}>"


def _roles(classes: Sequence[str], colours: _Colours) -> _Colours:
    """Return the colours that a group of looks with these classes uses for the colour roles it names."""
    family, taken = _family(cast("Tone", classes[1])), "taken" in classes
    quiet = "plain" in classes or "stopped" in classes
    return {
        "way": colours[family if taken else "edge"],
        "thick": "2" if taken else "1.5",
        "faint": "1" if taken else "0.75",
        "frame": colours["edge" if quiet else family],
        "inside": colours["page" if quiet else f"{family}_soft"],
        "sign": colours["grey" if quiet else f"{family}_ink"],
        "chip": colours[f"{family}_chip"],
        "ink": colours[f"{family}_ink"],
    }


def _family(tone: Tone) -> str:
    """Return the colours of a tone; an answer forced through an unmet gate shares those of a rewrite."""
    return "rewrite" if tone == "forced" else tone if tone in ("passed", "rewrite", "fault", "active") else "passed"


def _safe(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text), {'"': "&quot;"})
