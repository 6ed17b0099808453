"""The page Side by side: one question through several workflows, by button, by sample and by link."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from components.i18n import UiLanguage, words_for
from engine.engine import Engine
from engine.workflows import MODULES
from tests.pages.driving import button, given, inline, opened, setting, visible

_PATIENCE_S = 60.0


def finished(app: AppTest, engine: Engine) -> list[str]:
    """The runs of the columns once all have ended, the page drawn again."""
    ids = given(app, "sides").split(",")
    assert all(engine.wait(run_id, _PATIENCE_S) for run_id in ids)
    app.run()
    assert not app.exception, app.exception
    return ids


@pytest.mark.parametrize("language", ["en", "zh"])
def test_before_a_question_the_page_says_what_to_do(engine: Engine, language: UiLanguage) -> None:
    """SC-12: an empty state always says what to do next."""
    words = words_for(language)
    app = opened("side_by_side", language)
    assert words("side.empty") in visible(app)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_all_workflows_answer_one_question_at_the_same_time(engine: Engine, language: UiLanguage) -> None:
    """QL-03, DL-01, AE-01: each runs as a workflow of its own beside the others."""
    words = words_for(language)
    app = opened("side_by_side", language)
    button(app, lambda label: label == words("side.run")).click().run()
    ids = finished(app, engine)
    assert [engine.record(run_id).workflow for run_id in ids] == list(MODULES)
    drawn = inline(app)
    for name in MODULES:
        assert words(f"workflow.{name}") in drawn
    assert words("side.same_time") in drawn
    starts = [engine.record(run_id).started_at for run_id in ids]
    ends = [engine.record(run_id).duration_ms for run_id in ids]
    assert max(starts)[:16] == min(starts)[:16]
    assert all(took > 0 for took in ends)


def test_a_link_opens_the_columns_and_a_missing_run_is_said(engine: Engine) -> None:
    record = engine.run("What is a power set?")
    app = opened("side_by_side", sides=f"{record.id},gone")
    assert words_for("en")("side.missing") in [item.value for item in app.warning]
    assert words_for("en")("side.enough.alone") in inline(app)


def test_without_a_workflow_nothing_starts(engine: Engine) -> None:
    words = words_for("en")
    app = opened("side_by_side")
    chosen = setting(app, "side_workflows")
    chosen.set_value([])
    button(app, lambda label: label == words("side.run")).click().run()
    assert words("side.pick.none") in [item.value for item in app.warning]
    assert given(app, "sides") == ""


def test_a_blank_question_is_refused_with_its_remedy(engine: Engine) -> None:
    words = words_for("en")
    app = opened("side_by_side")
    app.text_input[0].set_value("   ")
    button(app, lambda label: label == words("side.run")).click().run()
    assert not app.exception
    assert "WB1" in inline(app)
    assert given(app, "sides") == ""
