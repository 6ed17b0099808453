"""Words of passages and queries, and what BM25 makes of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.builtin.full_text import MOST_BYTES, SEGMENTING, WordCounts, field_of, words

FIELDS = st.lists(st.text(alphabet="abcd ", max_size=30), max_size=8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("糖尿病患者的血糖", ["糖尿", "糖尿病", "患者", "的", "血糖"]),
        ("HbA1c 为 ７.０％", ["hba1c", "为", "7_0"]),
        ("Dogs' tails, the dog’s tail", ["dog", "tail", "the", "dog", "tail"]),
        ("5mg or 1,000 mmol/L", ["5", "mg", "or", "1000", "mmol", "l"]),
        ("COVID-19 and snake_case", ["covid", "19", "and", "snake_case"]),
        ("Straße ﬁnds Ⅳ", ["strass", "find", "iv"]),
        ("後來的症狀", ["后来", "的", "症状"]),
        ("東京タワーは高い", ["东京", "タワ", "ワー", "ーは", "高", "い"]),
        ("서울에서 비가", ["서울", "울에", "에서", "비가"]),
        ("การรองรับ", ["การ", "ารร", "รรอ", "รอง", "องร", "งรบ"]),
        ("हिन्दी शब्द", ["हनद", "शबद"]),
        ("， …!? \n", []),
        ("", []),
    ],
)
def test_texts_are_cut_into_words_of_their_language(text: str, expected: list[str]) -> None:
    """Where other words come out of a text, ``SEGMENTING`` needs another name: passages keep those they were cut to."""
    assert (SEGMENTING, words(text)) == ("words-2", expected)


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_every_word_is_one_word_to_an_analyzer_that_knows_only_letters_and_digits(text: str) -> None:
    found = words(text)
    assert re.findall(r"\w+", " ".join(found).lower()) == found


@given(st.text(max_size=100))
@settings(max_examples=100, deadline=None)
def test_upper_case_and_wide_letters_make_no_difference(text: str) -> None:
    ascii_text = text.encode("ascii", "ignore").decode()
    wide = "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in ascii_text)
    assert words(ascii_text.upper()) == words(ascii_text.lower()) == words(wide)


def test_a_field_that_would_be_too_long_ends_at_a_word() -> None:
    text = "邻接矩阵 " * 20_000
    field = field_of(text)
    assert MOST_BYTES - 20 < len(field.encode()) <= MOST_BYTES
    assert set(field.split()) == set(words("邻接矩阵"))
    assert field_of("a dog") == "a dog"


@given(FIELDS, st.lists(st.sampled_from("abcdz"), max_size=5))
def test_a_score_is_above_0_exactly_where_a_word_is_held(fields: list[str], query: list[str]) -> None:
    counts = WordCounts.of(fields)
    for field in fields:
        score = counts.score(query, field)
        assert (score > 0) == bool(set(query) & set(field.split()))


def test_rare_words_repeated_words_and_short_passages_score_higher() -> None:
    counts = WordCounts.of(["a b", "a c", "a d d d", "a e f g h i j"])
    assert counts.mean_length == 3.75
    assert counts.score(["b"], "a b") > counts.score(["a"], "a b")
    assert counts.score(["d"], "a d d d") > counts.score(["d"], "a d b c")
    assert counts.score(["e"], "a e") > counts.score(["e"], "a e f g h i j")
    assert counts.score(["b", "b"], "a b") == pytest.approx(2 * counts.score(["b"], "a b"))
    assert counts.score(["never", "seen"], "a b") == 0


def test_a_passage_written_after_the_counting_can_still_be_scored() -> None:
    assert WordCounts.of([]).score(["a"], "a b") > 0
    assert WordCounts.of(["a"]).score(["b"], "a b b") > 0


@given(FIELDS, st.lists(st.sampled_from("abcdz"), max_size=5), st.integers(0, 12))
def test_no_more_passages_than_asked_for_hold_the_rarest_words(fields: list[str], query: list[str], most: int) -> None:
    rare = set(WordCounts.of(fields).rarest(query, most))
    assert rare <= set(query)
    assert sum(bool(rare & set(field.split())) for field in fields) <= most
    assert most < len(fields) * 5 or rare == {word for word in query if any(word in field.split() for field in fields)}
