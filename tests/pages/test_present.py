"""The presenter page without a browser: demos on a machine with nothing, any run by its address, and the what-if."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.common.i18n import words_for
from engine.engine import Engine
from engine.replay.playback import steps
from engine.samples.demos import all_demos, demo_events, demo_record
from engine.settings import Settings
from tests.pages.driving import given, inline, on_pages, opened, setting, visible

EN = words_for("en")

LAST = str(len(steps(demo_events("demo-forced-en"))))


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Engine]:
    """An engine on an empty folder: nothing was run there."""
    with on_pages(Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1"))) as engine:
        yield engine


@pytest.mark.parametrize(("language", "other"), [("en", "zh"), ("zh", "en")])
def test_where_nothing_was_run_the_page_begins_with_the_first_demo_in_its_language(
    bare: Engine, language: str, other: str
) -> None:
    """SC-12"""
    app = opened("present", language)
    assert demo_record(f"demo-passes-{language}").question in visible(app)
    assert demo_record(f"demo-passes-{other}").question not in visible(app)
    assert not app.sidebar.slider and not app.slider


def test_an_own_run_comes_first_and_the_demos_wait_in_the_menu(engine: Engine) -> None:
    own = engine.run("Which of my runs is presented first?")
    app = opened("present", "en")
    assert own.question in visible(app)
    assert {item.key for item in app.button} == {"help"}
    menu = setting(app, "stage_run")
    assert menu.value == own.id
    at = [index for index, label in enumerate(menu.options) if label.endswith(" · demo")]
    assert len(at) == len(all_demos()) and at[0] > 0


def test_another_run_begins_at_its_first_step_and_stands_in_the_address(engine: Engine) -> None:
    app = opened("present", "en", run="demo-forced-en", step=LAST)
    setting(app, "stage_run").set_value("demo-rescue-en").run()
    assert not app.exception
    assert (given(app, "run"), given(app, "step")) == ("demo-rescue-en", "")
    assert demo_record("demo-rescue-en").question in visible(app)


def test_a_run_presented_after_another_begins_at_its_own_first_step(engine: Engine) -> None:
    app = opened("present", "en", run="demo-forced-en", step=LAST)
    assert app.slider
    app.session_state["run"] = "demo-abstains-en"
    app.run()
    assert demo_record("demo-abstains-en").question in visible(app)
    assert not app.slider


def test_the_last_step_shows_the_answer_and_asks_what_another_bar_would_have_done(engine: Engine) -> None:
    app = opened("present", "en", run="demo-forced-en", step=LAST)
    assert "Leonard Thompson" in inline(app)
    bar = app.slider[0]
    assert bar.value == 60
    assert "Move a setting" in visible(app)
    bar.set_value(20).run()
    assert not app.exception
    assert "3 rewrites" in visible(app)


def test_before_the_last_step_neither_answer_card_nor_slider_is_there(engine: Engine) -> None:
    app = opened("present", "en", run="demo-forced-en", step="3")
    assert given(app, "step") == "3"
    assert not app.slider
    assert not any(item.key == "present_answer" for item in app.get("bidi_component"))


def test_any_run_is_presented_by_its_address_and_nothing_is_run_again(engine: Engine) -> None:
    record = engine.run("Is the empty relation symmetric, and why?")
    before = len(engine.runs(limit=100))
    app = opened("present", "zh", run=record.id)
    assert record.question in visible(app)
    assert "收到问题，第一步" in inline(app)
    assert len(engine.runs(limit=100)) == before


@pytest.mark.parametrize("step", ["0", "-1", "99999", "two", "12345678901234567890"])
def test_a_step_that_is_none_is_no_fault(engine: Engine, step: str) -> None:
    app = opened("present", "en", run="demo-noise-en", step=step)
    assert demo_record("demo-noise-en").question in visible(app)


def test_a_run_that_is_not_there_is_said_and_the_demos_stay(engine: Engine) -> None:
    app = opened("present", "en", run="0" * 32)
    assert "There is no run" in inline(app)
    assert any(label.endswith(" · demo") for label in setting(app, "stage_run").options)


def test_a_question_is_shown_as_text_and_never_as_markdown(engine: Engine) -> None:
    record = engine.run("![x](http://192.0.2.1/leak.png) <b>Which</b> insulin acts fastest?")
    app = opened("present", "en", run=record.id)
    assert [item.value for item in app.text] == [record.question]
    assert all(record.question not in str(item.value) for item in app.markdown)


@pytest.mark.parametrize("step", ["9" * 5000, "-1", "1e3", "٣" * 20, " "])
def test_a_step_that_is_none_is_passed_over(engine: Engine, step: str) -> None:
    app = opened("present", "en", run="demo-forced-en", step=step)
    assert not app.exception
    assert demo_record("demo-forced-en").question in visible(app)
