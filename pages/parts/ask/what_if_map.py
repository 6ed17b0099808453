"""The decision map below the what-if card: a chosen cell moves the sliders there."""

from __future__ import annotations

import streamlit as st

from components.ask.decision_map import decision_map_card
from components.ask.decision_map_view import map_view, pairs_for
from components.common.i18n import Words
from components.common.panel import want_settings
from components.labels.runs import VARIED_SETTINGS
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.replay.decision_map import DecisionMap, decision_map
from engine.replay.grid import at_once
from engine.replay.settings import Column
from engine.replay.table import RunTable
from pages.parts.common.remembered import is_remembered, remembered

_AXES = "map_axes"


def map_panel(record: RunRecord, table: RunTable, config: RunConfig, words: Words) -> None:
    """Draw the map around the sliders' settings."""
    pairs = pairs_for(config, record.origin)
    names = {
        name: words("{across} × {up}", across=words(VARIED_SETTINGS[x]), up=words(VARIED_SETTINGS[y]))
        for name, (x, y) in pairs.items()
    }
    chosen = st.session_state.get(_AXES)
    shown = chosen if chosen in pairs else next(iter(pairs))
    x, y = pairs[shown]
    asked = (record.id, record.last_seq, config, x, y)
    offer = st.empty()
    if not at_once(table, config) and not is_remembered("map", asked):
        # A second of work, which no move of a slider should wait for.
        with offer.container():
            st.caption(
                words("This map replays the run for every setting that could change it, so it is drawn when asked for.")
            )
            if not st.button(words("Draw the decision map"), key="draw_map", icon=":material/grid_on:"):
                return
    drawn: DecisionMap = remembered("map", asked, lambda: decision_map(record, config, x, y))
    offer.empty()
    view = map_view(drawn, config, record.config, words)
    event = decision_map_card(view, names, shown, words, key="decision_map", file_name=f"decision-map-{record.id[:8]}")
    if event.axes is not None and event.axes != shown:
        st.session_state[_AXES] = event.axes
        st.rerun()
    if event.tried is not None:
        want_settings(_values((x, y), event.tried))
        st.rerun()


def _values(names: tuple[Column, Column], tried: tuple[float, float]) -> dict[str, float]:
    return dict(zip(names, tried, strict=True))
