"""What an imported run offers beside its label: judging here what was not judged there, with the price before."""

from __future__ import annotations

import streamlit as st

from components.ask.origin import origin_note
from components.common.i18n import Words
from engine.engine import Engine
from engine.model.config import BUILTIN, RoleModel
from engine.model.values import RunRecord
from engine.traces.judging import price_of
from pages.parts.common.presses import attempt, say_fault
from pages.parts.common.rights import may


def imported(engine: Engine, record: RunRecord, words: Words) -> None:
    """The label, and below it who could judge the rest."""
    with st.container(key="imported"):
        origin_note(record, words, key="origin_note")
        say_fault("imported", words)
        price = price_of([record], RoleModel())
        if not price.passages or not may("editor"):
            return
        with st.container(key="imported_judge", horizontal=True, vertical_alignment="bottom", gap="small"):
            names = [BUILTIN, *(f"ollama:{item.name}" for item in engine.ollama().models if item.chats)]
            chosen = st.selectbox(
                words("Judge with"),
                names,
                format_func=lambda name: words("the built-in grader") if name == BUILTIN else name,
                key="imported_grader",
                width=240,
            )
            model = RoleModel(str(chosen))
            calls = price_of([record], model).calls
            pressed = st.button(
                words.count("Judge 1 passage", "Judge {n} passages", price.passages),
                icon=":material/fact_check:",
                key="imported_judge_go",
            )
            st.caption(
                words.count("1 call of this model", "{n} calls of this model", calls)
                if calls
                else words("Costs no model call."),
            )
    if pressed:
        with st.spinner(words("The passages are being judged…")):
            attempt("imported", lambda: engine.traces.judge([record.id], model).result())
        st.rerun()
