"""State of a run at a moment as plain values: the one view for pages, streams and saved pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from components.common.i18n import Words
from components.common.outcomes import REASONS, run_end_text
from components.common.phrases import node_text
from components.picture.facts import executions, facts_of, grading
from components.picture.words import Lines, chips_of, decision_line, duration_of, word
from engine.flow import workflow
from engine.flow.flow import Flow, Node
from engine.flow.graph import END, START, Edge, WorkflowGraph
from engine.messages import NC_
from engine.model.values import COMPLETE, RunRecord

STOPPED = "CancelledError"
"""What a visit that was stopped has for an error: a person's wish, and no fault."""
Tone = Literal["plain", "active", "passed", "rewrite", "forced", "fault", "stopped"]

_TONES: Mapping[str, Tone] = {"pass": "passed", "warn": "rewrite", "grey": "forced", "fault": "fault"}
"""Of the picture, by the tone of a decision's reason."""


@dataclass(frozen=True, slots=True)
class NodeView:
    title: str
    tone: Tone
    visits: int
    lines: Lines
    progress: float | None
    """Share of the passages judged while the grader works, in [0, 1]."""
    spoken: str


@dataclass(frozen=True, slots=True)
class EdgeView:
    taken: int
    tone: Tone
    live: bool
    chips: tuple[str, ...]
    """The newest inequality, in wordings from long to short."""
    detail: str
    """Every decision that chose the edge, a line each."""


@dataclass(frozen=True, slots=True)
class PictureView:
    nodes: Mapping[str, NodeView]
    edges: Mapping[tuple[str, str], EdgeView]
    status: str


def picture_of(graph: WorkflowGraph, record: RunRecord | None, words: Words) -> PictureView:
    """The view of a record, running or ended; None shows the workflow at rest."""
    ways, flow = travelled(graph.edges, record), workflow(graph.workflow).flow
    tones = {name: _tone_of(name, flow, record, ways) for name in graph.nodes}
    return PictureView(
        nodes={name: _node_view(name, flow.nodes[name], tones[name], record, words) for name in graph.nodes},
        edges={(edge.source, edge.target): _edge_view(edge, tones, record, ways, words) for edge in graph.edges},
        status=_status(record, words),
    )


def travelled(edges: Sequence[Edge], record: RunRecord | None) -> dict[tuple[str, str], int]:
    """Count how often each edge was taken; a choice since the newest visit before it, a plain edge from the start."""
    taken: dict[tuple[str, str], int] = {}
    if record is None:
        return taken
    visits = [str(item.node) for item in record.nodes]
    last = record.decisions[-1].route if record.decisions else ""
    if record.outcome in COMPLETE or (record.outcome and last == "end"):
        visits.append(END)
    for place, target in enumerate(visits):
        previous = _last(visits[:place], target)
        into = []
        for edge in edges:
            at = _last(visits[:place], edge.source)
            open_way = previous < 0 if edge.source == START else at >= 0 and at >= previous
            if edge.target == target and open_way:
                into.append((edge, at))
        newest = max((at for _, at in into), default=-1)
        for edge, at in into:
            if not edge.conditional or at == newest:
                key = (edge.source, edge.target)
                taken[key] = taken.get(key, 0) + 1
    return taken


def _last(items: Sequence[str], wanted: str) -> int:
    return max((place for place, item in enumerate(items) if item == wanted), default=-1)


def _tone_of(name: str, flow: Flow, record: RunRecord | None, ways: Mapping[tuple[str, str], int]) -> Tone:
    visits = executions(name, record)
    if not visits or record is None:
        return "plain"
    newest = visits[-1]
    if newest.error == STOPPED:
        return "stopped"
    if newest.error or (record.error is not None and record.error.node == name):
        return "fault"
    if newest.duration_ms is None:
        return "active" if not record.outcome else "fault" if record.outcome == "failed" else "stopped"
    own = [item for item in record.decisions if item.node == name]
    if own and own[-1].route == "end" and tone_of_reason(own[-1].reason) != "passed":
        return tone_of_reason(own[-1].reason)
    entries = [item for item in record.decisions if item.route == name]
    entered = tone_of_reason(entries[-1].reason) if entries and ways.get((entries[-1].node, name)) else "passed"
    # Only a rewrite is the correction itself; anything else that is visited again simply did its work.
    return "passed" if entered == "rewrite" and flow.nodes[name].kind != "rewrite" else entered


def tone_of_reason(reason: str) -> Tone:
    """The meaning of a decision's reason: aim reached, another attempt, ended before its aim, or a fault."""
    return _TONES[REASONS[reason].tone] if reason in REASONS else "forced"


def _node_view(name: str, node: Node, tone: Tone, record: RunRecord | None, words: Words) -> NodeView:
    visits = len(executions(name, record))
    state = word(words, "state", tone)
    facts = facts_of(name, record, words, tone) if record is not None and visits else _resting_lines(node, words)
    lines = ((state,), *facts[:1]) if tone in ("fault", "stopped") else facts
    title = words(node.name)
    heard = [f"{title} ×{visits}" if visits > 1 else title, state, *(line[0] for line in facts)]
    progress = None
    if record is not None and tone == "active" and name == workflow(record.workflow).flow.grading:
        done, total, _ = grading(record)
        progress = done / total if total else 0.0
    return NodeView(
        title, tone, visits, lines, progress, words(NC_("picture", ", ")).join(part for part in heard if part)
    )


def _resting_lines(node: Node, words: Words) -> Lines:
    """Return the role and model at a node; the second in two wordings where one is too long for a small box."""
    lines = ((node.who,), (node.work, node.brief))
    return tuple(tuple(words(text) for text in line if text) for line in lines if line[0])


def _edge_view(
    edge: Edge, tones: Mapping[str, Tone], record: RunRecord | None, ways: Mapping[tuple[str, str], int], words: Words
) -> EdgeView:
    route = "end" if edge.target == END else edge.target
    decisions = record.decisions if record else []
    choices = [item for item in decisions if item.node == edge.source and item.route == route]
    taken = max(ways.get((edge.source, edge.target), 0), len(choices))
    source = tones.get(edge.source, "passed")
    tone: Tone = source if source in ("rewrite", "forced", "fault") else "passed"
    chips: tuple[str, ...] = ()
    detail = ""
    if record and choices:
        tone = tone_of_reason(choices[-1].reason)
        chips = chips_of(choices[-1], len(choices), record.workflow, words)
        detail = "\n".join(decision_line(choice, record.workflow, words) for choice in choices)
    return EdgeView(
        taken=taken,
        tone=tone if taken else "plain",
        live=bool(taken) and tones.get(edge.target) == "active",
        chips=chips,
        detail=detail,
    )


def _status(record: RunRecord | None, words: Words) -> str:
    if record is None:
        return words("Ask a question and the steps light up here, one by one.")
    flow = workflow(record.workflow).flow
    if record.outcome:
        return f"{run_end_text(record, words)} · {duration_of(record.duration_ms, words)}"
    running = [item.node for item in record.nodes if item.duration_ms is None]
    if not running:
        return words("Starting …")
    node = flow.nodes.get(running[-1])
    if node and node.doing:
        return words(node.doing)
    return words("{title} is working", title=node_text(running[-1], record.workflow, words))
