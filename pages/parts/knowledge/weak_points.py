"""The part History of the view Memory: weak points that runs noted, their switch, and deleting them."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from components.common.controls import page_of
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.url_state import base_path
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.knowledge.weak_points import WeakPoint
from engine.messages import N_
from engine.model.values import Fault
from pages.parts.common.next_step import next_step
from pages.parts.common.rights import may

_WHY = {
    "refused": N_("{date} · there was no answer"),
    "forced": N_("{date} · answered below the bar"),
    "unhelpful": N_("{date} · the answer was judged unhelpful"),
}

_A_PAGE = 20


def weak_points_view(engine: Engine, words: Words) -> None:
    """The history of one collection: what it is, its switch, and its entries."""
    st.caption(
        words(
            "A question that was refused, answered below the bar or judged unhelpful is noted here with its day. The "
            "quality-control loop searches it as dated history; no answer is ever written from it. Batches, sweeps, "
            "branches, races and evaluations add nothing."
        )
    )
    try:
        names = [item.name for item in engine.collections() if not item.read_only]
        found = engine.weak_points.list()
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="history_fault")
        return
    # Entries of a collection that is gone are listed too: they could not be deleted otherwise.
    every = list(dict.fromkeys([*(item.collection for item in found), *names]))
    if not every:
        return
    with st.container(key="history_bar", horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(words("Collection"), every, key="history_collection", width=280)
        _switch(engine, words, chosen)
    own = [item for item in found if item.collection == chosen]
    if not own:
        _nothing_noted(engine, words, chosen)
        return
    for item in page_of(own, _A_PAGE, key="history_page"):
        _entry(engine, words, item)


def _nothing_noted(engine: Engine, words: Words, collection: str) -> None:
    if engine.weak_points.is_on(collection):
        st.info(words("No weak points are noted for this collection."))
        label, named = words("Ask a question"), {"collection": collection}
        st.page_link("workbench.py", label=label, icon=":material/account_tree:", query_params=named)
        return
    next_step(
        words("Nothing is noted for this collection, and noting is off."),
        words("Note weak points"),
        "toggle_on",
        key="history_begin",
        offered=may("admin"),
        does=lambda: engine.weak_points.switch(collection, on=True),
    )


def _switch(engine: Engine, words: Words, collection: str) -> None:
    key = f"history_on_{collection}"
    # As stored, every time: it may have been switched in another tab, and only a press here may switch it back.
    st.session_state[key] = engine.weak_points.is_on(collection)
    st.toggle(
        words("Note weak points"),
        help=words("On for your own collections, off for the samples, until you switch it."),
        key=key,
        disabled=not may("admin"),
        on_change=_switched,
        args=(engine, collection),
    )


def _switched(engine: Engine, collection: str) -> None:
    engine.weak_points.switch(collection, on=bool(st.session_state[f"history_on_{collection}"]))


def _entry(engine: Engine, words: Words, item: WeakPoint) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key=f"weak_{item.id}"):
        with st.container():
            st.text(item.question)
            st.caption(words(_WHY[item.why], date=item.noted_at[:10]))
        address = f"{base_path()}/?{urlencode({'run': item.run_id, 'lang': words.language})}"
        st.link_button(words("Open the run"), address, type="tertiary")
        if not may("admin"):
            return
        st.button(
            words("Delete"),
            icon=":material/delete:",
            type="tertiary",
            key=f"history_delete_{item.id}",
            on_click=_forget,
            args=(engine, item.id),
        )


def _forget(engine: Engine, point_id: str) -> None:
    engine.weak_points.delete(point_id)
