"""Every model call of a run: a table, and for the chosen one exactly what was sent, received and read."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from components.i18n import Words
from components.phrases import duration_text, node_text, place_text
from engine.values import ModelCall, RunRecord


def model_calls(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the table and, below it, the call of the selected row."""
    if not record.model_calls:
        st.caption(words("calls.empty"))
        return
    rows = [call_row(place, call, record, words) for place, call in enumerate(record.model_calls, 1)]
    event = st.dataframe(
        pd.DataFrame(rows),
        key=key,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        height=min(38 + 35 * len(rows), 388),
        column_config={words("calls.number"): st.column_config.NumberColumn(width=48)},
    )
    chosen = event["selection"]["rows"]
    if not chosen:
        st.caption(words("calls.choose"))
        return
    _details(record.model_calls[chosen[0]], words, key)


def call_row(place: int, call: ModelCall, record: RunRecord, words: Words) -> dict[str, object]:
    """One line of the table, by translated column."""
    return {
        words("calls.number"): place,
        words("calls.role"): words(f"actor.{call.role}"),
        words("calls.model"): words("model.builtin") if call.built_in else call.model,
        words("calls.round"): f"r{call.round}",
        words("calls.passage"): _passage(call, record, words),
        words("calls.tokens"): _tokens(call),
        words("calls.time"): duration_text(call.duration_ms),
        words("calls.note"): _note(call, words),
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
    if call.built_in:
        notes.append(words("calls.built_in"))
    if call.cached:
        notes.append(words("calls.cached"))
    if call.attempt > 1:
        notes.append(words("calls.attempt", n=call.attempt))
    if call.error:
        notes.append(f"✗ {call.error}")
    return " · ".join(notes)


def _details(call: ModelCall, words: Words, key: str) -> None:
    with st.container(border=True, key=f"{key}_call"):
        st.caption(words("calls.heading", role=words(f"actor.{call.role}"), node=node_text(call.node, words)))
        if call.error:
            st.text(f"✗ {call.error}")
        if not call.messages:
            st.caption(words("calls.no_prompt"))
        for message in call.messages:
            st.caption(words(f"calls.message.{message.role}"))
            st.code(message.content, language=None, wrap_lines=True)
        if call.thinking:
            st.caption(words("calls.thinking"))
            st.code(call.thinking, language=None, wrap_lines=True)
        st.caption(words("calls.reply"))
        st.code(call.reply or words("calls.no_reply"), language=None, wrap_lines=True)
        st.caption(words("calls.parsed"))
        if call.parsed is None:
            st.text(words("calls.unread"))
        else:
            st.code(json.dumps(dict(call.parsed), ensure_ascii=False, indent=2, default=str), language="json")
