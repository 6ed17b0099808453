"""Trees of elements with the looks of the page System; the browser sets every text as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from components.common.faults import with_code
from components.common.i18n import Words
from components.common.markup import Node, copy_button, node, script
from components.common.phrases import fault_text
from engine.model.values import Fault

_component = st.components.v2.component(
    "workbench_system",
    html='<div class="wb system"></div>',
    css=script("tokens.css", "markup.css", "system.css"),
    js=script("dom.js", "answer_live.js", "markup.js"),
)


def draw_system(nodes: Sequence[Node], words: Words, *, key: str) -> str | None:
    """Draw trees one below the other; returns the action of the button pressed in this rerun, if any."""
    result = _component(
        key=key,
        data={"lang": words.html_language, "nodes": [item.plain() for item in nodes]},
        on_action_change=lambda: None,
    )
    action = result.action
    return str(action["name"]) if isinstance(action, Mapping) else None


def figure(label: str, value: str, note: str = "", look: str = "") -> Node:
    """One of the figures of a row: what it is, the number, and what to make of it."""
    return node(
        "div",
        "figure",
        node("div", "label", label),
        node("div", f"value num {look}".strip(), value),
        node("div", "note", note),
    )


def table(head: Sequence[str], rows: Sequence[Sequence[Node | str]], look: str = "") -> Node:
    """A table whose rows become cards on a narrow page; an empty heading leaves a cell of a card without a label."""
    heads = node("tr", "", *(node("th", "", title, scope="col") for title in head))
    lines = (
        node("tr", "", *(node("td", "", kid, data_label=title) for title, kid in zip(head, row, strict=True)))
        for row in rows
    )
    return node("table", f"sheet {look}".strip(), node("thead", "", heads), node("tbody", "", *lines))


def command(text: str, words: Words, label: str = "") -> Node:
    """A line to type, with a button that copies it; ``label`` says where or what for."""
    line = node("div", "command", node("code", "", text), copy_button(words, text))
    return node("div", "step", node("div", "small muted", label), line) if label else line


def fault_nodes(fault: Fault, words: Words) -> tuple[Node, ...]:
    """What happened and what to do, with the command that does it where the fault names one."""
    fact, remedy = fault_text(fault, words)
    typed = fault.params.get("command", "")
    said = (
        node("p", "", node("strong", "", fact), " ", node("span", "muted small", fault.code)),
        node("p", "", *with_code(remedy)),
    )
    return (*said, command(typed, words)) if typed else said


def gauge(share: float, label: str, *, moving: bool = False) -> Node:
    """A bar of progress; ``moving`` where no one knows how much there is to do."""
    percent = f"{100 * min(1.0, max(0.0, share)):.1f}"
    return node(
        "div",
        "meter moving" if moving else "meter",
        node("i", "", data_fill=f"{percent}%"),
        role="progressbar",
        aria_valuemin="0",
        aria_valuemax="100",
        aria_valuenow="" if moving else f"{float(percent):.0f}",
        aria_label=label,
    )
