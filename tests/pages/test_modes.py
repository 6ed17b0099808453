"""The mode race on the page Loops: started by a button, opened again by its link, loud where a mode could not work."""

from __future__ import annotations

from components.common.i18n import words_for
from components.labels import choices_of
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.running.mode_race import MODES
from engine.samples import multi_hop_questions
from tests.pages.driving import button, given, inline, opened, setting, visible

EN = words_for("en")
_PATIENCE_S = 60.0


def test_before_a_question_the_race_says_what_to_do(engine: Engine) -> None:
    words = words_for("zh")
    app = opened("side_by_side", "zh", versus="modes")
    assert words("Ask a question: all of them answer it at once.") in visible(app)
    assert next(item.question for item in multi_hop_questions() if item.language == "zh") in visible(app)


def test_one_question_runs_in_all_six_modes_and_every_run_is_kept(engine: Engine) -> None:
    """GH-02: six modes of one question, each a run of its own that stays a record."""
    app = opened("side_by_side", versus="modes")
    button(app, lambda label: label == EN("Run all")).click().run()
    ids = given(app, "race").split(",")
    assert all(engine.wait(run_id, _PATIENCE_S) for run_id in ids)
    app.run()
    assert not app.exception, app.exception
    assert [engine.record(run_id).config.mode for run_id in ids] == list(MODES)
    drawn = inline(app)
    for mode in MODES:
        assert EN(choices_of("mode")[mode]) in drawn
    assert EN("Passages by mode") in drawn
    assert EN("without a search") in drawn


def test_a_link_opens_the_race_and_leaves_out_what_is_no_mode(engine: Engine) -> None:
    config = RunConfig(workflow="graph_hybrid", mode="local")
    record, other = engine.run("What is insulin?", config), engine.run("What is a power set?")
    app = opened("side_by_side", versus="modes", race=f"{record.id},{other.id},gone")
    assert any("is not here any more." in item.value for item in app.warning)
    assert EN("Without the mode Naive, what only the graph found is unknown.") in inline(app)
    assert other.id not in inline(app)


def test_without_a_mode_nothing_starts(engine: Engine) -> None:
    app = opened("side_by_side", versus="modes")
    setting(app, "race_modes").set_value([])
    button(app, lambda label: label == EN("Run all")).click().run()
    assert EN("Choose at least one.") in [item.value for item in app.warning]
    assert given(app, "race") == ""
