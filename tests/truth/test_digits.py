"""Figures that a sentence holds against each other never look the same where they differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.ask.diagnosis import why_text
from components.common.i18n import UiLanguage, words_for
from engine.model.wording import distinct_texts
from engine.replay.diagnosis import Diagnosis


@given(st.floats(0, 1), st.floats(0, 1))
def test_two_values_look_the_same_exactly_where_they_are(one: float, other: float) -> None:
    left, right = distinct_texts(one, other)
    assert left != right or abs(one - other) < 1e-8
    assert (float(left) < float(right)) <= (one < other)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_passage_that_misses_the_bar_by_a_hair_is_not_said_to_reach_it(language: UiLanguage) -> None:
    words = words_for(language)
    said = why_text(Diagnosis("grader_too_strict", {"p": 0.4996, "bar": 0.5}), words)
    assert "0.4996" in said
    assert "0.5000" in said
    dropped = {"similarity": 0.2999, "threshold": 0.3, "rank": 4, "top_k": 5}
    assert "0.2999" in why_text(Diagnosis("dropped_by_similarity", dropped), words)
