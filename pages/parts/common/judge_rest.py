"""Judging here what another program left ungraded: which grader, at what price, and one press."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.i18n import Words
from engine.engine import Engine
from engine.model.config import BUILTIN, RoleModel
from engine.model.values import RunRecord
from engine.traces.judging import price_of
from pages.parts.common.presses import attempt, say_fault
from pages.parts.common.rights import may


def judge_rest(engine: Engine, records: Sequence[RunRecord], words: Words, *, key: str, set_name: str = "") -> None:
    """Draw the offer where imported runs have passages without a verdict; nothing else is drawn."""
    say_fault(key, words)
    passages = price_of(records, RoleModel()).passages
    if not passages or not may("editor"):
        return
    with st.container(key=f"{key}_judge", horizontal=True, vertical_alignment="bottom", gap="small"):
        names = [BUILTIN, *(f"ollama:{item.name}" for item in engine.ollama().models if item.chats)]
        chosen = st.selectbox(
            words("Judge with"),
            names,
            format_func=lambda name: words("the built-in grader") if name == BUILTIN else name,
            key=f"{key}_grader",
            width=240,
        )
        model = RoleModel(str(chosen))
        calls = price_of(records, model).calls
        pressed = st.button(
            words.count("Judge 1 passage", "Judge {n} passages", passages),
            icon=":material/fact_check:",
            key=f"{key}_judge_go",
        )
        st.caption(
            words.count("1 call of this model", "{n} calls of this model", calls)
            if calls
            else words("Costs no model call."),
        )
    if pressed:
        ids = [record.id for record in records]
        with st.spinner(words("The passages are being judged…")):
            attempt(key, lambda: engine.traces.judge(ids, model, set_name=set_name).result())
        st.rerun()
