"""The tour of the page Ask: what is on the page now, and what its buttons do."""

from __future__ import annotations

from uuid import uuid4

import streamlit as st

from components.ask.tour import Ended, Scene, tour
from components.common.i18n import Words
from engine.model.config import RunConfig, declared
from engine.model.values import SAMPLE_COLLECTION, RunId, RunRecord
from engine.samples.demos import demos
from pages.parts.common.rights import may

_START = "tour_start"
_SHOWN_BY = "rescue"
"""The recorded run that the tour opens: a question that needs rephrasing."""


def tour_button(words: Words) -> bool:
    """Draw the button in the bar of every page that begins the tour again; returns whether it was pressed."""
    told = words("Tour of the page Ask")
    pressed = st.button(told, icon=":material/help:", key="help", type="tertiary", help=told)
    if pressed:
        st.session_state[_START] = uuid4().hex
    return pressed


def tour_of(config: RunConfig, record: RunRecord | None, words: Words) -> RunId | None:
    """Draw the tour over the page; returns the recorded run to open, where it was asked for."""
    with st.container(key="tour"):
        pressed = tour(scene(config, record), words, start=str(st.session_state.get(_START, "")), key="tour_card")
    if pressed in ("tune", "runs", "knowledge"):
        st.switch_page(f"{pressed}.py")
    if pressed != "demo":
        return None
    return next(demo.id for demo in demos() if demo.language == words.language and demo.scenario == _SHOWN_BY)


def scene(config: RunConfig, record: RunRecord | None) -> Scene:
    active = record is not None and record.active
    how = None if record is None or active else ended(record)
    # Of a run that broke off, the sliders can say little.
    whole = how not in ("failed", "stopped")
    return Scene(
        collection=config.collection,
        proposed=config.collection == SAMPLE_COLLECTION,
        may_ask=may("editor"),
        active=active,
        ended=how,
        compares=whole and record is not None and record.workflow == config.workflow,
    )


def ended(record: RunRecord) -> Ended:
    """How a run ended, as far as the place of its answer looks different."""
    match record.outcome:
        case "failed" | "interrupted":
            return "failed"
        case "cancelled":
            return "stopped"
        case "abstained" | "fallback":
            return "refused"
    if not record.citations:
        return "uncited"
    return "answered" if record.outcome == "answered" and declared(record.workflow).grades else "cited"
