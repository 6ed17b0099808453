"""Branching off on the page: what is offered, what it costs, and what is said of a branch (SC-03, SC-04, SC-12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from tests.pages.driving import inline

EN = words_for("en")
QUESTION = "What are the main symptoms of diabetes?"


def panel() -> None:
    """What the tab of decisions draws, by itself."""
    import streamlit as st

    from components.common.i18n import words_for
    from engine.api.process import get_engine
    from pages.parts.ask import fork

    found = get_engine()
    record = found.record(st.session_state["run"])
    fork.panel(found, record, st.session_state.get("chosen", record.config), words_for(st.session_state["language"]))
    if "ask_fault" in st.session_state:
        st.text(st.session_state["ask_fault"].fact)


@pytest.fixture
def parent(engine: Engine) -> RunRecord:
    record = engine.run(QUESTION, RunConfig(gate="pass_rate"))
    assert len(record.rounds) > 1
    return record


def drawn(record: RunRecord, language: UiLanguage = "en", **state: object) -> AppTest:
    app = AppTest.from_function(panel, default_timeout=60)
    for name, value in {"run": record.id, "language": language, **state}.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def go(app: AppTest) -> Any:
    return next(item for item in app.button if item.key == "fork_go")


def said(app: AppTest) -> list[str]:
    return [str(item.value) for item in app.caption]


def branched(app: AppTest, engine: Engine, parent: RunRecord) -> RunRecord:
    go(app).click().run()
    assert not app.exception, app.exception
    run_id = app.session_state["run"]
    assert run_id != parent.id
    assert engine.wait(run_id, 60)
    return engine.record(run_id)


def test_a_run_offers_its_decisions_its_query_and_its_verdicts(engine: Engine, parent: RunRecord) -> None:
    """SC-12"""
    app = drawn(parent, "zh")
    words = words_for("zh")
    assert len(app.selectbox[0].options) == len(parent.rounds)
    assert app.text_input[0].value == QUESTION
    for passage in parent.rounds[0].kept:
        assert passage.source in inline(app)
    assert go(app).disabled
    assert words("Change a setting, the query or a verdict first.") in said(app)


def test_a_slider_moved_shows_the_price_and_one_click_branches_off(engine: Engine, parent: RunRecord) -> None:
    """SC-04"""
    lower = replace(parent.config, grade_pass_threshold=0.0)
    app = drawn(parent, chosen=lower)
    assert "0.60 → 0.00" in inline(app)
    assert any(item.startswith(("Costs 1 built-in step", "Costs no calls")) for item in said(app))
    branch = branched(app, engine, parent)
    assert branch.fork is not None
    assert (branch.fork.parent, branch.fork.settings) == (parent.id, ("grade_pass_threshold",))
    assert branch.decisions[0].reason == "passed"


def test_another_query_at_a_later_decision_is_a_bounded_price(engine: Engine, parent: RunRecord) -> None:
    """SC-06"""
    app = drawn(parent)
    app.selectbox[0].set_value(1).run()
    assert app.text_input[0].value == parent.rounds[1].query
    app.text_input[0].set_value("thirst and weight loss").run()
    assert any(item.startswith("The new search and its verdicts cost at most") for item in said(app))
    branch = branched(app, engine, parent)
    assert branch.rounds[1].query == "thirst and weight loss"
    assert branch.rounds[0] == parent.rounds[0]


def test_a_verdict_turned_by_the_reader_goes_into_the_branch(engine: Engine, parent: RunRecord) -> None:
    """SC-03"""
    turned = {passage.id: True for passage in parent.rounds[0].kept}
    app = drawn(parent, fork_verdicts=(f"{parent.id}_0", turned))
    assert EN("Set by hand") in inline(app)
    branch = branched(app, engine, parent)
    assert branch.fork is not None
    assert branch.fork.verdicts == turned
    assert branch.decisions[0].pass_rate == 1.0


def test_a_branch_says_what_was_changed_and_how_it_ended(engine: Engine, parent: RunRecord) -> None:
    """SC-12"""
    run_id = engine.fork(parent, replace(parent.config, grade_pass_threshold=0.0))
    assert engine.wait(run_id, 60)
    text = inline(drawn(engine.record(run_id)))
    assert f"Branch of run {parent.id[:8]}, from as asked" in text
    assert "Min. pass rate 0.60 → 0.00" in text
    assert "Outcome: Answered below the bar → Answered." in text
    assert EN("Compare") in text


def test_a_branch_whose_parent_was_deleted_still_says_what_was_changed(engine: Engine, parent: RunRecord) -> None:
    run_id = engine.fork(parent, replace(parent.config, grade_pass_threshold=0.0), query="thirst")
    assert engine.wait(run_id, 60)
    engine.delete_run(parent.id)
    text = inline(drawn(engine.record(run_id)))
    assert EN("Compare") not in text
    assert "Min. pass rate" in text
    assert "query “thirst”" in text


def test_settings_of_another_place_are_said_to_need_a_run_of_their_own(engine: Engine, parent: RunRecord) -> None:
    app = drawn(parent, chosen=RunConfig(collection="other"))
    assert "another collection" in app.warning[0].value
    assert not [item for item in app.button if item.key == "fork_go"]
