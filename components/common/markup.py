"""Small trees of elements that a component of our own draws: the browser sets every text as text, never as markup."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from components.common.i18n import Words
from components.common.inline import component, script
from engine.messages import N_
from engine.model.values import PassageId
from engine.roles import StoredPassage

OPEN = "open:"
"""What the press of a citation begins with; the passage's id follows."""


@dataclass(frozen=True, slots=True)
class Node:
    """One element: a tag and attributes of the short lists in ``assets/build.js``, and children."""

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


_offered: Callable[[str], bool] = bool


def offer(offered: Callable[[str], bool]) -> None:
    """Let ``offered`` say of each action whether its button is drawn; by itself all are."""
    global _offered  # noqa: PLW0603 - what may be pressed is for the pages to say, and for all of them equally
    _offered = offered


def button(label: str, action: str, look: str = "button") -> Node:
    """A button whose press :func:`draw` returns as ``action``; nothing where that is not offered."""
    if not _offered(action):
        return node("span", "")
    return node("button", look, label, data_action=action)


def copy_button(words: Words, text: str, label: str = "") -> Node:
    """A button that puts ``text`` on the clipboard and says so."""
    return node("button", "button quiet", label or words("Copy"), data_copy=text, data_done=words("Copied"))


def fold(name: str, label: Node | str, *kids: Node | str, look: str = "") -> Node:
    """A part that opens at a press; ``name`` tells it from the others of its tree, which keeps it open in a redraw."""
    return node("details", f"fold {look}".strip(), node("summary", "", label), *kids, data_fold=name)


def figure(label: str, value: str, note: str = "", *, look: str = "", note_look: str = "", title: str = "") -> Node:
    """One of the figures of a row: what it is, the number, and what to make of it."""
    return node(
        "div",
        "figure",
        node("div", "label", label),
        node("div", f"value num {look}".strip(), value),
        node("div", f"note {note_look}".strip(), note),
        title=title,
    )


def box(look: str, sign: str, *said: Node | str, aside: Sequence[Node] = (), role: str = "") -> Node:
    """A box that says something; looks: ``pass``, ``warn``, ``fault``, ``plain``. Without a ``sign`` it has no icon."""
    icon = node("span", "icon", sign, aria_hidden="true") if sign else ""
    role = role or ("alert" if look == "fault" else "status")
    return node("div", f"box {look}", icon, node("div", "grow", *said), *aside, role=role)


def table(look: str, head: Sequence[str], rows: Iterable[Sequence[Node | str]], numbers: Collection[int] = ()) -> Node:
    """A table whose rows become cards on a narrow page; an empty heading leaves a cell of a card without a label.

    ``numbers`` are the places of columns that hold numbers.
    """
    columns = [(title, "num" if place in numbers else "") for place, title in enumerate(head)]
    lines = (
        node("tr", "", *(node("td", of, kid, data_label=title) for (title, of), kid in zip(columns, row, strict=True)))
        for row in rows
    )
    heads = node("tr", "", *(node("th", "", title, scope="col") for title in head))
    return node("table", look, node("thead", "", heads), node("tbody", "", *lines))


def filled(share: float) -> str:
    """The part of a bar that stands for a share."""
    return f"{100 * min(1.0, max(0.0, share)):.1f}%"


def gauge(share: float, label: str, *, moving: bool = False, look: str = "meter") -> Node:
    """A bar of progress; ``moving`` where no one knows how much there is to do."""
    return node(
        "div",
        f"{look} moving" if moving else look,
        node("i", "", data_fill=filled(share)),
        role="progressbar",
        aria_valuemin="0",
        aria_valuemax="100",
        aria_valuenow="" if moving else f"{100 * min(1.0, max(0.0, share)):.0f}",
        aria_label=label,
    )


def command(text: str, words: Words, label: str = "") -> Node:
    """A line to type, with a button that copies it; ``label`` says where or what for."""
    line = node("div", "command", node("code", "", text), copy_button(words, text))
    return node("div", "step", node("div", "small muted", label), line) if label else line


def opened_passage(pressed: str | None) -> PassageId | None:
    """The passage that a pressed citation asks for; None for any other press."""
    return PassageId(pressed.removeprefix(OPEN)) if pressed and pressed.startswith(OPEN) else None


class Drawer:
    """Draws trees one below the other, with style sheets on top of those of every page; ``look`` is a class of all."""

    def __init__(self, name: str, *sheets: str, look: str = "") -> None:
        self._component = component(
            name,
            html=f'<div class="{f"wb {look}".strip()}"></div>',
            css=script("tokens.css", "markup.css", *sheets),
            js=script("dom.js", "answer_live.js", "build.js", "markup.js"),
        )

    def __call__(self, nodes: Sequence[Node], words: Words, *, key: str) -> str | None:
        """Draw the trees; returns the action of the button pressed in this rerun, if any."""
        data = {"lang": words.declared.html, "nodes": [item.plain() for item in nodes]}
        return pressed_once(self._component(key=key, data=data, on_action_change=nothing).action, key)


def pressed_once(action: Any, key: str) -> str | None:
    """The name of the action that the browser sent to the component under ``key``; None where it was heard before."""
    if not isinstance(action, Mapping):
        return None
    # A press counts once, however often it is delivered; its serial number tells it from the next one.
    last = f"{key}_serial"
    if st.session_state.get(last) == action.get("serial"):
        return None
    st.session_state[last] = action.get("serial")
    return str(action["name"])


def nothing() -> None:
    """A value or a trigger exists on a component's result only where a callback is named."""


draw = Drawer("markup", "loops.css", "attachments.css")


CONTEXT = N_("Context: not part of the passage's own text")


WRITTEN = N_("Context by {model}: {text}")


def continued(passage: StoredPassage, words: Words, writer: str = "") -> tuple[Node, ...]:
    """What a passage continues (header row, term, items above it), and the sentence that ``writer`` wrote for it."""
    written = words(WRITTEN, model=writer, text=passage.written) if passage.written else ""
    shown = (passage.context, written)
    return tuple(node("p", "own-text muted small", line, title=words(CONTEXT)) for line in shown if line)
