"""Questions to try, each saying what kind of run it makes."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.i18n import Words
from engine.messages import N_, NC_

_SAMPLE = {
    "sources": NC_("question", "asks for several kinds of sources"),
    "direct": N_("needs no search"),
    "overview": N_("asks for an overview"),
    "multi_hop": N_("The answer joins two passages that only an entity ties together"),
    "plain": N_("answers at once"),
    "rewrite": N_("needs a rewrite"),
    "vague": N_("vague"),
    "unanswerable": N_("not in the collection"),
}

_KINDS = {
    "plain": "plain",
    "paraphrase": "rewrite",
    "two_hop": "rewrite",
    "vague": "vague",
    "unanswerable": "unanswerable",
    "sources": "sources",
    "overview": "overview",
    "direct": "direct",
    "multi_hop": "multi_hop",
}


def sample_buttons(questions: Sequence[tuple[str, str]], words: Words, *, disabled: bool = False) -> str | None:
    """Draw (question, kind) pairs as buttons in a row and return the question of the one pressed."""
    picked = None
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="samples"):
        st.caption(words("Try one:"), width="content")
        for place, (question, kind) in enumerate(questions):
            hint = words(_SAMPLE[_KINDS.get(kind, "plain")])
            if st.button(question, key=f"sample_{place}", help=hint, type="secondary", disabled=disabled):
                picked = question
    return picked
