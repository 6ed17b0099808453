"""The tour of the page Ask: five stops that are true of what is on the page, and what their buttons do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from engine.engine import Engine
from pages.parts.ask.tour import STOPS
from pages.parts.common.page_help import SHOWS
from tests.pages.driving import opened

EN = words_for("en")


def test_five_short_stops_in_both_languages() -> None:
    """FV-03: one or two sentences each."""
    assert len(STOPS) == 5
    for language, ends in (("zh", "。"), ("en", ".")):
        for stop in STOPS:
            said = words_for(language)(stop.text)
            assert said.endswith(ends) and said.count(ends) <= 2


def card(app: AppTest) -> dict[str, Any]:
    """What the page gives the tour to draw."""
    for item in app.get("bidi_component"):
        if item.proto.component_name == "workbench.tour":
            found: dict[str, Any] = json.loads(item.proto.json)
            return found
    raise AssertionError("the page has no tour")


def test_the_tour_is_offered_before_a_run_and_never_over_one(engine: Engine) -> None:
    """FV-03"""
    assert card(opened())["offer"] is True
    assert card(opened(run="demo-forced-en"))["offer"] is False


def test_the_help_of_ask_begins_the_tour_again(engine: Engine) -> None:
    """FV-03"""
    app = opened()
    app.button(key="help").click().run()
    app.button(key="help_tour").click().run()
    assert not app.exception
    assert card(app)["start"]


@pytest.mark.parametrize("page", ["tune", "runs", "knowledge", "system"])
def test_each_page_has_its_own_help(engine: Engine, page: str) -> None:
    app = opened(page)
    app.button(key="help").click().run()
    assert not app.exception
    said = [item.value for item in app.markdown]
    assert EN(SHOWS[page]) in said
    assert any(text.startswith("**Top-k** · How many") for text in said) == (page == "tune")
