"""What a rewrite changed, by words and by Chinese characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.rewrites import Change, word_diff


def test_words_are_compared_whole() -> None:
    """SC-12: rewrite history."""
    assert word_diff("high sugar feeling", "high blood sugar symptoms") == (
        Change("same", "high "),
        Change("added", "blood "),
        Change("same", "sugar "),
        Change("removed", "feeling"),
        Change("added", "symptoms"),
    )


def test_a_wholly_new_query_is_one_change_and_not_one_per_word() -> None:
    assert word_diff("what happens then", "thirst and fatigue") == (
        Change("removed", "what happens then"),
        Change("added", "thirst and fatigue"),
    )


def test_chinese_is_compared_by_character() -> None:
    assert word_diff("血糖 症状", "高血糖 症状") == (Change("added", "高"), Change("same", "血糖 症状"))


@pytest.mark.parametrize("text", ["", "same words"])
def test_equal_queries_have_no_changes(text: str) -> None:
    assert all(change.kind == "same" for change in word_diff(text, text))


@given(st.text(alphabet="ab 血糖，。"), st.text(alphabet="ab 血糖，。"))
def test_both_queries_can_be_read_from_the_changes(old: str, new: str) -> None:
    changes = word_diff(old, new)
    assert "".join(item.text for item in changes if item.kind != "added") == old
    assert "".join(item.text for item in changes if item.kind != "removed") == new
