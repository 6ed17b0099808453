"""The dialog of a collection's index on a server: what it finds, how far its searches look, another in its place."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components.common.i18n import Words
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.roles import CollectionInfo
from pages.parts.common.actions import retry_box
from pages.parts.knowledge.state import Addition, aim_at, attempt
from plugins.scale.actions import Scale
from plugins.scale.card import index_card, index_name, option_text
from plugins.scale.values import IndexView

_KEY = "kb_index"


def addition(engine: Engine, words: Words) -> Addition:
    """The index among the facts of a collection, and its dialog."""

    def fact(info: CollectionInfo) -> tuple[str, str]:
        try:
            state = Scale.of(engine).index(info.name).state
        except WorkbenchError:
            # The facts of the collection say what is wrong with it.
            return words("Index"), ""
        more = f" · {state.parameter} {state.breadth}" if state.parameter and state.breadth else ""
        return words("Index"), state.kind + more

    return Addition("index", words("Index and recall"), "speed", lambda info: index_dialog(engine, info, words), fact)


def index_dialog(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """Draw the index with its figures, the button that measures it, and the choice of another."""
    try:
        view = Scale.of(engine).index(info.name)
    except WorkbenchError as error:
        retry_box(error, words, key=f"{_KEY}_unreadable")
        return
    breadth = index_card(view, words, key=f"{_KEY}_card")
    if breadth is not None:
        attempt(lambda: Scale.of(engine).set_breadth(info.name, breadth))
        st.rerun(scope="fragment")
    st.caption(words("Reads every vector once: seconds for 10 000 passages, minutes for a million."))
    label = words("Measure recall")
    if st.button(
        label, icon=":material/speed:", key=f"{_KEY}_measure", on_click=_begin, args=(engine, info.name, lambda: "")
    ):
        st.rerun()
    if view.options:
        _another(engine, view, words)


def _another(engine: Engine, view: IndexView, words: Words) -> None:
    key = f"{_KEY}_kind_{view.collection}"
    by_kind = {str(option.kind): option for option in view.options}
    usual = next((kind for kind, option in by_kind.items() if option.advised), next(iter(by_kind)))
    chosen = str(
        st.selectbox(
            words("Another index"),
            list(by_kind),
            index=list(by_kind).index(usual),
            format_func=lambda kind: option_text(by_kind[kind], words) if kind in by_kind else kind,
            key=key,
        )
    )
    st.caption(index_name(chosen, words))
    st.caption(
        words(
            "Nothing is embedded again. Searches pause for some seconds, and find less until the index is built. "
            "Memory is that of the vectors, by formula."
        )
    )
    if chosen == "DISKANN":
        st.info(
            words("The server must have its index on disk switched on; otherwise the job waits and can be stopped.")
        )
    same = chosen == view.state.kind
    if st.button(
        words("Build this index"),
        icon=":material/build:",
        disabled=same,
        key=f"{_KEY}_build",
        on_click=_begin,
        args=(engine, view.collection, lambda: str(st.session_state[key])),
    ):
        st.rerun()


def _begin(engine: Engine, collection: str, kind: Callable[[], str]) -> None:
    if attempt(lambda: Scale.of(engine).start_index(collection, kind())):
        aim_at("add")
