"""What kind of answer is asked for, and where one stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.builtin.answer_kind import answer_strength, asked_by
from engine.model.values import AnswerKind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was insulin discovered?", "date"),
        ("In which year did Cantor publish it?", "date"),
        ("What happens when the glucose drops?", "other"),
        ("When does a connected graph have an Euler circuit?", "other"),
        ("How many rows does the table need?", "number"),
        ("What percentage of adults is affected?", "number"),
        ("What is the Ramsey number R(3, 3)?", "number"),
        ("Who first published truth tables, and in which year?", "person"),
        ("Which surgeon had the idea?", "person"),
        ("Where is insulin injected?", "place"),
        ("Which city hosted the games?", "place"),
        ("Why is the empty relation symmetric?", "cause"),
        ("What causes diabetes?", "cause"),
        ("How do I store insulin?", "way"),
        ("What is a truth table?", "definition"),
        ("What does contrapositive mean?", "definition"),
        ("Which insulin acts fastest?", "other"),
        ("diabetes", "other"),
        # The first noun belongs to another one, which is what is asked for.
        ("Which state table library is recommended?", "other"),
        ("Which state of the union is the largest?", "place"),
        ("Which state borders Ohio?", "place"),
        ("What does TLA stand for?", "definition"),
        ("TLA 是什么的缩写？", "definition"),
        ("缓存池有什么作用？", "definition"),
        ("胰岛素是哪一年发现的？", "date"),
        ("产后什么时候复查？", "date"),
        ("每周应当运动多少分钟？", "number"),
        ("有几种联结词？", "number"),
        ("平面几何学什么？", "other"),
        ("中国邮递员问题是谁提出的？", "person"),
        ("胰岛素打在哪里？", "place"),
        ("他来自哪个国家？", "place"),
        ("空关系为什么是对称的？", "cause"),
        ("这种图被称为什么？", "other"),
        ("妊娠期糖尿病怎么诊断？", "way"),
        ("什么是真值表？", "definition"),
        ("逻辑", "other"),
        ("", "other"),
    ],
)
def test_the_question_word_tells_the_kind_of_answer(question: str, kind: AnswerKind) -> None:
    assert asked_by(question).kind == kind


@pytest.mark.parametrize(
    ("question", "with_answer", "without"),
    [
        ("When was insulin discovered?", "It was found in 1921.", "It was found by two Canadians."),
        ("胰岛素是哪一年发现的？", "一九二一年在多伦多发现。", "在多伦多发现。"),
        ("产后什么时候复查？", "产后4–12周复查。", "产后要复查。"),
        ("How many rows does the table need?", "It needs 32 rows.", "It needs many rows."),
        ("每周应当运动多少分钟？", "每周至少150分钟。", "每周坚持运动。"),
        ("有几种联结词？", "常用的有五种。", "联结词有好些。"),
        ("How often is it released?", "It is released every month.", "It is released by the team."),
        ("多久发布一次？", "每月发布。", "由团队发布。"),
        ("Who discovered it?", "It was discovered by Frederick Banting.", "It was discovered by chance."),
        ("谁提出的？", "由管梅谷提出。", "很早就有人提出。"),
        ("Where was he born?", "He grew up near Toronto.", "He grew up poor."),
        ("他来自哪里？", "他来自湖南省。", "他很有名。"),
        ("Why is it vacuous?", "It holds because nothing violates it.", "It holds in every model."),
        ("为什么会口渴？", "由于血糖升高，水分流失。", "口渴很常见。"),
        ("How is it stored?", "Keep it cold by using a refrigerator.", "It spoils."),
        ("怎样保存？", "通过冷藏保存。", "它容易变质。"),
        ("What is a tautology?", "A tautology is a formula that is always true.", "Tautologies abound."),
        ("什么是重言式？", "重言式是指永远为真的公式。", "重言式很多。"),
    ],
)
def test_an_answer_of_the_kind_is_distinguished_from_its_absence(question: str, with_answer: str, without: str) -> None:
    asked = asked_by(question)
    assert answer_strength(asked, with_answer) > answer_strength(asked, without) == 0.0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What date was the game of 2015 played?", "The game of 2015 was close."),
        ("2015年的比赛是哪一天举行的？", "2015年的比赛很激烈。"),
        ("Who did Banting work with?", "Then came Banting."),
        ("How many of the 12 survived?", "The 12 were found."),
    ],
)
def test_what_the_question_says_itself_is_not_its_answer(question: str, text: str) -> None:
    assert answer_strength(asked_by(question), text) == 0.0


def test_a_year_is_not_a_count() -> None:
    asked = asked_by("How many people came?")
    assert answer_strength(asked, "It happened in 1997.") == 0.0
    assert answer_strength(asked, "Some 1997 people came.") == 1.0


def test_a_number_of_the_thing_counted_is_a_clearer_answer() -> None:
    for question, clear, doubtful in (
        ("How many grams of sugar?", "Take 15 grams.", "Wait 15 minutes."),
        ("要喝多少克葡萄糖？", "喝75克葡萄糖。", "等待75分钟。"),
    ):
        asked = asked_by(question)
        assert answer_strength(asked, clear) == 1.0
        assert 0 < answer_strength(asked, doubtful) < 1.0


@given(st.text(max_size=120), st.text(max_size=400))
def test_any_question_and_text_give_a_strength(question: str, text: str) -> None:
    asked = asked_by(question)
    assert answer_strength(asked, text) in {0.0, 0.5, 1.0}


@given(
    st.sampled_from(["Who?", "谁？", "Where?", "哪里？", "多少？", "When was it?"]), st.text(st.characters(codec=None))
)
def test_broken_characters_are_no_error(question: str, text: str) -> None:
    assert answer_strength(asked_by(question), f"中国{text}") >= 0.0


@pytest.mark.parametrize(
    ("question", "with_unit", "without"),
    [
        ("How often are lamps changed?", "with 3~6 months in between", "in release 3.2 of the lamp"),
        ("灯多久换一次？", "通常隔 3~6 个月", "在灯的 3.2 版里"),
    ],
)
def test_how_often_asks_for_a_time_and_not_for_any_number(question: str, with_unit: str, without: str) -> None:
    asked = asked_by(question)
    assert answer_strength(asked, with_unit) > answer_strength(asked, without)


def test_a_product_in_a_chinese_sentence_is_a_doubtful_person() -> None:
    asked = asked_by("灯塔的作者是谁？")
    assert answer_strength(asked, "用 Lampkit 来点亮灯塔。") < 1.0
    assert answer_strength(asked, "灯塔的作者是 Ada Lovelace 女士。") == 1.0
