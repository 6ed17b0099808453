"""The page Knowledge: files go in here; collections are looked after, searched and drawn; memory is kept here too."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from engine.api.process import get_engine
from engine.errors import UnknownCollection, WorkbenchError
from engine.model.values import Fault
from engine.roles import CollectionInfo
from pages.parts.common.actions import retry_box
from pages.parts.common.following import opening
from pages.parts.knowledge.add import add_view
from pages.parts.knowledge.collections import collections_view
from pages.parts.knowledge.jobs import jobs_note
from pages.parts.knowledge.search import search_view
from pages.parts.knowledge.state import (
    AddedView,
    added_views,
    chosen_view,
    collection_picker,
    said_last,
    unknown_collection,
)

engine = get_engine()
words: Words = st.session_state["words"]


def page() -> None:
    st.markdown(f"#### {words('Knowledge')}")
    st.caption(
        words("Each collection holds sources, cut into passages and embedded by one model. Runs search one collection.")
    )
    added = added_views(engine, words)
    view = chosen_view(added, words)
    if not engine.ready:
        opening(engine, words)
        return
    said_last(words)
    try:
        if view != "add":
            jobs_note(engine, words)
        collections = engine.collections()
        if unknown := unknown_collection(collections):
            fault_box(Fault.of(UnknownCollection(name=unknown)), words, key="kb_unknown")
        draw(view, added, collections)
    except WorkbenchError as error:
        retry_box(error, words, key="kb_fault")


def draw(view: str, added: Sequence[AddedView], collections: Sequence[CollectionInfo]) -> None:
    match view:
        case "add":
            add_view(engine, collections, words)
        case "collections":
            collections_view(engine, collections, words)
        case "search":
            search_view(engine, collections, words)
        case "map":
            map_view(collections)
        case "graph":
            from pages.parts.knowledge.graph import graph_of_collection

            graph_of_collection(engine, collections, words)
        case "memory":
            from pages.parts.knowledge.memory import memory_view

            memory_view(engine, words)
        case _:
            next(item for item in added if item.name == view).draw()


def map_view(collections: Sequence[CollectionInfo]) -> None:
    from pages.parts.knowledge.passage_map import passage_map

    left, _ = st.columns([1, 2])
    with left:
        info = collection_picker(collections, words)
    if info is not None:
        passage_map(info)


page()
