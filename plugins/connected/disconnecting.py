"""The view and the dialog that the page Knowledge gets: what each draws is loaded when it is asked for."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.common.i18n import Words
from engine.engine import Engine
from engine.model.later import later
from engine.roles import CollectionInfo
from pages.parts.common.actions import answer_buttons
from pages.parts.knowledge.state import AddedView, Addition, attempt
from plugins.connected.connections import Connections, collections_of


def view(engine: Engine, words: Words) -> AddedView:
    """The view Connect."""
    draw = partial(later("plugins.connected.view:connect_page"), engine, words)
    return AddedView(name="connect", label=words("Connect"), draw=draw)


def addition(engine: Engine, words: Words) -> Addition:
    """The dialog that disconnects a collection."""

    def dialog(info: CollectionInfo) -> None:
        st.text(words("{name} disappears from here; its rows stay where they are.", name=info.name))

        def act() -> None:
            disconnected = words("{name} was disconnected.", name=info.name)
            attempt(lambda: Connections.of(engine).disconnect(info.name), disconnected)

        answer_buttons(words("Disconnect it"), words("Cancel"), act, key="kb_dialog")

    return Addition(
        "disconnect",
        words("Disconnect"),
        "link_off",
        dialog,
        suits=lambda info: info.name in collections_of(engine.resources),
    )
