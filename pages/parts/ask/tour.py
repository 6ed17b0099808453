"""The tour of the page Ask: five stops, offered on the first visit and begun again from the help of the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal
from uuid import uuid4

import streamlit as st

from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import nothing
from engine.messages import N_
from engine.model.values import RunId
from engine.samples.demos import demos

_START = "tour_start"
_SHOWN_BY = "rescue"
"""The recorded run that the tour opens: a question that needs rephrasing."""
Press = Literal["demo", "tune", "runs", "knowledge"]
"""What a stop offers that the page has to do: open a recorded run, or lead to another page."""

_component = component(
    "tour",
    html='<div class="wb tour"></div>',
    css=script("tokens.css", "tour.css"),
    js=script("dom.js", "tour_place.js", "tour.js"),
)
_WORDS = {
    "offer": N_("New here? Five stops take a minute."),
    "start": N_("Start the tour"),
    "later": N_("Not now"),
    "next": N_("Next"),
    "back": N_("Back"),
    "skip": N_("Close"),
    "done": N_("Done"),
    "label": N_("Tour of the page"),
}


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop; its element is the first of ``targets`` that is shown, its buttons are presses with their labels."""

    title: str
    text: str
    targets: tuple[str, ...]
    actions: tuple[tuple[Press, str], ...] = ()
    folded: str = ""
    """What to say in place of ``text`` while the settings are folded away; empty where the stop is not in them."""


STOPS = (
    Stop(
        N_("Ask a question"),
        N_("Type one about the collection and press Run, or open a recorded run under Examples."),
        (".st-key-ask",),
    ),
    Stop(
        N_("Watch the path"),
        N_("One row a round. The step at work is lit, and each edge taken says which figures led along it."),
        (".st-key-path",),
    ),
    Stop(
        N_("Read the answer and the verdicts"),
        N_("Each number leads to the passage it cites. A recorded run shows it without any model."),
        (".st-key-answer_line", ".st-key-before"),
        (("demo", N_("Open a recorded run")),),
    ),
    Stop(
        N_("Move a slider"),
        N_("No model is called: “What if” below says how this run would have ended."),
        (".st-key-top_k",),
        folded=N_("The settings are folded away. This button opens them."),
    ),
    Stop(
        N_("Look behind it"),
        N_("Every passage, rewrite and call is in the tabs. Tune tries settings on many questions."),
        (".st-key-tabs", '[data-testid="stTopNav"]'),
        (("tune", N_("Tune")), ("runs", N_("Runs")), ("knowledge", N_("Knowledge"))),
    ),
)


def begin_tour() -> None:
    """Start it in the next run of the page Ask."""
    st.session_state[_START] = uuid4().hex


def show(words: Words, *, offered: bool) -> RunId | None:
    """Draw the tour over the page; returns the recorded run to open, where it was asked for."""
    with st.container(key="tour"):
        pressed = view(words, offered=offered, start=str(st.session_state.get(_START, "")), key="tour_card")
    if pressed in ("tune", "runs", "knowledge"):
        st.switch_page(f"{pressed}.py")
    if pressed != "demo":
        return None
    return next(demo.id for demo in demos() if demo.language == words.declared.closest and demo.scenario == _SHOWN_BY)


def view(words: Words, *, offered: bool, start: str, key: str) -> Press | None:
    """Draw the offer, where it is wanted, and the stop at which the tour is; returns what the page is to do.

    ``start`` is another text each time the tour is asked for. The browser keeps how far it is.
    """
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            "words": {name: words(text) for name, text in _WORDS.items()},
            "places": [f"{n} / {len(STOPS)}" for n in range(1, len(STOPS) + 1)],
            "open_settings": words("Open the settings"),
            "offer": offered,
            "start": start,
            "stops": [_plain(stop, words) for stop in STOPS],
        },
        on_pressed_change=nothing,
    )
    pressed: Press | None = result.pressed
    return pressed


def _plain(stop: Stop, words: Words) -> dict[str, object]:
    said = {name: words(text) if (text := getattr(stop, name)) else "" for name in ("title", "text", "folded")}
    actions = [{"id": press, "label": words(label)} for press, label in stop.actions]
    return {**asdict(stop), **said, "actions": actions}
