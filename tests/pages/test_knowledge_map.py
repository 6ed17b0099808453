"""The view Map of the Knowledge page: a question, a run's verdicts, a clicked passage, and what cannot be drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import RunId
from tests.pages.driving import given, opened, setting, visible

EN = words_for("en")
QUESTION = "What is a truth table?"


@pytest.fixture
def run_id(engine: Engine) -> Iterator[RunId]:
    record = engine.run(QUESTION, RunConfig(max_rewrites=0))
    yield record.id
    engine.delete_run(record.id)


def mapped(language: str = "en", **query: str) -> AppTest:
    # Named: tests before this one may have left collections of their own in the engine that they share.
    return opened("knowledge", language, view="map", **{"kb_collection": "samples", **query})


def figure(app: AppTest) -> Mapping[str, Any]:
    (chart,) = app.get("plotly_chart")
    spec: Mapping[str, Any] = json.loads(chart.proto.spec)
    return spec


def names(app: AppTest) -> list[str]:
    return [trace["name"].split(" (")[0] for trace in figure(app)["data"]]


def test_the_map_says_what_its_axes_show_and_what_they_do_not(engine: Engine) -> None:
    words = words_for("zh")
    app = mapped("zh")
    assert words(
        "two axes, {share} of the variance of {dim} dimensions: near points may be far apart in meaning",
        share="33%",
        dim=384,
    ) in visible(app)
    assert words("Choose one to see its passages.") in visible(app)
    assert words("… and {n} more", n=40) in [trace["name"] for trace in figure(app)["data"]]


def test_a_question_is_drawn_with_its_nearest_passages_and_stays_in_the_address(engine: Engine) -> None:
    app = mapped()
    setting_of(app, "kb_query").set_value(QUESTION).run()
    assert not app.exception
    assert names(app)[-2:] == [EN("Nearest"), EN("Question")]
    assert given(app, "kb_query") == QUESTION


def test_a_run_of_the_address_colours_its_passages_and_brings_its_question(engine: Engine, run_id: RunId) -> None:
    app = mapped(run=run_id)
    assert setting(app, "kb_map_run").value == run_id
    shown = names(app)
    assert shown[0] == EN("Not found")
    assert EN("Cited in the answer") in shown
    assert shown[-1] == EN("Question")


def test_a_run_that_is_not_there_is_said_and_the_map_drawn_all_the_same(engine: Engine) -> None:
    app = mapped(run="nowhere")
    assert EN("The run in the link has not ended, or is gone.") in visible(app)
    assert len(names(app)) == 9


def test_a_clicked_point_shows_its_passage_as_text(engine: Engine) -> None:
    source = engine.sources("samples")[0].source
    passage = engine.passages("samples", source)[0]
    app = mapped()
    selected = {"points": [{"customdata": [passage.id]}], "point_indices": [0], "box": [], "lasso": []}
    app.session_state["kb_map_samples"] = {"selection": selected}
    app.run()
    assert not app.exception
    assert passage.text in [item.value for item in app.text]


def setting_of(app: AppTest, key: str) -> Any:
    return next(item for item in app.text_input if item.key == key)
