"""Which collection a page without a panel of settings searches: that of the next question, named in the address."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.i18n import Words
from components.common.panel import COLLECTION_NAME
from components.common.url_state import begin_here, moved_here
from components.common.widgets import collection_picker
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import RunRecord


def searched_collection(engine: Engine, words: Words, records: Sequence[RunRecord], named_by: str) -> str:
    """Draw the choice; an address that names runs (as ``named_by``) and no collection brings theirs along."""
    shown, named = f"{named_by}_shown", st.query_params.get(named_by)
    came = moved_here() or st.session_state.get(shown) != named
    st.session_state[shown] = named
    if records and came and named and "collection" not in st.query_params:
        begin_here()
        st.session_state["collection"] = records[0].config.collection
    try:
        sizes = {item.name: item.passages for item in engine.collections()} if engine.ready else {}
    except WorkbenchError:
        # A run says for itself what it could not reach.
        sizes = {}
    usual = RunConfig().collection
    return collection_picker(words, sizes, usual, lambda name: COLLECTION_NAME.fullmatch(name) is not None)
