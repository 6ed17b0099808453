"""The grader bench fits the built-in grader to judgements: tried, used for the next run, and taken back."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from engine.evaluation.cases import QuerySet, sample_set
from engine.model.config import RoleModel, RoleModels, RunConfig
from tests.pages.driving import button, inline, opened, visible

EN = words_for("en")
_PATIENCE_S = 240.0
MANY, FEW = "many judgements", "few judgements"


@pytest.fixture
def gathered(engine: Engine) -> Engine:
    """Twenty-four questions with their evidence, and two."""
    if MANY not in engine.evaluation.query_sets():
        cases = [case for case in sample_set().cases if case.language == "en"]
        for name, some in ((MANY, cases[:24]), (FEW, cases[:2])):
            engine.evaluation.save_query_set(QuerySet(name, tuple(some)))
            batch = engine.batches.start(name, RunConfig(grade_probe=True, max_rewrites=0), 2)
            assert engine.batches.wait(batch, _PATIENCE_S)
    return engine


def bench(name: str, language: str = "en") -> AppTest:
    app = opened(language=language)
    app.session_state["query_set"] = name
    app.switch_page("tune.py").run()
    app.session_state["tune_tabs"] = words_for(language)("Grader bench")
    app.run()
    assert not app.exception, app.exception
    return app


def pressed(app: AppTest, name: str) -> AppTest:
    button(app, lambda label: label == EN(name)).click().run()
    assert not app.exception, app.exception
    return app


@pytest.mark.parametrize("language", ["en", "zh"])
def test_with_few_judgements_it_says_how_many_more_it_wants(gathered: Engine, language: UiLanguage) -> None:
    words = words_for(language)
    app = bench(FEW, language)
    assert words.count("1 more question is missing.", "{n} more questions are missing.", 3) in visible(app)
    assert not [item for item in app.button if item.label == words("Try a fit")]


def test_a_fit_is_tried_used_by_the_next_run_and_taken_back(gathered: Engine) -> None:
    app = pressed(bench(MANY), "Try a fit")
    assert EN("Brier score") in inline(app) and EN("Fitted") in inline(app)
    assert gathered.grader_fits.of("samples") == (), "trying keeps nothing"
    pressed(app, "Use it")
    (fit,) = gathered.grader_fits.of("samples")
    assert fit.kind == "coefficients" and fit.judgements > 40
    before, after = fit.figures["brier"]
    assert before is not None and after is not None and after < before
    assert app.session_state["grader"] == fit.name
    record = gathered.run("What is a truth table?", RunConfig(models=chosen(app)))
    assert record.manifest["grader_fit"] == f"coefficients@{fit.id}"
    pressed(app, "Back to the shipped one")
    assert app.session_state["grader"] == "builtin"
    assert fit.id in visible(app), "it is still there to be used again"


def chosen(app: AppTest) -> RoleModels:
    return RoleModels(grader=RoleModel(str(app.session_state["grader"])))
