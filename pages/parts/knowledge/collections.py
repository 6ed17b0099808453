"""The view Collections: all of them as rows, and the chosen one with its facts, what can be done, and its sources."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.controls import narrowing
from components.common.embedding_facts import family
from components.common.faults import fault_box
from components.common.i18n import Words
from components.knowledge.collection_cards import (
    SAMPLES,
    Addition,
    advice_note,
    collection_card,
    collection_table,
    matching,
)
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.library.values import GrowthAdvice
from engine.messages import NC_
from engine.plugins import panels
from engine.roles import CollectionInfo
from pages.parts.common.next_step import clear, next_step
from pages.parts.common.remembered import remembered
from pages.parts.common.rights import may
from pages.parts.knowledge.dialogs import NEEDED, Action, actions_of, label_of, open_dialog
from pages.parts.knowledge.sources import sources_panel
from pages.parts.knowledge.state import NO_COLLECTION, add_files_step, added_views, choose, chosen_collection, go_to
from pages.parts.knowledge.target import embedding_models

_MANY = 8
"""From so many collections on they can be filtered."""
_ICONS: dict[Action, str] = {
    "rename": "edit",
    "alias": "label",
    "describe": "notes",
    "reembed": "cached",
    "full_text": "manage_search",
    "prefix": "short_text",
    "limit": "lock",
    "drop": "delete",
}


def collections_view(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw the rows and the chosen collection."""
    info = chosen_collection(collections)
    if info is None:
        add_files_step(words(NO_COLLECTION), words, key="kb_none_add")
        return
    if all(item.name == SAMPLES for item in collections) and may("editor"):
        _only_samples(engine, words)
    shown = _narrowed(collections, words)
    unusable = {item.name for item in collections if not usable(engine, item)}
    if not shown:
        clearing = clear("kb_find_collection")
        label = words("Clear the filter")
        next_step(words("No collection matches."), label, "filter_alt_off", key="kb_find_clear", does=clearing)
    else:
        pressed = collection_table(shown, words, key="kb_collections", chosen=info.name, unusable=unusable)
        if pressed is not None and pressed != info.name:
            choose(pressed)
    _one(engine, info, info.name not in unusable, words)


def usable(engine: Engine, info: CollectionInfo) -> bool:
    """Whether questions to a collection can be embedded now: Ollama's models may be gone, the bundled ones stay."""
    if family(info.embedding_model) != "ollama":
        return True
    known = {item.model: item.available for item in embedding_models(engine)}
    # What no one listed may be there all the same: asking is what tells.
    return known.get(info.embedding_model, not known)


def _only_samples(engine: Engine, words: Words) -> None:
    views = added_views(engine, words)
    invitation = next((view.invitation for view in views), words("Only the samples are here so far."))
    with st.container(horizontal=True, vertical_alignment="center", key="kb_only_samples"):
        st.caption(invitation, width="content")
        if may("editor") and st.button(
            words("Add files"), icon=":material/add:", type="tertiary", key="kb_samples_add"
        ):
            go_to("add")
        for view in views:
            key = f"kb_samples_{view.name}"
            if st.button(view.label, icon=f":material/{view.icon}:", type="tertiary", key=key):
                go_to(view.name)


def _narrowed(collections: Sequence[CollectionInfo], words: Words) -> list[CollectionInfo]:
    if len(collections) < _MANY:
        return list(collections)
    return matching(collections, narrowing(words("Filter collections"), key="kb_find_collection"))


def _one(engine: Engine, info: CollectionInfo, is_usable: bool, words: Words) -> None:
    with st.container(key="kb_one"):
        advice = _advice(engine, info)
        if advice is not None:
            advice_note(advice, words, key="kb_advice")
        server = bool(engine.settings.milvus_uri)
        added = _added(engine, info, words)
        facts = [item.fact(info) for item in added]
        collection_card(info, words, key="kb_facts", server=server, usable=is_usable, added=facts)
        _actions(engine, info, added, words)
        if info.fault is not None:
            if fault_box(info.fault, words, key="kb_unreadable", actions=(("again", words("Try again")),)):
                st.rerun()
            return
        st.markdown(f"##### {words('Sources')}")
        sources_panel(engine, info, words)


def _advice(engine: Engine, info: CollectionInfo) -> GrowthAdvice | None:
    def ask() -> GrowthAdvice | None:
        try:
            return engine.library.advice(info.name)
        except WorkbenchError:
            # The facts of the collection say what is wrong with it.
            return None

    return remembered("kb_advice", (engine.instance, info.name, info.passages), ask)


def _added(engine: Engine, info: CollectionInfo, words: Words) -> list[Addition]:
    found = (panel(engine, words) for panel in panels("collection"))
    return [item for item in found if item is not None and item.suits(info)]


def _actions(engine: Engine, info: CollectionInfo, added: Sequence[Addition], words: Words) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="kb_actions"):
        if st.button(words(NC_("knowledge", "Ask it")), icon=":material/account_tree:", type="primary", key="kb_ask"):
            st.switch_page("workbench.py", query_params={"collection": info.name})
        if st.button(words("Search in it"), icon=":material/search:", key="kb_search_in"):
            go_to("search", info.name)
        open_to = not info.read_only and may("editor")
        if open_to and st.button(words("Add files"), icon=":material/add:", key="kb_add_to"):
            st.session_state["kb_into"] = info.name
            go_to("add", info.name)
        for action in actions_of(info, added):
            if isinstance(action, Addition):
                name, icon = action.name, action.icon
            else:
                name, icon = action, _ICONS[action]
            if not may(NEEDED.get(name, "admin")):
                continue
            label = label_of(action, words)
            if st.button(label, icon=f":material/{icon}:", type="tertiary", key=f"kb_do_{name}"):
                open_dialog(action, engine, info, words)
