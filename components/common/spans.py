"""The spans of a run on one axis of time: visits of nodes, and the model calls below them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from components.common.i18n import Words
from components.common.outcomes import round_text
from components.common.phrases import duration_text, node_text
from engine.flow import workflow
from engine.model.config import ROLES
from engine.model.values import ModelCall, NodeExecution, RunRecord

SpanKind = Literal["visit", "rewrite", "chat", "built_in", "cached", "fault"]
_STOPPED = "CancelledError"
_MOST_ROWS = 4
"""Calls that overlap more deeply than this share a row, so that one node cannot fill the screen."""


@dataclass(frozen=True, slots=True)
class Span:
    """One bar: times in milliseconds since the run began."""

    node: str
    title: str
    """What the node is called."""
    kind: SpanKind
    start_ms: float
    duration_ms: float
    row: int
    """0 for a visit; model calls lie below it, from 1, where they overlap on further rows."""
    label: str
    detail: str


def spans(record: RunRecord, words: Words) -> tuple[Span, ...]:
    """All visits and model calls of a run; a visit that is still running lasts until now."""
    visits = [_visit(item, record, words) for item in record.nodes]
    ends: dict[str, list[float]] = {}
    calls = []
    for call in sorted(record.model_calls, key=lambda item: item.start_ms):
        rows = ends.setdefault(call.node, [])
        free = next((row for row, end in enumerate(rows) if call.start_ms >= end - 0.001), len(rows))
        row = min(free, _MOST_ROWS - 1)
        if row == len(rows):
            rows.append(0.0)
        rows[row] = max(rows[row], call.start_ms + call.duration_ms)
        calls.append(_call(call, row + 1, record, words))
    return (*visits, *calls)


def _visit(item: NodeExecution, record: RunRecord, words: Words) -> Span:
    going = item.duration_ms is None
    duration = max(0.0, record.duration_ms - item.start_ms) if item.duration_ms is None else item.duration_ms
    time = f"{duration_text(duration)}{'…' if going else ''}"
    detail = words(
        "{round} · {time}, from {start}",
        round=round_text(item.round, words),
        time=time,
        start=duration_text(item.start_ms),
    )
    error = "" if item.error == _STOPPED else item.error
    title = node_text(item.node, record.workflow, words)
    rewriting = item.node in workflow(record.workflow).flow.of_kind("rewrite")
    kind: SpanKind = "fault" if error else "rewrite" if rewriting else "visit"
    label = f"{title} ×{item.visit}"
    return Span(item.node, title, kind, item.start_ms, duration, 0, label, detail + _error(error))


def _call(call: ModelCall, row: int, record: RunRecord, words: Words) -> Span:
    kind: SpanKind = "fault" if call.error else "built_in" if call.built_in else "cached" if call.cached else "chat"
    time = duration_text(call.duration_ms)
    detail = words(
        "{round} · {time}, from {start}",
        round=round_text(call.round, words),
        time=time,
        start=duration_text(call.start_ms),
    )
    model = words("built-in") if call.built_in else call.model
    label = _plain(f"{words(ROLES[call.role])} · {model}")
    title = node_text(call.node, record.workflow, words)
    return Span(call.node, title, kind, call.start_ms, call.duration_ms, row, label, detail + _error(call.error))


def _plain(text: str) -> str:
    """Plotly reads a few HTML tags in hover texts; names and errors are untrusted text."""
    return text[:200].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _error(text: str) -> str:
    return f"<br>✗ {_plain(text)}" if text else ""
