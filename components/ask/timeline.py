"""Timeline of a run: node visits and model calls as bars on one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go
import streamlit as st

from components.common.i18n import Words
from components.common.outcomes import round_text
from components.common.phrases import duration_text, node_text
from components.common.plotly_theme import themed
from components.labels import SPAN_NAMES
from engine.flow import workflow
from engine.model.config import ROLES
from engine.model.values import ModelCall, NodeExecution, RunRecord

SpanKind = Literal["visit", "rewrite", "chat", "built_in", "cached", "fault"]
_COLOURS: dict[SpanKind, str] = {
    "visit": "#a5abf5",
    "rewrite": "#f3b64f",
    "chat": "#4f46e5",
    "built_in": "#14a394",
    "cached": "#9aa3b2",
    "fault": "#dc2626",
}
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


def timeline(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the bars, one lane per node in the order of first visits."""
    drawn = spans(record, words)
    if not drawn:
        st.caption(words("No times yet: they appear as the steps run."))
        return
    st.plotly_chart(
        timeline_figure(drawn, words), key=key, config={"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d"]}
    )


def timeline_figure(drawn: tuple[Span, ...], words: Words) -> go.Figure:
    """The chart alone, for the page and for exports."""
    end = max(span.start_ms + span.duration_ms for span in drawn)
    scale, unit = (1.0, "ms") if end < 1000 else (1000.0, "s")
    tops, height = _lanes(drawn)
    themed()
    figure = go.Figure()
    for kind, colour in _COLOURS.items():
        chosen = [span for span in drawn if span.kind == kind]
        if not chosen:
            continue
        figure.add_bar(
            orientation="h",
            name=words(SPAN_NAMES[kind]),
            x=[max(span.duration_ms, end / 400) / scale for span in chosen],
            base=[span.start_ms / scale for span in chosen],
            y=[-(tops[span.node] + _offset(span)) for span in chosen],
            width=[0.9 if span.row == 0 else 0.42 for span in chosen],
            marker={"color": colour, "line": {"width": 0}, "cornerradius": 3},
            customdata=[[span.label, span.detail] for span in chosen],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
        )
    figure.update_layout(
        barmode="overlay",
        height=int(96 + 36 * height),
        margin={"l": 8, "r": 8, "t": 8, "b": 40},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1.01,
            "x": 0,
            "itemclick": False,
            "itemdoubleclick": False,
        },
        hoverlabel={"align": "left"},
        dragmode="zoom",
    )
    figure.update_xaxes(
        title=words("since the start, {unit}", unit=unit), rangemode="tozero", zeroline=False, showgrid=True
    )
    figure.update_yaxes(
        tickvals=[-top for top in tops.values()],
        ticktext=list({span.node: span.title for span in drawn}.values()),
        range=[-height + 0.3, 0.7],
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
    return figure


def _lanes(drawn: tuple[Span, ...]) -> tuple[dict[str, float], float]:
    """Return the top of each node's lane, counted downwards, and the bottom of the last."""
    tops: dict[str, float] = {}
    top = 0.0
    for name in dict.fromkeys(span.node for span in drawn):
        tops[name] = top
        rows = max(span.row for span in drawn if span.node == name)
        top += 1.25 + 0.5 * rows
    return tops, top


def _offset(span: Span) -> float:
    return 0.0 if span.row == 0 else 0.27 + 0.5 * span.row


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
