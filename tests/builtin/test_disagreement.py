"""Passages that contradict each other on the figure asked for: the answer says so, the one to go by first."""

from __future__ import annotations

import asyncio

from engine.builtin.answer_reading import statements
from engine.builtin.generator import BuiltinGenerator
from engine.model.language import language_of
from engine.model.values import Passage, PassageId
from engine.roles import GenerationRequest

VALID = "Diabetes is diagnosed when the fasting plasma glucose is 7.0 mmol/L or more."
LEAFLET = (
    'From a leaflet: "Diabetes is present when the fasting plasma glucose is 7.8 mmol/L or higher." It is out of date.'
)
QUESTION = "What fasting plasma glucose level means diabetes?"


def answer(question: str, *texts: tuple[str, str]) -> str:
    passages = tuple(
        Passage(PassageId(f"p{number}"), f"p{number}.md", text, 0.5, 0.9, dated=dated)
        for number, (text, dated) in enumerate(texts, 1)
    )
    return asyncio.run(BuiltinGenerator().generate(GenerationRequest(question, passages, language_of(question), True)))


def test_an_outdated_figure_is_not_quoted_as_an_equal() -> None:
    for order in ([VALID, LEAFLET], [LEAFLET, VALID]):
        valid, old = order.index(VALID) + 1, order.index(LEAFLET) + 1
        said = answer(QUESTION, *((text, "") for text in order))
        assert said.endswith(
            f"\n\nThe sources differ: 7.0 mmol/L [{valid}] / 7.8 mmol/L [{old}], but the latter is called out of date."
        )
        assert "leaflet" not in said


def test_of_two_dated_passages_the_newer_one_comes_first() -> None:
    older = ("For a low, take 20 grams of sugar at once.", "2019-05-01")
    newer = ("For a low, take 15 grams of sugar at once.", "2024-05-01")
    said = answer("How many grams of sugar should I take for a low?", older, newer)
    assert said.endswith("\n\nThe sources differ: 15 grams [2] / 20 grams [1].")
    assert "take 20 grams" in said and "take 15 grams" in said


def test_a_chinese_answer_says_it_in_chinese() -> None:
    said = answer(
        "低血糖时应吃多少克糖？", ("低血糖时应立即吃15克糖。", ""), ("低血糖时应立即吃20克糖。这份说明已经过时。", "")
    )
    assert said.endswith("资料说法不一：15克糖[1] / 20克糖[2]，其中后者已注明过时。")


def test_the_sentence_is_no_claim_to_be_checked() -> None:
    said = answer(QUESTION, (VALID, ""), (LEAFLET, ""))
    assert statements(said)[-1].part == "note"


def test_figures_of_different_things_are_no_difference() -> None:
    said = answer(
        "How many grams of sugar are in juice and in cola?",
        ("A glass of juice holds 20 grams of sugar.", ""),
        ("A glass of cola holds 27 grams of sugar.", ""),
    )
    assert "differ" not in said
