"""An answer to the opposite question is noticed by the relevance aim, and no right answer is doubted: DL-04."""

from __future__ import annotations

import pytest

from engine.builtin.evaluator import judge, other_pole
from engine.builtin.generator import compose
from engine.knowledge.samples import sample_sources
from engine.model.language import language_of
from engine.model.values import Evaluation, Passage, PassageId
from engine.roles import EvaluationRequest, GenerationRequest
from engine.samples import sample_questions

_STORED = {item.id: item for source in sample_sources() for item in source.passages}


def shown(expected: tuple[PassageId, ...]) -> tuple[Passage, ...]:
    stored = [_STORED[name] for name in expected]
    return tuple(Passage(p.id, p.source, p.text, 0.6, 0.9, section=p.section, title=p.title) for p in stored)


def relevance(question: str, asked_before: str) -> Evaluation:
    """What the relevance aim says when the right answer to another sample question is given to this one."""
    sample = next(item for item in sample_questions() if item.question == asked_before)
    passages = shown(sample.expected)
    answer = "".join(compose(GenerationRequest(asked_before, passages, language_of(asked_before), verified=True)))
    request = EvaluationRequest(question, answer, passages, language_of(question), "relevance")
    return judge(request, [0.6] * len(passages))


@pytest.mark.parametrize(
    ("question", "asked_before"),
    [
        ("Which insulin acts longest?", "Which insulin acts fastest?"),
        ("Which insulin acts most slowly?", "Which insulin acts fastest?"),
        ("哪一种胰岛素维持时间最长？", "哪一种胰岛素起效最快？"),
        ("哪一种胰岛素起效最慢？", "哪一种胰岛素起效最快？"),
    ],
)
def test_the_right_answer_to_the_opposite_question_is_off(question: str, asked_before: str) -> None:
    """DL-04, DL-06: it would have been kept as a passed memory."""
    assert relevance(asked_before, asked_before).passed
    judged = relevance(question, asked_before)
    assert not judged.passed
    assert "other_pole" in [item.code for item in judged.suggestions]


def test_no_right_answer_to_a_sample_question_is_taken_for_one_of_the_opposite() -> None:
    """DL-04: 64 answers, made of the passages that answer."""
    answerable = [item.question for item in sample_questions() if item.expected]
    assert len(answerable) >= 64
    found = {item.code for question in answerable for item in relevance(question, question).suggestions}
    assert "other_pole" not in found


@pytest.mark.parametrize(
    ("question", "claims", "pole"),
    [
        ("What do I do when my glucose is high?", "A low is treated with 15 g of sugar.", ("high", "low")),
        ("血糖过高怎么办？", "发生低血糖时先吃15克糖。", ("糖过高", "低血糖")),
        ("What are the disadvantages of pumps?", "The main advantage is freedom.", ("disadvantages", "advantage")),
        ("饭前血糖应该是多少？", "饭后两小时应在7.8以下。", ("饭前", "饭后")),
        ("Which set is the smallest?", "The largest set is the power set.", ("smallest", "largest")),
        ("最常见的类型是哪种？", "最罕见的是单基因型。", ("最常见", "最罕见")),
    ],
)
def test_what_was_asked_and_what_was_answered_are_named(question: str, claims: str, pole: tuple[str, str]) -> None:
    found = other_pole(question, claims)
    assert found is not None
    assert (found.asked, found.said) == pole


@pytest.mark.parametrize(
    ("question", "claims"),
    [
        ("Which insulin acts longest?", "Degludec acts for more than 42 hours."),
        ("Which insulin acts longest?", "Aspart acts fastest, and U300 a little longer than U100."),
        ("Which acts fastest and which slowest?", "The slowest is NPH."),
        ("What do I do when my glucose is high?", "Below 4 it is low; above 14 test for ketones."),
        ("From low to high, what are the levels?", "The low one is 3.9."),
        ("What is the largest clique?", "The earliest proof is of 1930."),
        ("血糖高怎么办？", "超过13.9要查酮体，低血糖时不要运动。"),
        ("最长的路有多长？", "这条路有 5 条边。"),
    ],
)
def test_an_answer_with_any_sign_of_what_was_asked_is_left_alone(question: str, claims: str) -> None:
    assert other_pole(question, claims) is None
