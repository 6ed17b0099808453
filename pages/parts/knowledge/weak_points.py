"""The history of weak points of a collection: questions that ended badly, on the view Memory of the page Knowledge."""

from __future__ import annotations

import streamlit as st

from components.common.controls import page_of
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.run_link import run_address
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.knowledge.weak_points import WeakPoint
from engine.messages import N_
from engine.model.values import Fault
from pages.parts.common.actions import next_step
from pages.parts.common.rights import may

_A_PAGE = 20
_WHY = {"refused": N_("Refused"), "forced": N_("Answered below the bar"), "unhelpful": N_("judged unhelpful")}


def panel(engine: Engine, words: Words) -> None:
    """Draw the history of one collection: what it is, its switch, and its entries."""
    st.caption(
        words("Questions that ended badly, with their day. The quality-control loop searches them as dated history.")
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
    next_step(
        words("Nothing yet."),
        words("Note weak points"),
        "toggle_on",
        key="history_begin",
        offered=may("admin") and not engine.weak_points.is_on(collection),
        does=lambda: engine.weak_points.switch(collection, on=True),
    )


def _switch(engine: Engine, words: Words, collection: str) -> None:
    key = f"history_on_{collection}"
    # As stored, every time: it may have been switched in another tab, and only a press here may switch it back.
    st.session_state[key] = engine.weak_points.is_on(collection)
    st.toggle(
        words("Note weak points"),
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
            st.caption(f"{item.noted_at[:10]} · {words(_WHY[item.why])}")
        st.link_button(words("Open the run"), run_address(item.run_id, words), type="tertiary")
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
