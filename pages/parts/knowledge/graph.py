"""The view Graph: the knowledge graph of a collection, how it is built, and the ways to look into it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.knowledge.graph_card import graph_card
from engine.engine import Engine
from engine.roles import CollectionInfo
from pages.parts.knowledge.graph_build import build_panel, follow_job, graph_actions
from pages.parts.knowledge.graph_look import look_into
from pages.parts.knowledge.state import NO_COLLECTION, add_files_step, collection_picker


def graph_of_collection(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw the choice of a collection and all there is to its graph."""
    left, _ = st.columns([1, 2])
    with left:
        info = collection_picker(collections, words)
    if info is None:
        add_files_step(words(NO_COLLECTION), words, key="kg_none_add")
        return
    if info.fault is not None:
        fault_box(info.fault, words, key="kg_unreadable")
        return
    state = engine.graphs.describe(info.name)
    if state is None:
        build_panel(engine, info, words)
        return
    graph_card(state, words, key="kg_card")
    if state.job is not None:
        follow_job(engine, state.job, words)
    if state.job is None or state.job.over:
        graph_actions(engine, info, state, words)
    if state.info.entities:
        look_into(engine, info, state.info, words)
    elif state.info.finished:
        st.info(words("Nothing that could be an entity was found in the passages. Try a chat model as the reader."))
