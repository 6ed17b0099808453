"""Content terms of questions and passages, and their weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.builtin.terms import LEAST, MOST, question_terms, stem, surface_terms, terms, weight_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("糖尿病的主要原因是胰岛素不足。", "糖尿病 主要 原因 胰岛素 不足"),
        ("The truth tables were published", "truth table publish"),
        ("ＨｂＡ１ｃ 7.0％", "hba1c 7.0"),
        ("HbA1c 7.0%", "hba1c 7.0"),
        ("1,435 mm, 7.8 mmol and 2015", "1435 mm 7.8 mmol 2015"),
        ("n p x", ""),
        ("vitamin D", "vitamin d"),
    ],
)
def test_words_come_stemmed_and_without_stop_words_particles_and_variables(text: str, expected: str) -> None:
    assert terms(text) == [stem(word) for word in expected.split()]


def test_terms_of_a_question_are_distinct_and_in_order_as_they_were_first_written() -> None:
    assert question_terms("graph, tree, graph, tree and matrix") == tuple(map(stem, ("graph", "tree", "matrix")))
    assert surface_terms("Tables of a table") == {stem("tables"): "Tables"}
    assert question_terms("what does it mean?") != (), "filler is better than nothing"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("tables", "table"),
        ("studies", "study"),
        ("stopped", "stop"),
        ("making", "made"),
        ("vertices", "vertex"),
        ("graph's", "graphs"),
        ("diabetic", "diabetes"),
        ("maths", "mathematics"),
        ("infections", "infection"),
    ],
)
def test_forms_of_one_word_are_one_term(first: str, second: str) -> None:
    assert stem(first) == stem(second)


@pytest.mark.parametrize(("first", "second"), [("logic", "logistic"), ("set", "seat"), ("relation", "relative")])
def test_different_words_stay_different_terms(first: str, second: str) -> None:
    assert stem(first) != stem(second)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("什么是真值表？", ["真值表"]),
        ("糖尿病有哪些症状？", ["糖尿病", "症状"]),
        ("请问胰岛素是谁在哪一年发现的？", ["胰岛素", "发现"]),
        ("Who first published truth tables, and in which year?", ["first", "published", "truth", "tables"]),
        ("How many rows does a truth table need?", ["rows", "truth", "table"]),
        ("Can you tell me what type of insulin acts fastest?", ["insulin", "acts", "fastest"]),
        ("type 2 diabetes", ["type", "2", "diabetes"]),
        ("Does everyone with diabetes see everything blurry?", ["diabetes", "see", "blurry"]),
        ("对角线法是怎么证明的？", ["对角线", "法", "证明"]),
        ("选出三人有多少种选法？", ["选出", "三人", "选法"]),
        ("项目中会话怎么保存？", ["项目", "会话", "保存"]),
        ("开发时怎么解决跨域问题？", ["开发", "跨域"]),
    ],
)
def test_question_words_and_filler_are_not_terms_of_the_question(question: str, expected: list[str]) -> None:
    assert list(surface_terms(question, question=True).values()) == expected


@pytest.mark.parametrize(
    ("word", "question"),
    [
        ("定义域", "函数的定义域是什么？"),
        ("吗啡", "吗啡是什么？"),
        ("申请", "怎样申请？"),
        ("请求", "请求超时是多久？"),
        ("任何", "任何时候都能停止吗？"),
        ("多重", "多重继承怎么写？"),
    ],
)
def test_words_that_look_like_asking_survive(word: str, question: str) -> None:
    assert word in "".join(question_terms(question))


@pytest.mark.parametrize("question", ["", " ", "？！", "…", "😀"])
def test_a_question_without_words_has_no_terms(question: str) -> None:
    assert question_terms(question) == ()


def test_rare_words_weigh_more_than_common_ones() -> None:
    for rare, common in ((stem("contrapositive"), stem("time")), ("胰岛素", "发现"), ("真值表", "问题")):
        assert weight_of(rare) > weight_of(common)


@given(st.text())
def test_any_text_has_terms_and_weights_in_range(text: str) -> None:
    found = {*terms(text), *question_terms(text)}
    assert all(found)
    assert all(LEAST <= weight_of(term) <= MOST for term in found)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_surface_forms_belong_to_their_terms(text: str) -> None:
    forms = surface_terms(text)
    assert set(forms) == set(terms(text))
    assert all(forms.values())
