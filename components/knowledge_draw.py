"""Trees of elements with the looks of the Knowledge page, and cells that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from components.i18n import Words
from components.markup import Node, node, script

_FORMULA = ("=", "+", "-", "@", "\t", "\r")

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


def note_box(look: str, sign: str, text: str, words: Words, *, key: str) -> None:
    """One sentence in a box; looks: ``plain``, ``pass``, ``warn``."""
    icon = node("span", "icon", sign, aria_hidden="true")
    draw_knowledge((node("div", f"box {look}", icon, node("div", "grow", text), role="status"),), words, key=key)


def table_csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """UTF-8 with a byte order mark; cells that begin like a formula are defused."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(head)
    for row in rows:
        table.writerow([_inert(cell) for cell in row])
    # Half a surrogate pair, as broken PDFs bring it, has no UTF-8 form.
    return written.getvalue().encode("utf-8-sig", "replace")


def _inert(cell: str) -> str:
    # Spreadsheets run a cell that begins like a formula; numbers of our own may begin with a minus sign.
    number = cell[1:].replace(".", "", 1).isdigit()
    return f"'{cell}" if cell.startswith(_FORMULA) and not number else cell
