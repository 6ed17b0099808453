"""The view Diagnosis of the page System: one text with everything that helps, and a button that copies it."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.controls import download
from components.common.i18n import Words
from components.common.inline import component, script
from engine.engine import Engine
from pages.parts.system.state import again_button
from pages.parts.system.work import draw_fault, looked, until

_OLD_S = 30.0
_component = component(
    "copy_text",
    html='<div class="wb"></div>',
    css=script("tokens.css", "copy_text.css"),
    js=script("dom.js", "copy_text.js"),
)


def panel(engine: Engine, words: Words, bar: DeltaGenerator) -> None:
    """Draw the newest diagnosis; ``bar`` takes the button that makes another."""
    st.caption(
        words(
            "Versions, parts, models, settings and recent errors, for whoever helps you. No secrets, questions or "
            "texts; read it before you send it."
        )
    )
    found = looked("diagnosis", engine.host.diagnosis, fresh=again_button(words, bar), most_s=_OLD_S)
    draw_fault(found, words, key="diagnosis_fault")
    if found.value is not None:
        view(found.value, words, key="diagnosis")
    until(found)


def view(text: str, words: Words, *, key: str) -> None:
    """Draw the buttons and, between them, the text as it is: never as markup."""
    said = {
        "copy": words("Copy"),
        "copied": words("Copied"),
        "select": words("This browser does not allow copying. The text is selected: press Ctrl+C."),
        "preview": words("Diagnosis"),
    }
    _component(key=key, data={"lang": words.declared.html, "text": text, "words": said})
    download(words("Download"), text.encode(), "diagnosis.md", key=f"{key}_download", type="tertiary")
