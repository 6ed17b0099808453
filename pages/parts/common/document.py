"""What holds for the whole document: its language, its link past the navigation, and where the keyboard begins."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.common.markup import script

_component = st.components.v2.component("workbench_document", html="<div></div>", js=script("document.js"))


def dress_document(words: Words) -> None:
    """Say the language of the pages to those who hear them, and let the first key go into the question."""
    with st.container(key="document"):
        _component(
            key="document_dressed",
            data={
                "lang": words.declared.html,
                "skip": words("Skip to main content"),
                "first": ".st-key-ask input[type=text]",
            },
        )
