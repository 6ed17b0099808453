"""Where a text only repeats itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.language import before_loop

_WORDS = st.text("abcdefgh 集合元素", min_size=8, max_size=120).map(str.strip).filter(lambda text: len(set(text)) > 3)


@given(_WORDS, _WORDS, st.integers(4, 9))
def test_the_end_of_a_loop_is_left_out_and_nothing_before_it(before: str, unit: str, copies: int) -> None:
    text = f"{before}. " + f"{unit}. " * max(copies, 200 // len(unit))
    found = before_loop(text)
    assert found is not None and text.startswith(found)
    assert before in found
    assert len(found) <= len(before) + 2 * (len(unit) + 2) + 2
    assert before_loop(found) is None


@given(st.lists(_WORDS, min_size=1, max_size=8, unique=True))
def test_a_text_that_says_something_else_each_time_is_no_loop(units: list[str]) -> None:
    text = "".join(f"{place}: {unit}. " for place, unit in enumerate(units, 100))
    assert before_loop(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|" + " --- |" * 60,
        "=" * 400,
        "Put it twice:\n" + "docker compose up --detach --wait\n" * 3,
        "",
    ],
)
def test_rules_of_tables_rows_of_signs_and_a_few_copies_are_no_loop(text: str) -> None:
    assert before_loop(text) is None
