"""The view Other programs of the page System: every way in or out for them, each one card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from components.common.faults import with_code
from components.common.i18n import Words
from components.common.markup import Node, chip, command, node
from components.common.url_state import base_path, own_origin
from components.system.draw import draw_system, fault_nodes
from engine.engine import Engine
from engine.model.values import Fault
from engine.people import signing_in
from engine.plugins import plugins


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text to copy, of one line or several."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Way:
    """One way in or out; all its texts are in the language of the page, code in them stands between backticks."""

    title: str
    on: bool
    said: str
    """One sentence: what it is for."""
    turn_on: str = ""
    """The line that turns it on, such as ``WORKBENCH_METRICS=1``; empty where nothing has to."""
    facts: Sequence[str] = ()
    snippets: Sequence[Snippet] = ()
    """Shown while it is on: before that they would lead to nothing."""
    fault: Fault | None = None
    """What is wrong with it at the moment."""
    install: str = ""
    """The command that installs what it needs; empty where it is installed. Shown alone: nothing else would work."""


def panel(engine: Engine, words: Words) -> None:
    """Draw the HTTP API and what plug-ins bring."""
    st.caption(words("Changes apply at the next start."))
    brought = [(plugin.panels["programs"], plugin.missing) for plugin in plugins() if "programs" in plugin.panels]
    ways = [replace(way(engine, words), install=missing) for way, missing in brought]
    view([http_api(words), *ways], words, key="programs")


def view(ways: Sequence[Way], words: Words, *, key: str) -> None:
    """Draw the cards in their order."""
    draw_system([_card(way, words) for way in ways], words, key=key)


def _card(way: Way, words: Words) -> Node:
    if way.install:
        line = command(way.install, words, words("How to set it up"))
        head = node("div", "head", node("strong", "heading", way.title), chip("grey", words("not installed")))
        return node("section", "card way", head, node("p", "", *with_code(way.said)), line)
    state = chip("pass", words("on")) if way.on else chip("grey", words("off"))
    if way.fault is not None:
        state = chip("fault", words("not working"))
    facts = node("div", "facts muted small", *(node("span", "", *with_code(text)) for text in way.facts))
    below = [command(item.text, words, item.label) for item in way.snippets] if way.on else []
    if not way.on and way.turn_on:
        below.append(command(way.turn_on, words, words("How to set it up")))
    wrong = [node("div", "why", *fault_nodes(way.fault, words))] if way.fault else []
    return node(
        "section",
        "card way",
        node("div", "head", node("strong", "heading", way.title), state),
        node("p", "", *with_code(way.said)),
        facts if way.facts else "",
        *wrong,
        *below,
    )


def http_api(words: Words) -> Way:
    """The API that is always there."""
    address = f"{own_origin()}{base_path()}/api"
    token = ' -H "Authorization: Bearer TOKEN"' if signing_in() else ""
    question = words("When does a connected graph have an Euler circuit?")
    asked = f"""curl -H "Content-Type: application/json"{token} {address}/runs -d '{{"question": "{question}"}}'"""
    return Way(
        title="HTTP API",
        on=True,
        said=words("Programs can do what these pages do."),
        facts=(f"`{address}/openapi.json`",),
        snippets=(Snippet(words("Ask a question"), asked),),
    )
