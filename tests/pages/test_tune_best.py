"""The card *Best settings* of Tune: what is called better, how many questions would tell, and what it admits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.sentences.recommendation import recommendation_text
from engine.evaluation.recommend import Recommendation, recommend
from engine.evaluation.statistics import mcnemar, questions_to_tell
from engine.evaluation.sweep import Axis, sweep
from engine.model.config import RunConfig
from pages.parts.tune.best import needed_text
from tests.evaluation.test_sweep import hidden
from tests.pages.driving import inline

EN = words_for("en")
BOTH: tuple[UiLanguage, ...] = ("en", "zh")
BEFORE = RunConfig(gate="pass_rate", grade_probe=True)


def recommended(better: int, **more: Any) -> Recommendation:
    base = replace(BEFORE, top_k=2)
    found = recommend(sweep(hidden(40, better=better), base, [Axis("top_k", (1, 2, 3))]), base)
    return replace(found, **more)


def drawn(found: Recommendation, language: UiLanguage) -> str:
    def page() -> None:
        import streamlit as st

        from pages.parts.tune.best import view

        view(*st.session_state["shown"], key="card")

    app = AppTest.from_function(page, default_timeout=60)
    app.session_state["shown"] = (found, ["Top-k 3"], words_for(language))
    app.run()
    assert not app.exception, app.exception
    return inline(app)


@pytest.mark.parametrize("language", BOTH)
def test_only_a_measurably_better_setting_is_called_recommended(language: UiLanguage) -> None:
    words = words_for(language)
    better = drawn(recommended(15), language)
    assert words("Recommended") in better and words("No setting is measurably better") not in better
    equal = recommended(2, cost_verdict="better", never_corrects=True)
    said = drawn(equal, language)
    for part in (
        words("No setting is measurably better"),
        words("Cheapest equal: {settings}", settings="Top-k 3"),
        words("It switches self-correction off. “Does correction pay?” counts the questions that correction helped."),
    ):
        assert part in said and part in recommendation_text(equal, ["Top-k 3"], words)
    assert words("Recommended") not in said


def test_too_poor_a_sweep_recommends_nothing_and_says_why() -> None:
    said = drawn(recommended(15, choice="too_poor"), "en")
    assert "No recommendation" in said and "reaches 0.30 (found and answered)" in said


def test_how_many_more_questions_are_needed_is_said_behind_a_name() -> None:
    better, equal = recommended(15), recommended(2)
    assert needed_text(better, EN) == "These questions are enough to tell it from the baseline."
    same = replace(equal, quality_test=mcnemar(np.ones(12), np.ones(12)))
    assert needed_text(same, EN).endswith("about 60 questions.")
    gained = replace(equal, quality_test=mcnemar(np.zeros(12), np.r_[np.ones(2), np.zeros(10)]))
    assert needed_text(gained, EN).startswith("If it differs as often as here, about 36 questions")
    assert json.dumps(needed_text(gained, EN)) in drawn(gained, "en")


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 40))
def test_so_many_questions_would_tell_and_a_quarter_of_them_would_not(gained: int, lost: int, same: int) -> None:
    def sides(times: float) -> tuple[Any, Any]:
        counts = [round(times * part) for part in (gained, lost, same)]
        return np.repeat([0.0, 1.0, 1.0], counts), np.repeat([1.0, 0.0, 1.0], counts)

    test = mcnemar(*sides(1))
    needed = questions_to_tell(test)
    if needed is None:
        assert gained == lost
        return
    times = needed / test.n
    # Rounded counts, and the exact test is a little stricter than its normal form.
    assert mcnemar(*sides(1.6 * times)).p < 0.05
    assert mcnemar(*sides(times / 4)).p > 0.05
