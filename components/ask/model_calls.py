"""Every model call of a run: a table, and for the chosen one exactly what was sent, received and read."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from components.common.i18n import Words
from components.common.outcomes import round_text
from components.common.phrases import duration_text, node_text, place_text
from components.labels import MESSAGE_ROLES
from engine.messages import N_
from engine.model.config import ROLES
from engine.model.values import ModelCall, RunRecord, counted


def model_calls(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the table and, below it, the call of the selected row."""
    if not record.model_calls:
        none = N_("No calls yet: every prompt and reply is kept here, exactly as sent and received.")
        st.caption(words(none if record.active else "No call was made."))
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


def calls_name(record: RunRecord, words: Words) -> str:
    """Name of the part with all of them: ``Calls 3``, ``Steps 10`` where no model was asked, or both."""
    count = counted(record.model_calls)
    if count.done and count.steps:
        return words("Calls {n} · built-in steps {steps}", n=count.done, steps=count.steps)
    return words("Built-in steps {n}", n=count.steps) if count.steps else words("Calls {n}", n=count.done)


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
    if call.built_in:
        notes.append(words("built-in, no model called"))
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
        st.caption(words("Call of the {role} in {node}", role=words(ROLES[call.role]), node=name))
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
