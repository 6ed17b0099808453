"""Cutting passages to what bears on a question: GH-06."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.samples import sample_sources
from engine.model.values import Passage, PassageId
from engine.retrieval.graph_context import given_text, refined, sentences_of

QUESTION = "How does metformin lower blood glucose?"
TEXT = (
    "Metformin lowers blood glucose because it slows the output of the liver. It is taken with meals. "
    "The clinic opens at nine.\nParking is free."
)


def passage(text: str, name: str = "p", section: str = "") -> Passage:
    return Passage(PassageId(name), f"{name}.md", text, 0.5, 0.5, section=section)


def test_sentences_that_do_not_bear_on_the_question_are_cut_and_kept_in_the_record() -> None:
    cut = refined(QUESTION, [passage(TEXT)], 0.3)
    found = cut[PassageId("p")]
    assert [item.kept for item in found] == [True, True, False, False]
    assert found[0].bearing > 0.5 > found[3].bearing
    assert "".join(item.text for item in found) == TEXT
    assert given_text(passage(TEXT), cut).endswith("It is taken with meals.")


def test_at_least_the_best_sentence_is_kept() -> None:
    cut = refined(QUESTION, [passage("The moon is far. Rain falls on roofs.")], 1.0)
    assert sum(item.kept for item in cut[PassageId("p")]) == 1


def test_a_passage_of_which_everything_bears_is_not_in_the_result() -> None:
    assert refined(QUESTION, [passage(TEXT)], 0.0) == {}


def test_a_passage_in_another_language_is_left_whole() -> None:
    assert refined(QUESTION, [passage("二甲双胍抑制肝糖输出。停车免费。")], 0.9) == {}


def test_a_sentence_that_connects_entities_of_the_search_is_kept_though_it_repeats_nothing() -> None:
    text = "Metformin lowers glucose. The clinic opens at nine. Parking is free. Goats ate galega in the meadow."
    question = "Which plant is metformin made from?"
    without = refined(question, [passage(text)], 0.4)[PassageId("p")]
    linked = refined(question, [passage(text)], 0.4, ["Galega", "goats"])[PassageId("p")]
    assert [item.kept for item in without] == [True, True, False, False]
    assert [item.kept for item in linked] == [True, True, False, True]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two.", 2),
        ("按 2–8 ℃ 保存。不可冷冻！", 2),
        ("See Dr. Smith at 9 a.m. today. Then go.", 2),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nAfter it.", 2),
        ("# Heading\nFirst thing. Second thing.", 3),
        ("他说：“走吧。”然后走了。", 2),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, count: int) -> None:
    assert len(sentences_of(text)) == count, sentences_of(text)


def test_a_heading_stays_with_what_is_kept_under_it() -> None:
    text = "# Drugs\nMetformin lowers blood glucose.\n# Parking\nParking is free in the whole street."
    found = refined(QUESTION, [passage(text)], 0.3)[PassageId("p")]
    assert [item.kept for item in found] == [True, True, False, False]


@given(st.text(alphabet="aB 中。，.!?\n|#:“”()", max_size=60))
def test_the_sentences_of_any_text_joined_are_the_text(text: str) -> None:
    assert "".join(sentences_of(text)) == text


def test_the_sentences_of_every_sample_passage_joined_are_the_passage() -> None:
    for source in sample_sources():
        for item in source.passages:
            assert "".join(sentences_of(item.text)) == item.text
