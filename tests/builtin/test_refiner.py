"""Cutting passages to what bears on a question: GH-06."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.builtin.refiner import refined
from engine.builtin.strips import GAP, kept_text, strips_of
from engine.knowledge.samples import sample_sources
from engine.model.values import Passage, PassageId

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
    assert kept_text(passage(TEXT), cut).endswith("It is taken with meals.")


def test_at_least_the_best_sentence_is_kept() -> None:
    cut = refined(QUESTION, [passage(TEXT)], 1.0)
    assert [item.kept for item in cut[PassageId("p")]] == [True, False, False, False]


def test_a_passage_of_which_nothing_bears_is_left_whole() -> None:
    assert refined(QUESTION, [passage("The moon is far. Rain falls on roofs.")], 1.0) == {}


def test_what_stands_under_the_heading_that_is_asked_for_bears() -> None:
    text = "- Type: number\n- See also the proxy."
    question = "What is server.port?"
    assert refined(question, [passage(text, section="Server Options > server.port")], 0.3) == {}
    inside = f"# server.port\n{text}\n# server.host\n- Type: string\n- See also the proxy."
    kept = [item.kept for item in refined(question, [passage(inside)], 0.4)[PassageId("p")]]
    assert kept == [True, True, True, False, False, False]


def test_a_row_is_judged_with_the_header_of_its_table_which_stays_with_it() -> None:
    text = "| Drug | Dose |\n|---|---|\n| Metformin | 500 mg |\n| Insulin | 4 IE |\n"
    found = refined("What is the dose of metformin?", [passage(f"Doors open at nine.\n{text}")], 0.6)[PassageId("p")]
    assert [item.kept for item in found] == [False, True, True, False]


def test_a_chat_model_sees_where_something_was_left_out() -> None:
    cut = refined("How does metformin lower blood glucose?", [passage(f"Parking is free. {TEXT}")], 0.3)
    assert kept_text(passage(TEXT), cut, GAP) == (
        "… Metformin lowers blood glucose because it slows the output of the liver. It is taken with meals. …"
    )


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
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\nAfter it.", 4),
        ("| a | b |\n| 1 | 2 |\nAfter it.", 2),
        ("Run:\n```sh\nmake. Then\n\n# done\n```\nEnd.", 3),
        ("- `port` The port. Default: 5173.\n- `host` The host.\n    On one line.\nEnd.", 3),
        ("# Heading\nFirst thing. Second thing.", 3),
        ("他说：“走吧。”然后走了。", 2),
    ],
)
def test_strips_end_where_a_reader_ends_them(text: str, count: int) -> None:
    assert len(strips_of(text)) == count, strips_of(text)


def test_a_heading_stays_with_what_is_kept_under_it() -> None:
    text = "# Drugs\nMetformin lowers blood glucose.\n# Parking\nParking is free in the whole street."
    found = refined(QUESTION, [passage(text)], 0.3)[PassageId("p")]
    assert [item.kept for item in found] == [True, True, False, False]


@given(st.text(alphabet="aB 中。，.!?\n|#:“”()", max_size=60))
def test_the_strips_of_any_text_joined_are_the_text(text: str) -> None:
    assert "".join(strips_of(text)) == text


def test_the_strips_of_every_sample_passage_joined_are_the_passage() -> None:
    for source in sample_sources():
        for item in source.passages:
            assert "".join(strips_of(item.text)) == item.text
