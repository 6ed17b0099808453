"""Names and types of entities: what is shown, what is compared (GH-03)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.graph.names import normalised, shown, type_name, usable


@given(st.text())
def test_comparing_what_was_made_comparable_changes_nothing(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once
    assert normalised(shown(text)) == once
    once.encode()


@given(st.text(), st.sampled_from([" ", "\t", "\u3000", "\n "]))
def test_white_space_and_case_make_no_other_name(text: str, space: str) -> None:
    assert normalised(f"{space}{text.upper().lower()}{space}") == normalised(text.upper().lower())


@pytest.mark.parametrize(
    ("one", "other"),
    [("ＫＧ", "kg"), ("Straße", "STRASSE"), ("知识 图谱", "知识\u3000图谱"), ("ﬁne", "FINE"), ("Ⅳ", "iv")],
)
def test_the_same_name_written_otherwise_is_the_same(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("text", "name"),
    [("is a", "IS_A"), ("  treats! ", "TREATS"), ("治疗", "治疗"), ("", "TERM"), ("--", "TERM"), ("a\x00b", "A_B")],
)
def test_types_are_in_capitals_and_joined(text: str, name: str) -> None:
    assert type_name(text, "TERM") == name


def test_what_is_blank_or_as_long_as_a_sentence_is_no_name() -> None:
    assert usable("图")
    assert not usable(" \x00 ")
    assert not usable("x" * 201)
