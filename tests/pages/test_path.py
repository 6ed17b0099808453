"""The path on a page: it mounts in every state of a run, and passages do not travel with it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from engine.model.events import fold_all
from tests.pages.driving import inline
from tests.support.recorded import recorded_run


def page(state: str, language: str) -> None:
    import streamlit as st

    from components.common.i18n import words_for
    from engine.model.events import fold_all
    from pages.parts.ask.path import view
    from tests.components.test_workflow_export import LOOP
    from tests.support.recorded import recorded_run

    record = None if state == "idle" else fold_all(recorded_run(1))
    words = words_for("zh" if language == "zh" else "en")
    result = view(LOOP, record, words, key="live", active=state == "active")
    st.write(repr(result))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("state", ["idle", "active", "finished"])
def test_the_picture_mounts_and_nothing_is_chosen_yet(state: str, language: str) -> None:
    """SC-12: before, during and after a run."""
    app = AppTest.from_function(page, kwargs={"state": state, "language": language}).run(timeout=60)
    assert not app.exception
    assert app.markdown[0].value == "Shown(selected_node=None, finished=None)"


def test_a_node_chosen_in_the_browser_reaches_the_page() -> None:
    app = AppTest.from_function(page, kwargs={"state": "finished", "language": "en"})
    app.session_state["live"] = {"selected": "grade"}
    app.run(timeout=60)
    assert "selected_node='grade'" in app.markdown[0].value


def test_a_name_that_is_no_node_is_not_taken_for_a_choice() -> None:
    app = AppTest.from_function(page, kwargs={"state": "finished", "language": "en"})
    app.session_state["live"] = {"selected": "<script>"}
    app.run(timeout=60)
    assert "selected_node=None" in app.markdown[0].value


def test_neither_passages_nor_prompts_travel_with_the_picture() -> None:
    app = AppTest.from_function(page, kwargs={"state": "finished", "language": "en"}).run(timeout=60)
    passage = fold_all(recorded_run(1)).rounds[0].candidates[0].passage.text
    sent = inline(app)
    assert "0.20 < 0.60" in sent
    assert passage not in sent
    assert "Judge one passage" not in sent
