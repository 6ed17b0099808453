"""Small facts about text: SC-06 and SC-07."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.language import language_of, normalised_query, sentences


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is a truth table?", "en"),
        ("什么是真值表？", "zh"),
        ("什么是 Hamiltonian cycle?", "zh"),
        ("What does 图 mean in graph theory?", "en"),
        ("Who wrote the 论语?", "en"),
        ("HbA1c 目标值", "zh"),
        ("これは何ですか", "other"),
        ("Что это?", "other"),
        ("42", "other"),
        ("", "other"),
    ],
)
def test_mixed_text_has_the_language_of_its_grammar(text: str, language: str) -> None:
    """SC-07: the answer comes in the language of the question."""
    assert language_of(text) == language


@pytest.mark.parametrize("same", ["What is logic?", "what  is LOGIC", "Ｗｈａｔ is logic!", "what is logic？"])
def test_case_width_space_and_punctuation_do_not_make_another_query(same: str) -> None:
    """SC-06"""
    assert normalised_query(same) == normalised_query("what is logic")


def test_sentences_end_where_either_language_ends_them() -> None:
    assert sentences("一句。两句！Three? It is 2.5 mm. Four") == ["一句。", "两句！", "Three?", "It is 2.5 mm.", "Four"]


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    assert language_of(text) in ("zh", "en", "other")
    assert all(part.strip() for part in sentences(text))
    assert normalised_query(normalised_query(text)) == normalised_query(text)
