"""The tab Trace: when each step ran, every call as it was sent and received, and what the run was made with."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from components.common.i18n import Words
from components.common.outcomes import round_text
from components.common.phrases import duration_text, node_text, place_text
from components.common.plotly_theme import themed
from components.common.spans import Span, SpanKind, spans
from components.labels import MESSAGE_ROLES, SPAN_NAMES
from components.sentences.calls import calls_text, reason_calls, reason_calls_text
from engine.model.config import ROLES
from engine.model.values import ModelCall, RunRecord

_COLOURS: dict[SpanKind, str] = {
    "visit": "#a5abf5",
    "rewrite": "#f3b64f",
    "chat": "#4f46e5",
    "built_in": "#14a394",
    "cached": "#9aa3b2",
    "fault": "#dc2626",
}


def view(record: RunRecord, narrowed: RunRecord, words: Words, *, key: str) -> None:
    """Draw the three; times and calls are those of ``narrowed``, the record of one node where one is chosen."""
    timeline(narrowed, words, key=f"{key}_timeline")
    if narrowed.model_calls:
        st.markdown(f"**{calls_text(narrowed, words)}**")
    model_calls(narrowed, words, key=f"{key}_calls")
    visited = {item.node for item in narrowed.nodes}
    if reasons := tuple(call for call in reason_calls(record) if call.node in visited):
        st.markdown(f"**{reason_calls_text(reasons, words)}**")
        model_calls(replace(record, model_calls=reasons), words, key=f"{key}_reasons")
    st.markdown(f"**{words('What this run was made with')}**")
    st.caption(words("Run {id}, started {started} UTC", id=record.id, started=record.started_at[:19].replace("T", " ")))
    st.code("\n".join(f"{name}: {value}" for name, value in record.manifest.items()), language=None)


def timeline(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the bars, one lane per node in the order of first visits."""
    drawn = spans(record, words)
    if not drawn:
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


def model_calls(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the table and, below it, the call of the selected row."""
    if not record.model_calls:
        st.caption(words("No call was made."))
        return
    rows = [call_row(place, call, record, words) for place, call in enumerate(record.model_calls, 1)]
    event = st.dataframe(
        pd.DataFrame(rows),
        key=key,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        height=min(38 + 35 * len(rows), 388),
        column_config={words("#"): st.column_config.NumberColumn(width=48)},
    )
    chosen = event["selection"]["rows"]
    if not chosen:
        st.caption(words("Select a row to see its prompt, reply and result."))
        return
    _details(record.model_calls[chosen[0]], record, words, key)


def call_row(place: int, call: ModelCall, record: RunRecord, words: Words) -> dict[str, object]:
    """One line of the table, by translated column."""
    return {
        words("#"): place,
        words("Role"): words(ROLES[call.role]),
        words("Model"): words("built-in") if call.built_in else call.model,
        words("Round"): round_text(call.round, words),
        words("Passage"): _passage(call, record, words),
        words("Tokens in → out"): _tokens(call),
        words("Time"): duration_text(call.duration_ms),
        words("Note"): _note(call, words),
    }


def _passage(call: ModelCall, record: RunRecord, words: Words) -> str:
    for current in record.rounds:
        for item in current.candidates:
            if item.passage.id == call.passage_id:
                return place_text(item.passage.source, item.passage.section, words)
    return call.passage_id or ""


def _tokens(call: ModelCall) -> str:
    if call.prompt_tokens is None and call.reply_tokens is None:
        return "–"
    return " → ".join("–" if count is None else str(count) for count in (call.prompt_tokens, call.reply_tokens))


def _note(call: ModelCall, words: Words) -> str:
    notes = []
    if call.cached:
        notes.append(words("from cache"))
    if call.attempt > 1:
        notes.append(words("attempt {n}", n=call.attempt))
    if call.error:
        notes.append(f"✗ {call.error}")
    return " · ".join(notes)


def _details(call: ModelCall, record: RunRecord, words: Words, key: str) -> None:
    with st.container(border=True, key=f"{key}_call"):
        name = node_text(call.node, record.workflow, words)
        st.caption(f"{name} · {words(ROLES[call.role])}")
        if call.error:
            st.text(f"✗ {call.error}")
        if not call.messages:
            st.caption(words("The built-in role got values, not a prompt."))
        for message in call.messages:
            st.caption(words(MESSAGE_ROLES[message.role]))
            st.code(message.content, language=None, wrap_lines=True)
        if call.thinking:
            st.caption(words("Thinking, not used"))
            st.code(call.thinking, language=None, wrap_lines=True)
        st.caption(words("Raw reply"))
        st.code(call.reply or words("(empty)"), language=None, wrap_lines=True)
        st.caption(words("What was read from it"))
        if call.parsed is None:
            st.text(words("Nothing could be read."))
        else:
            st.code(json.dumps(dict(call.parsed), ensure_ascii=False, indent=2, default=str), language="json")
