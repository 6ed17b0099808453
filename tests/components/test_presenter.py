"""The stage: the browser folds the very moments that a live viewer saw, and no passage travels with them."""

from __future__ import annotations

import json
import subprocess

import pytest
from streamlit.testing.v1 import AppTest

from components.presenter_events import browser_events
from components.words_live import live_words
from components.workflow_picture import picture_of
from engine.events import TokenStreamed, fold_all
from engine.records.codec import record_to_dict
from engine.values import Outcome
from tests.components.in_browser import node, plain
from tests.components.test_live_run_picture import RUNS
from tests.components.test_workflow_export import LOOP
from tests.pages.driving import inline
from tests.support.recorded import recorded_run

__all__ = ["node"]


@pytest.mark.parametrize(("rewrites", "outcome"), RUNS)
def test_every_moment_of_a_replay_is_the_picture_that_a_live_viewer_had(
    node: list[str], rewrites: int, outcome: Outcome
) -> None:
    """SC-12"""
    events = [event for event in recorded_run(rewrites, outcome) if not isinstance(event, TokenStreamed)]
    given = {
        "events": browser_events(events),
        "record": None,
        "edges": [{"source": e.source, "target": e.target, "conditional": e.conditional} for e in LOOP.edges],
        "names": LOOP.nodes,
        "words": dict(live_words("en")),
        "texts": [],
        "comparisons": [],
        "cuts": list(range(len(events))),
    }
    ran = subprocess.run(node, input=json.dumps(given), capture_output=True, text=True, check=True, encoding="utf-8")
    shown = json.loads(ran.stdout)
    for cut in range(len(events)):
        record = record_to_dict(fold_all(events[: cut + 1]))
        assert shown["views"][cut] == plain(picture_of(LOOP, record, live_words("en"))), events[cut].kind


def test_neither_passages_nor_prompts_travel_with_the_events() -> None:
    events = recorded_run(1)
    sent = json.dumps(browser_events(events))
    passage = fold_all(events).rounds[0].candidates[0].passage.text
    assert passage not in sent
    assert "Judge one passage" not in sent
    assert [item["seq"] for item in json.loads(sent)] == [event.seq for event in events]


def page(language: str, told: dict[str, object] | None) -> None:
    import streamlit as st

    from components.i18n import words_for
    from components.presenter import demo_buttons, presenter
    from engine.events import fold_all
    from engine.replay import steps
    from tests.components.test_workflow_export import LOOP
    from tests.support.recorded import recorded_run

    words = words_for("zh" if language == "zh" else "en")
    events = recorded_run(2, "answered_forced")
    if told is not None:
        st.session_state["stage"] = {"step": told}
    at = presenter(LOOP, fold_all(events), events, steps(events), words, start=1, key="stage")
    st.write(f"step {at}")
    st.write(f"picked {demo_buttons(words)}")


@pytest.mark.parametrize(
    ("told", "at"),
    [
        (None, 1),
        ({"run": "run-1", "step": 4}, 4),
        ({"run": "run-1", "step": 99}, 9),
        ({"run": "another", "step": 4}, 1),
        ({"run": "run-1", "step": "4"}, 1),
    ],
)
def test_the_page_hears_of_the_step_that_the_browser_shows_of_this_run(told: dict[str, object] | None, at: int) -> None:
    app = AppTest.from_function(page, kwargs={"language": "en", "told": told}).run(timeout=30)
    assert not app.exception
    assert app.markdown[0].value == f"step {at}"


@pytest.mark.parametrize(("language", "said"), [("en", "The rewriter tries other words"), ("zh", "重写员换了一种问法")])
def test_sentences_and_cards_come_in_the_language_of_the_page(language: str, said: str) -> None:
    app = AppTest.from_function(page, kwargs={"language": language, "told": None}).run(timeout=30)
    assert said in inline(app)
    assert ("✓ helps" if language == "en" else "✓ 有用") in inline(app)
    assert len(app.button) == 9
    app.button[3].click().run(timeout=30)
    assert app.markdown[1].value == f"picked demo-forced-{language}"
