"""The page Knowledge: what collections hold, files that go in, a search, the graph, a map and memory."""

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
from pages.parts.knowledge import add, collections, jobs, search
from pages.parts.knowledge.state import AddedView, added_views, chosen_view, said_last, unknown_collection

engine = get_engine()
words: Words = st.session_state["words"]


def page() -> None:
    st.markdown(f"#### {words('Knowledge')}")
    added = added_views(engine, words)
    view = chosen_view(added, words)
    if not engine.ready:
        opening(engine, words)
        return
    said_last(words)
    try:
        if view != "add":
            jobs.note(engine, words)
        found = engine.collections()
        if unknown := unknown_collection(found):
            fault_box(Fault.of(UnknownCollection(name=unknown)), words, key="kb_unknown")
        draw(view, added, found)
    except WorkbenchError as error:
        retry_box(error, words, key="kb_fault")


def draw(view: str, added: Sequence[AddedView], found: Sequence[CollectionInfo]) -> None:
    match view:
        case "collections":
            collections.panel(engine, found, words)
        case "add":
            add.panel(engine, found, words)
        case "search":
            search.panel(engine, found, words)
        case "map":
            from pages.parts.knowledge import passage_map

            passage_map.panel(engine, found, words)
        case "graph":
            from pages.parts.knowledge import graph

            graph.panel(engine, found, words)
        case "memory":
            from pages.parts.knowledge import memory

            memory.panel(engine, words)
        case _:
            next(item for item in added if item.name == view).draw()


page()
