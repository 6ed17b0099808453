"""The stage: it shows the very moments that a live viewer saw, and no passage travels with them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.ask.live_view import plan_of
from components.common.i18n import words_for
from components.picture.drawing import painted
from components.picture.picture import picture_of
from engine.model.events import PassageGraded, fold_all
from engine.model.values import Outcome
from tests.components.test_live_view import FOUR_NODES
from tests.components.test_workflow_export import LOOP
from tests.pages.driving import inline
from tests.support.recorded import recorded_run

EN = words_for("en")


@pytest.mark.parametrize(("rewrites", "outcome"), FOUR_NODES)
def test_every_moment_of_a_replay_is_the_picture_that_a_live_viewer_had(rewrites: int, outcome: Outcome) -> None:
    """SC-12"""
    events = [event for event in recorded_run(rewrites, outcome) if event.stored]
    app = AppTest.from_function(staged, kwargs={"rewrites": rewrites, "outcome": outcome}).run(timeout=60)
    sent = stage_of(app)
    for plan in ("wide", "narrow"):
        shown: dict[str, object] = {}
        changes = sent["drawings"][plan]["moments"]
        for place, (event, changed) in enumerate(zip(events, changes, strict=True)):
            shown |= changed
            record = fold_all(events[: place + 1])
            assert shown == painted(plan_of(LOOP, plan), picture_of(LOOP, record, EN)), event.kind


def test_neither_passages_nor_prompts_travel_with_the_moments() -> None:
    app = AppTest.from_function(staged, kwargs={"rewrites": 1, "outcome": "answered"}).run(timeout=60)
    sent = json.dumps(stage_of(app)["drawings"])
    passage = fold_all(recorded_run(1)).rounds[0].candidates[0].passage.text
    assert "0.20 < 0.60" in sent
    assert passage not in sent
    assert "Judge one passage" not in sent


def test_a_card_names_the_moment_of_its_verdict_and_a_step_that_of_its_end() -> None:
    """The tokens of a run that is still in memory are no moments."""
    events = [event for event in recorded_run(1) if event.stored]
    sent = stage_of(AppTest.from_function(staged, kwargs={"rewrites": 1, "outcome": "answered"}).run(timeout=60))
    for cards in sent["cards"]:
        for card in cards["shown"]:
            event = events[card["judged"]]
            assert isinstance(event, PassageGraded)
            assert event.passage_id == card["id"]
    ends = [step["end"] for step in sent["steps"]]
    assert ends == sorted(set(ends))
    assert ends[-1] == len(events) - 1


def stage_of(app: AppTest) -> dict[str, Any]:
    """What the stage is given."""
    assert not app.exception
    parts: list[dict[str, Any]] = [json.loads(item.proto.json) for item in app.get("bidi_component")]
    return next(item for item in parts if "drawings" in item)


def staged(rewrites: int, outcome: str) -> None:
    from components.ask.presenter import presenter
    from components.common.i18n import words_for
    from engine.model.events import fold_all
    from engine.replay.playback import steps
    from tests.components.test_workflow_export import LOOP
    from tests.support.recorded import recorded_run

    events = recorded_run(rewrites, outcome)  # type: ignore[arg-type]
    presenter(LOOP, fold_all(events), events, steps(events), words_for("en"), start=0, key="stage")


def page(language: str, step: dict[str, object] | None) -> None:
    import streamlit as st

    from components.ask.presenter import demo_buttons, presenter
    from components.common.i18n import words_for
    from engine.model.events import fold_all
    from engine.replay.playback import steps
    from tests.components.test_workflow_export import LOOP
    from tests.support.recorded import recorded_run

    words = words_for("zh" if language == "zh" else "en")
    events = recorded_run(2, "answered_forced")
    if step is not None:
        st.session_state["stage"] = {"step": step}
    at = presenter(LOOP, fold_all(events), events, steps(events), words, start=1, key="stage")
    st.write(f"step {at}")
    st.write(f"picked {demo_buttons(words)}")


@pytest.mark.parametrize(
    ("step", "at"),
    [
        (None, 1),
        ({"run": "run-1", "step": 4}, 4),
        ({"run": "run-1", "step": 99}, 9),
        ({"run": "another", "step": 4}, 1),
        ({"run": "run-1", "step": "4"}, 1),
    ],
)
def test_the_page_hears_of_the_step_that_the_browser_shows_of_this_run(step: dict[str, object] | None, at: int) -> None:
    app = AppTest.from_function(page, kwargs={"language": "en", "step": step}).run(timeout=60)
    assert not app.exception
    assert app.markdown[0].value == f"step {at}"


@pytest.mark.parametrize(("language", "said"), [("en", "The query becomes"), ("zh", "查询改为")])
def test_sentences_and_cards_come_in_the_language_of_the_page(language: str, said: str) -> None:
    app = AppTest.from_function(page, kwargs={"language": language, "step": None}).run(timeout=60)
    assert said in inline(app)
    assert ("✓ passed" if language == "en" else "✓ 通过") in inline(app)
    assert len(app.button) == 9
    app.button[3].click().run(timeout=60)
    assert app.markdown[1].value == f"picked demo-forced-{language}"
