"""The tour of the page Ask: five stops that are true of what is on the page, and what their buttons do."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from engine.engine import Engine
from engine.samples.demos import all_demos, demo_record
from pages.parts.ask.tour import Ended, Scene, ended, stops
from tests.pages.driving import button, opened

scenes = st.builds(
    Scene,
    collection=st.just("notes"),
    proposed=st.booleans(),
    may_ask=st.booleans(),
    active=st.booleans(),
    ended=st.none(),
    compares=st.booleans(),
) | st.builds(
    Scene,
    collection=st.just("notes"),
    proposed=st.booleans(),
    may_ask=st.booleans(),
    ended=st.sampled_from(get_args(Ended)),
    compares=st.booleans(),
)


@given(scenes)
@settings(max_examples=40)
def test_five_short_stops_speak_of_an_answer_and_of_what_if_only_where_there_is_one(scene: Scene) -> None:
    """FV-03: one or two sentences each, in both languages."""
    for language, ends in (("zh", "。"), ("en", ".")):
        shown = stops(scene, words_for(language))
        assert len({stop.title for stop in shown}) == len(shown) == 5
        for stop in shown:
            assert stop.targets and stop.text.endswith(ends)
            assert 1 <= stop.text.count(ends) + stop.text.count("?") <= 2
    question, _, answer, slider, _ = shown
    assert ("how this run would have ended" in slider.text) == (scene.ended is not None and scene.compares)
    assert ("Each number in it" in answer.text) == (scene.ended in ("answered", "cited"))
    assert bool(answer.actions) == (scene.ended is None and not scene.active)
    assert scene.may_ask or "Run" not in question.text


@pytest.mark.parametrize("demo", all_demos(), ids=lambda demo: demo.id)
def test_what_is_said_of_an_answer_is_what_the_recorded_run_has(demo: Any) -> None:
    """FV-03"""
    record = demo_record(demo.id)
    said = ended(record)
    assert (said == "refused") == (record.outcome in ("abstained", "fallback"))
    assert (said in ("answered", "cited")) == bool(record.citations)
    assert ended(replace(record, outcome="failed")) == "failed"
    assert ended(replace(record, outcome="cancelled")) == "stopped"


def card(app: AppTest) -> dict[str, Any]:
    """What the page gives the tour to draw."""
    for item in app.get("bidi_component"):
        if item.proto.component_name == "workbench_tour":
            found: dict[str, Any] = json.loads(item.proto.json)
            return found
    raise AssertionError("the page has no tour")


def test_the_tour_is_offered_before_a_run_and_never_over_one(engine: Engine) -> None:
    """FV-03"""
    assert card(opened())["offer"] is True
    assert card(opened(run="demo-forced-en"))["offer"] is False
    assert "proposed" in card(opened())["stops"][0]["text"]


def test_every_page_has_the_button_that_begins_the_tour_again(engine: Engine) -> None:
    """FV-03"""
    app = opened("tune")
    button(app, lambda label: label == "Tour of the page Ask").click().run()
    assert not app.exception
    first = card(app)["start"]
    assert first
    button(app, lambda label: label == "Tour of the page Ask").click().run()
    assert card(app)["start"] not in ("", first)
