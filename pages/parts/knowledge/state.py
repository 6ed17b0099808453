"""Shared state of the Knowledge page's views: the view, the chosen collection, the last action's result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from components.common.i18n import Words
from components.common.url_state import put_into_url, take_from_url
from components.knowledge.draw import note_box
from engine.engine import Engine
from engine.messages import N_, NC_
from engine.people import Role
from engine.plugins import panels
from engine.roles import CollectionInfo
from pages.parts.common import actions, views
from pages.parts.common.actions import next_step
from pages.parts.common.rights import may

View = Literal["add", "collections", "search", "map", "graph", "memory"]
VIEW_NAMES: dict[View, str] = {
    "collections": NC_("knowledge", "Collections"),
    "add": N_("Add files"),
    "search": NC_("knowledge", "Search"),
    "graph": N_("Graph"),
    "map": N_("Map"),
    "memory": N_("Memory"),
}

NO_COLLECTION = N_("No collection yet. Add files to make one.")
FOR_GOOD = N_("Delete for good? Records of runs keep what they saw.")
_NEEDED: Mapping[View, Role] = {"add": "editor"}
"""The roles that views need which do nothing but change something."""
_CHOSEN = "kb_collection"
_ASKED = "collection"
"""Session key of the collection that the next question searches."""
_ADDRESS = "collection"
_FORMERLY = "kb_collection"
"""What stands for it in older links."""
_PICK = "kb_pick"
_UNKNOWN = "kb_unknown"
_SAID = "kb_said"
_AREA = "kb_press"
_NOTE_S = 8.0
"""How long a note stands: the page may be drawn again for another reason at once."""


@dataclass(frozen=True, slots=True)
class AddedView:
    """A view for admins that a plug-in adds, in the language of the page."""

    name: str
    """In the address."""
    label: str
    draw: Callable[[], None]


SAMPLES = "samples"
"""Name of the collection that ships with the workbench."""


@dataclass(frozen=True, slots=True)
class Addition:
    """A dialog for admins and a fact of a collection, which a plug-in adds, in the language of the page."""

    name: str
    label: str
    """Of the button."""
    icon: str
    dialog: Callable[[CollectionInfo], None]
    fact: Callable[[CollectionInfo], tuple[str, str]] = lambda _: ("", "")
    """Its label and what it says; empty where there is nothing to say."""
    suits: Callable[[CollectionInfo], bool] = lambda info: not info.read_only
    """Which collections it is for; by itself for all that can be changed here."""


def added_views(engine: Engine, words: Words) -> list[AddedView]:
    """The views of plug-ins; none for people who are not admins."""
    return [panel(engine, words) for panel in panels("knowledge")] if may("admin") else []


def chosen_view(added: Sequence[AddedView], words: Words) -> str:
    """Draw the choice of views, which the address holds as ``view``."""
    shown: dict[str, str] = {name: words(text) for name, text in VIEW_NAMES.items() if may(_NEEDED.get(name, "viewer"))}
    return views.chosen_view("knowledge", words("View"), shown | {view.name: view.label for view in added})


def aim_at(view: str, collection: str = "") -> None:
    """Let the next run of the page show another view, with a collection chosen."""
    views.aim_at("knowledge", view)
    if collection:
        _picked(collection)


def go_to(view: str, collection: str = "") -> None:
    """Show another view, with a collection chosen; ends this run of the page."""
    aim_at(view, collection)
    st.rerun()


def unknown_collection(collections: Sequence[CollectionInfo]) -> str:
    """Return the unknown collection in the address until another is chosen; empty if there is none."""
    known = {name for info in collections for name in (info.name, *info.aliases)}
    given = st.query_params.get(_ADDRESS) or st.query_params.get(_FORMERLY) or ""
    if given and given not in known:
        st.session_state[_UNKNOWN] = given
    return str(st.session_state.get(_UNKNOWN, ""))


def _picked(name: str) -> None:
    st.session_state[_CHOSEN] = name
    st.session_state.pop(_UNKNOWN, None)


def chosen_collection(collections: Sequence[CollectionInfo]) -> CollectionInfo | None:
    """The one that the address names, by its name or an alias; else that of the next question, or the first.

    None where there are none.
    """
    named = {alias: info for info in collections for alias in info.aliases}
    named |= {info.name: info for info in collections}
    if not collections:
        return None
    asked = str(st.session_state.get(_ASKED) or "")
    usual = named[asked].name if asked in named else collections[0].name
    if _FORMERLY in st.query_params and _ADDRESS not in st.query_params:
        st.query_params[_ADDRESS] = st.query_params.pop(_FORMERLY)
    name = take_from_url(_ADDRESS, usual, lambda given: given in named, key=_CHOSEN)
    if name not in named:
        name = usual
    info = named[name]
    st.session_state[_CHOSEN] = info.name
    put_into_url(_ADDRESS, info.name, "", key=_CHOSEN)
    return info


def add_files_step(text: str, words: Words, *, key: str, info: CollectionInfo | None = None) -> None:
    """Show what will stand here and how to add files, into ``info`` if given."""
    offered = may("editor") and (info is None or not info.read_only)
    if next_step(text, words("Add files"), "add", key=key, offered=offered):
        go_to("add", info.name if info is not None else "")


def choose(name: str) -> None:
    """Choose a collection and draw the page again."""
    _picked(name)
    st.rerun()


def collection_picker(
    collections: Sequence[CollectionInfo], words: Words, width: int | Literal["stretch"] = "stretch"
) -> CollectionInfo | None:
    """A select box of the collections."""
    info = chosen_collection(collections)
    if info is None:
        return None
    sizes = {item.name: item.passages for item in collections}
    st.session_state[_PICK] = info.name

    def picked() -> None:
        _picked(st.session_state[_PICK])

    st.selectbox(
        words("Collection"),
        list(sizes),
        format_func=lambda name: sized(name, sizes.get(name, 0), words),
        key=_PICK,
        on_change=picked,
        width=width,
    )
    return info


def sized(name: str, passages: int, words: Words) -> str:
    """A collection with the number of its passages."""
    return f"{name} · {words.count('1 passage', '{n} passages', passages)}"


def say(text: str) -> None:
    """Tell what a press did, at the top of the page, for some seconds; ``text`` may hold anybody's words."""
    st.session_state[_SAID] = (text, time.monotonic() + _NOTE_S)


def attempt(work: Callable[[], object], said: str = "") -> bool:
    """Do what a press asked for; what speaks against it is shown at the top of the page. False where it failed."""
    done = actions.run_action(_AREA, work)
    if done and said:
        say(said)
    return done


def said_last(words: Words) -> None:
    """Draw what the last press did, or why it could not."""
    actions.say_fault(_AREA, words)
    text, until = st.session_state.get(_SAID, ("", 0.0))
    if text and time.monotonic() < until:
        note_box("pass", "✓", text, words, key="kb_said_note")
