"""A text with one button that copies it: by the clipboard, else the old way, else it is selected for Ctrl+C."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.common.markup import script

_component = st.components.v2.component(
    "workbench_copy_text",
    html='<div class="wb"></div>',
    css=script("tokens.css", "copy_text.css"),
    js=script("dom.js", "copy_text.js"),
)


def copy_text(text: str, words: Words, *, key: str) -> None:
    """Draw the button and, below it, the text as it is: never as markup."""
    said = {
        "copy": words("Copy the diagnosis"),
        "copied": words("Copied"),
        "select": words("This browser does not allow copying. The text is selected: press Ctrl+C."),
        "preview": words("The text that is copied"),
    }
    _component(key=key, data={"lang": words.html_language, "text": text, "words": said})
