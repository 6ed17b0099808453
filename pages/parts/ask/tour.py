"""The tour of the page Ask: what is on the page now, and what its buttons do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal
from uuid import uuid4

import streamlit as st

from components.common.i18n import Words
from components.common.markup import nothing, script
from engine.flow import workflow
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.values import SAMPLE_COLLECTION, RunId, RunRecord
from engine.samples.demos import demos
from pages.parts.common.rights import may

_START = "tour_start"
_SHOWN_BY = "rescue"
"""The recorded run that the tour opens: a question that needs rephrasing."""
Press = Literal["demo", "tune", "runs", "knowledge"]
"""What a stop offers that the page has to do: open a recorded run, or lead to another page."""
Ended = Literal["answered", "cited", "uncited", "refused", "failed", "stopped"]

_component = st.components.v2.component(
    "workbench_tour",
    html='<div class="wb tour"></div>',
    css=script("tokens.css", "tour.css"),
    js=script("dom.js", "tour_place.js", "tour.js"),
)
_WORDS = {
    "offer": N_("New here? A tour of five stops takes a minute."),
    "start": N_("Start the tour"),
    "later": N_("Not now"),
    "next": N_("Next"),
    "back": N_("Back"),
    "skip": N_("Skip the tour"),
    "done": N_("Done"),
    "label": N_("Tour of the page"),
}
_ENDINGS: dict[Ended, str] = {
    "answered": N_("Written only from passages that passed. Each number in it leads to the passage that it cites."),
    "cited": N_("Each number in it leads to the passage that it cites. The mark above says how far it can be trusted."),
    "uncited": N_("This is what the run answered. It cites no passage."),
    "refused": N_("No answer passed the checks, so the run says so instead of guessing."),
    "failed": N_("This run went wrong: here is what happened, and what to do."),
    "stopped": N_("This run was stopped before its end. What it had until then is kept."),
}


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
    return next(demo.id for demo in demos() if demo.language == words.declared.closest and demo.scenario == _SHOWN_BY)


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
    """Return the ending of a run, as far as the answer's place depends on it."""
    match record.outcome:
        case "failed" | "interrupted":
            return "failed"
        case "cancelled":
            return "stopped"
        case "abstained" | "fallback":
            return "refused"
    if not record.citations:
        return "uncited"
    return "answered" if record.outcome == "answered" and workflow(record.workflow).grades else "cited"


@dataclass(frozen=True, slots=True)
class Scene:
    """Contents of the page."""

    collection: str
    proposed: bool
    """Whether the box of the question holds one to begin with."""
    may_ask: bool
    active: bool = False
    ended: Ended | None = None
    """How the open run ended; None before a run and during it."""
    compares: bool = True
    """Whether a slider that is moved says something of the open run, which is one of the workflow chosen."""


@dataclass(frozen=True, slots=True)
class Action:
    """A button of a stop; ``settings`` is done in the browser, the others are presses of :data:`Press`."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop; its element is the first of ``targets`` that is shown."""

    title: str
    text: str
    targets: tuple[str, ...]
    actions: tuple[Action, ...] = ()
    folded: str = ""
    """What to say in place of ``text`` while the settings are folded away; empty where the stop is not in them."""


def stops(scene: Scene, words: Words) -> tuple[Stop, ...]:
    """The five stops, as they are true of this scene."""
    return (
        Stop(words("Ask a question"), _question(scene, words), (".st-key-ask",)),
        Stop(words("Watch the loop at work"), _loop(scene, words), (".st-key-live_run",)),
        _answer(scene, words),
        _settings(scene, words),
        Stop(
            words("Look behind it, and go on"),
            _evidence(scene, words),
            (".st-key-tabs", '[data-testid="stTopNav"]'),
            (
                Action("tune", words("Tune")),
                Action("runs", words("Runs")),
                Action("knowledge", words("Knowledge")),
            ),
        ),
    )


def tour(scene: Scene, words: Words, *, start: str, key: str) -> Press | None:
    """Draw it: an offer before a run, and the stop at which it is; returns what was pressed for the page to do.

    ``start`` is another text each time the tour is asked for. The browser keeps how far it is.
    """
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            "words": {name: words(text) for name, text in _WORDS.items()},
            "places": [words("Stop {n} of {total}", n=n, total=5) for n in range(1, 6)],
            "open_settings": words("Open the settings"),
            "offer": scene.ended is None and not scene.active,
            "start": start,
            "stops": _plain(stops(scene, words)),
        },
        on_pressed_change=nothing,
    )
    pressed: Press | None = result.pressed
    return pressed


def _plain(shown: Sequence[Stop]) -> list[dict[str, Any]]:
    return [asdict(stop) for stop in shown]


def _question(scene: Scene, words: Words) -> str:
    if not scene.may_ask:
        return words("Questions are asked here. You are signed in as a viewer: recorded runs open without asking.")
    if scene.active:
        return words("This question is being asked right now. Stop ends the run and keeps what it has.")
    if scene.ended is not None:
        return words("The run on this page asked this. Change it and press Run: every run is kept.")
    if scene.proposed:
        return words("One is proposed already. Keep it or type your own, and press Run.")
    return words("Type one about the collection {collection}, and press Run.", collection=scene.collection)


def _loop(scene: Scene, words: Words) -> str:
    if scene.active:
        return words("The step at work is lit. Each edge that was taken says which figures led along it.")
    if scene.ended is not None:
        return words("One line says what each step did. “Show workflow” opens the picture with the way taken.")
    return words("These are the steps of the workflow. In a run, the one at work is lit, and the way taken is marked.")


def _answer(scene: Scene, words: Words) -> Stop:
    title = words("Read the answer")
    if scene.ended is not None:
        first = ".st-key-run_fault" if scene.ended == "failed" else ".st-key-answer"
        return Stop(title, words(_ENDINGS[scene.ended]), (first, ".st-key-answer_line"))
    if scene.active:
        return Stop(title, words("The answer appears here if passages pass."), (".st-key-answer_line",))
    said = words(
        "The answer will be here, with the passages that it cites. A recorded run shows one without any model."
    )
    return Stop(title, said, (".st-key-before",), (Action("demo", words("Open a recorded run")),))


def _settings(scene: Scene, words: Words) -> Stop:
    targets = (".st-key-grade_pass_threshold", ".st-key-min_relevant", ".st-key-top_k")
    folded = words("The settings are folded away; this button opens them. A slider in them says what it would change.")
    if scene.ended is not None and scene.compares:
        said = words("Move one: no model is called, and “What if” says how this run would have ended.")
    else:
        said = words("These settings apply to the next run. After it, a moved slider says what it would have changed.")
    return Stop(words("Move a slider"), said, targets, folded=folded)


def _evidence(scene: Scene, words: Words) -> str:
    pages = words("Tune tries settings on many questions, Runs has every run, Knowledge takes in your documents.")
    if scene.active or scene.ended is not None:
        return words.joined((words("Here is every passage with its verdict, each decision and each call."), pages))
    return words.joined((words("Below an answer is a list of every passage, decision and call."), pages))
