"""What holds for the whole document: its language, its link past the navigation, its history, where keys begin."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.common.inline import component, script

_component = component("document", html="<div></div>", js=script("history.js", "document.js"))


def dress_document(words: Words) -> None:
    """Say the language of the pages to those who hear them, and let the first key go into the question.

    *Back* leads to another page, or one with another value of ``steps``.
    """
    with st.container(key="document"):
        _component(
            key="document_dressed",
            data={
                "lang": words.declared.html,
                "skip": words("Skip to main content"),
                "steps": ["run", "view"],
                "first": ".st-key-ask input[type=text]",
            },
        )
