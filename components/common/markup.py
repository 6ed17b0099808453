"""Small trees of elements that a component of our own draws: the browser sets every text as text, never as markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from components.common.i18n import Words

_ASSETS = Path(__file__).parents[1] / "assets"


@dataclass(frozen=True, slots=True)
class Node:
    """One element: a tag and attributes of the short lists in ``assets/markup.js``, and children."""

    tag: str
    attrs: Mapping[str, str] = field(default_factory=dict)
    kids: tuple[Node | str, ...] = ()

    def plain(self) -> list[Any]:
        """The JSON that the browser builds elements from: ``[tag, attributes, children]``."""
        return [self.tag, dict(self.attrs), [kid if isinstance(kid, str) else kid.plain() for kid in self.kids]]

    @property
    def text(self) -> str:
        """All words of the tree, in reading order."""
        return " ".join(part for kid in self.kids if (part := kid if isinstance(kid, str) else kid.text))


def node(tag: str, look: str = "", *kids: Node | str, **attrs: str) -> Node:
    """An element; ``look`` is its class, underscores of attribute names become hyphens (``aria_label``)."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attrs.items() if value}
    return Node(tag, {"class": look, **named} if look else named, tuple(kid for kid in kids if kid != ""))


def chip(look: str, text: str, title: str = "") -> Node:
    """A rounded label; looks: ``pass``, ``warn``, ``grey``, ``fault``, ``accent``, ``plain``."""
    return node("span", f"chip {look}", text, title=title)


def button(label: str, action: str, look: str = "button") -> Node:
    """A button whose press :func:`draw` returns as ``action``."""
    return node("button", look, label, data_action=action)


def copy_button(words: Words, text: str, label: str = "") -> Node:
    """A button that puts ``text`` on the clipboard and says so."""
    return node("button", "button quiet", label or words("Copy"), data_copy=text, data_done=words("Copied"))


def fold(name: str, label: Node | str, *kids: Node | str, look: str = "") -> Node:
    """A part that opens at a press; ``name`` tells it from the others of its tree, which keeps it open in a redraw."""
    return node("details", f"fold {look}".strip(), node("summary", "", label), *kids, data_fold=name)


def script(*names: str) -> str:
    """Files of ``components/assets`` joined in order: the source of an inline component."""
    return "\n".join((_ASSETS / name).read_text(encoding="utf-8") for name in names)


_component = st.components.v2.component(
    "workbench_markup",
    html='<div class="wb"></div>',
    css=script("tokens.css", "markup.css", "loops.css"),
    js=script("dom.js", "answer_live.js", "markup.js"),
)


def draw(nodes: Sequence[Node], words: Words, *, key: str) -> str | None:
    """Draw the trees one below the other; returns the action of the button pressed in this rerun, if any."""
    result = _component(
        key=key,
        data={"lang": words.html_language, "nodes": [item.plain() for item in nodes]},
        on_action_change=lambda: None,
    )
    action = result.action
    # A trigger carries a serial number besides: the same button pressed twice must be two events.
    return str(action["name"]) if isinstance(action, Mapping) else None
