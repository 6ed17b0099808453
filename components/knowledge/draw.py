"""Trees of elements with the looks of the Knowledge page; the browser sets every text as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, node, script

_component = st.components.v2.component(
    "workbench_knowledge",
    html='<div class="wb knowledge"></div>',
    css=script("tokens.css", "markup.css", "loops.css", "knowledge.css"),
    js=script("dom.js", "answer_live.js", "markup.js"),
)


def draw_knowledge(nodes: Sequence[Node], words: Words, *, key: str) -> str | None:
    """Draw trees one below the other; returns the action of the button pressed in this rerun, if any."""
    result = _component(
        key=key,
        data={"lang": words.html_language, "nodes": [item.plain() for item in nodes]},
        on_action_change=lambda: None,
    )
    action = result.action
    if not isinstance(action, Mapping):
        return None
    # A press counts once, however often it is delivered.
    last = f"{key}_serial"
    if st.session_state.get(last) == action.get("serial"):
        return None
    st.session_state[last] = action.get("serial")
    return str(action["name"])


def quiet(text: str, words: Words, *, key: str) -> None:
    """A line in small grey letters, as a caption is, for text that may hold anybody's words."""
    draw_knowledge((node("div", "muted small", text),), words, key=key)


def note_box(look: str, sign: str, text: str, words: Words, *, key: str) -> None:
    """One sentence in a box; looks: ``plain``, ``pass``, ``warn``."""
    icon = node("span", "icon", sign, aria_hidden="true")
    draw_knowledge((node("div", f"box {look}", icon, node("div", "grow", text), role="status"),), words, key=key)
