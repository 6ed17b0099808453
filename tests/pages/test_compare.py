"""The page Compare: choosing runs, sharing the choice by address, making the run that is missing, and the report."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.common.judged import BASIS_NAMES
from engine.engine import Engine
from engine.evaluation.measures import MEASURES
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.samples.demos import demo_record
from pages.parts.ask.share import report_file, report_map
from pages.parts.runs.compare_choices import run_choices
from tests.pages.driving import button, given, inline, opened, setting, visible

EN, ZH = words_for("en"), words_for("zh")
QUESTION = "What fasting glucose level means diabetes today?"
_PATIENCE_S = 60.0


def compare(language: str = "en", **query: str) -> AppTest:
    """The page under an address of its own, as a shared link opens it."""
    return opened("compare", language, **query)


def checked(app: AppTest) -> AppTest:
    assert not app.exception, app.exception
    return app


def finished(app: AppTest, engine: Engine, side: str) -> str:
    """The run of a side once it has ended, the page drawn again."""
    run_id: str = app.session_state[side]
    assert engine.wait(run_id, _PATIENCE_S)
    checked(app.run())
    return run_id


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_a_second_run_the_page_says_what_to_do(engine: Engine, language: UiLanguage) -> None:
    """SC-12: an empty state always says what to do next."""
    words = words_for(language)
    app = compare(language)
    assert words("Choose two runs, or see how it looks with two recorded ones.") in visible(app)
    app = compare(language, a="demo-passes-en")
    assert words("Choose a second run, or make one below.") in visible(app)


def test_a_link_opens_both_runs_side_by_side_and_the_sides_can_be_swapped(engine: Engine) -> None:
    app = compare(a="demo-forced-en", b="demo-rescue-en")
    assert (setting(app, "a").value, setting(app, "b").value) == ("demo-forced-en", "demo-rescue-en")
    assert demo_record("demo-forced-en").question in inline(app)
    assert demo_record("demo-rescue-en").question in inline(app)
    assert EN("Path") not in inline(app), "two questions have no path in common"
    button(app, lambda label: label == EN("Swap")).click().run()
    checked(app)
    assert (given(app, "a"), given(app, "b")) == ("demo-rescue-en", "demo-forced-en")


def test_what_the_query_sets_say_of_both_answers_is_shown(engine: Engine) -> None:
    """A sample question has a gold answer, and that of a fresh installation nobody has judged."""
    judged_by = EN("judged by: {basis}", basis=EN(BASIS_NAMES["gold"]))
    for a, b, both in (("demo-noise-en", "demo-noise-en", 2), ("demo-noise-en", "demo-forced-en", 1)):
        shown = inline(compare(a=a, b=b))
        assert shown.count(judged_by) == both
        assert shown.count(EN(MEASURES["f1"].name)) == both


def test_a_choice_stands_in_the_address(engine: Engine) -> None:
    app = compare()
    setting(app, "a").set_value("demo-passes-zh").run()
    setting(app, "b").set_value("demo-noise-zh").run()
    checked(app)
    assert (given(app, "a"), given(app, "b")) == ("demo-passes-zh", "demo-noise-zh")


def test_a_run_that_is_gone_is_said_to_be_gone(engine: Engine) -> None:
    app = compare(a="0" * 32, b="demo-rescue-en")
    assert EN("{run} is not here any more.", run="A") in [item.value for item in app.warning]


def test_two_runs_of_one_question_under_the_same_settings_are_equal(engine: Engine) -> None:
    """Built-in roles are deterministic."""
    first, second = (engine.run(QUESTION, RunConfig()) for _ in range(2))
    app = compare(a=first.id, b=second.id)
    assert EN("Same path, passages, verdicts and answer.") in inline(app)


def test_the_same_question_runs_under_changed_settings_and_opens_as_b(engine: Engine) -> None:
    first = engine.run(QUESTION, RunConfig())
    app = compare(a=first.id)
    slider = next(item for item in app.slider if item.label == EN("Top-k"))
    slider.set_value(2).run()
    assert EN("Changed: {names}", names=EN("Top-k")) in visible(app)
    button(app, lambda label: label == EN("Run and compare")).click().run()
    second = engine.record(finished(app, engine, "b"))
    assert (second.question, second.config.top_k, given(app, "b")) == (QUESTION, 2, second.id)
    assert second.config == RunConfig(top_k=2)
    assert EN("− only A") in inline(app)


def test_the_editor_can_start_from_a_preset(engine: Engine) -> None:
    """A preset is a pass threshold, so it brings the gate along that reads it."""
    first = engine.run(QUESTION, RunConfig())
    app = compare(a=first.id)
    strict = EN("A with the preset “{name}”", name=EN("Strict"))
    setting(app, "compare_from").set_value(strict).run()
    changed = EN(", ").join((EN("Min. pass rate"), EN("Answer when")))
    assert EN("Changed: {names}", names=changed) in visible(checked(app))
    button(app, lambda label: label == EN("Run and compare")).click().run()
    second = engine.record(finished(app, engine, "b")).config
    assert (second.gate, second.grade_pass_threshold) == ("pass_rate", 0.8)


def test_saved_settings_are_offered_to_start_from(engine: Engine) -> None:
    engine.evaluation.save_settings("narrow", RunConfig(top_k=1))
    try:
        app = compare(a="demo-passes-en")
        assert EN("Saved: {name}", name="narrow") in setting(app, "compare_from").options
    finally:
        engine.evaluation.delete_settings("narrow")


def test_the_other_grader_is_one_press_away(engine: Engine) -> None:
    chat = RunConfig(models=RoleModels(grader=RoleModel("ollama:absent")))
    failed = engine.run(QUESTION, chat)
    assert failed.error is not None
    app = compare(a=failed.id)
    wanted = EN("Run with {model}", model=EN("built-in"))
    button(app, lambda label: label == wanted).click().run()
    second = engine.record(finished(app, engine, "b"))
    assert (second.outcome, second.config) == ("answered", RunConfig())
    assert failed.error.fact in inline(app)
    assert "ollama:absent" in inline(app)


def test_where_there_is_no_other_grader_the_page_says_what_would_bring_one(engine: Engine) -> None:
    assert EN("Set up a chat model to compare graders.") in visible(compare(a="demo-passes-en"))


def test_another_question_runs_under_both_settings_at_once(engine: Engine) -> None:
    first, second = engine.run(QUESTION, RunConfig()), engine.run(QUESTION, RunConfig(top_k=2))
    app = compare(a=first.id, b=second.id)
    box = next(item for item in app.text_input if item.label == EN("Another question, under both settings"))
    box.set_value("What is a truth table?")
    app.button[-1].click().run()
    found = [engine.record(finished(app, engine, side)) for side in ("a", "b")]
    assert {item.question for item in found} == {"What is a truth table?"}
    assert [item.config.top_k for item in found] == [5, 2]


def test_runs_of_another_workflow_are_named_by_it(engine: Engine) -> None:
    usual = engine.run("What is a truth table?", RunConfig(max_rewrites=0))
    dual = engine.run("What is a truth table?", RunConfig(workflow="dual_loop"))
    choices = run_choices(engine, EN, dual.id, ())
    assert EN("Dual loop") in choices[dual.id]
    assert EN("Four-node loop") not in choices[usual.id]


def test_an_open_run_is_offered_first(engine: Engine) -> None:
    run = engine.run(QUESTION, RunConfig())
    app = opened("", "en", run=run.id)
    app.query_params["view"] = "compare"
    app.switch_page("runs.py").run()
    assert setting(checked(app), "a").value == run.id
    assert EN("open on Ask") in setting(app, "a").options[1]


def test_the_report_of_a_run_is_made_from_its_record_alone(engine: Engine) -> None:
    language: UiLanguage = "zh"
    words = words_for(language)
    run = demo_record(f"demo-forced-{language}")
    document = report_file(engine, run, words).decode()
    assert run.question in document
    assert words("What-if map") in document
    drawn = report_map(engine, run, words)
    assert drawn is not None and drawn.point is not None
    column, row = drawn.point
    assert drawn.cells[row][column] == run.outcome
