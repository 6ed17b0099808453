"""Files of judgements: what is written is read back, and what cannot be used is named."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EvaluationError
from engine.evaluation.annotation.formats import Format, read, written
from engine.evaluation.cases import Case
from engine.evaluation.values import AnswerJudgement, Label
from engine.knowledge.loaders.separated import LONGEST_CELL
from engine.knowledge.sheets import listed
from engine.model.values import PassageId
from tests.support import office_files as made
from tests.support.errors import raises

CASES = (Case("a 1", "How hot?"), Case("b%", "水温, 多少？"))
LABELS = (
    Label("How hot?", PassageId("tea leaves.md#1"), True, "2026", explanation="says, so", drawn="random", judge="Ada"),
    Label("How hot?", PassageId("tea leaves.md#1"), True, "2026", judge="Bo"),
    Label("How hot?", PassageId("tea.md#2"), False, "2026", judge="Ada"),
    Label("水温, 多少？", PassageId("茶%20.md#1"), True, "2026", judge="Ada"),
)
ANSWERS = (
    AnswerJudgement("How hot?", "80 °C", "in_part", "nearly", judge="Ada", drawn="chosen"),
    AnswerJudgement("How hot?", "80 °C", "yes", by="model", judge="ollama:m"),
)


@pytest.mark.parametrize("form", get_args(Format))
def test_what_is_written_is_read_back(form: Format) -> None:
    text = written(form, CASES, LABELS, ANSWERS)
    found = read(text, "file", None, CASES)
    assert {(item.question, item.passage_id, item.relevant) for item in found.labels} == {
        (item.question, item.passage_id, item.relevant) for item in LABELS
    }
    if form == "jsonl":
        assert [(item.judge, item.explanation, item.drawn) for item in found.labels] == [
            (item.judge, item.explanation, item.drawn) for item in LABELS
        ]
        # What a model said is no judgement of a person, and is not taken in as one.
        assert [(item.right, item.judge, item.drawn) for item in found.answers] == [("in_part", "Ada", "chosen")]
        assert found.left_out == ("line 6: said by a model; only what people said is taken in",)
    else:
        assert len(found.labels) == 3 and not found.answers and found.left_out_n == 0


def test_qrels_have_four_fields_and_the_csv_has_quepids_columns() -> None:
    assert written("qrels", CASES, LABELS).splitlines() == [
        "a%201 0 tea%20leaves.md#1 1",
        "a%201 0 tea.md#2 0",
        "b%25 0 %E8%8C%B6%2520.md#1 1",
    ]
    assert written("quepid", CASES, LABELS).splitlines()[:2] == ["query,docid,rating", "How hot?,tea leaves.md#1,1"]


@pytest.mark.parametrize(
    "content",
    [
        b"query,docid,rating\nHow hot?,tea.md#2,1\n",
        b"query;docid;rating\nHow hot?;tea.md#2;1\n",
        b"Query\tDoc_ID\tRating\nHow hot?\ttea.md#2\t1\n",
        "query;docid;rating;备注\nHow hot?;tea.md#2;1;很好\n".encode("gb18030"),
        made.xlsx({"空": [], "S": [["query", "docid", "rating"], ["How hot?", "tea.md#2", 1]]}),
    ],
)
def test_ratings_are_read_from_every_kind_of_table(content: bytes) -> None:
    text, _ = listed("ratings", content)
    found = read(text, "ratings", None, CASES)
    assert [(item.question, item.passage_id, item.relevant) for item in found.labels] == [
        ("How hot?", "tea.md#2", True)
    ]
    assert found.left_out == ()


def test_graded_ratings_count_from_the_one_that_is_given() -> None:
    text = "query,docid,rating\nHow hot?,a,3\nHow hot?,b,1\nHow hot?,c,0\n"
    assert [item.relevant for item in read(text, "q.csv", None, CASES, relevant_from=2).labels] == [True, False, False]


def test_lines_that_cannot_be_used_are_named_and_the_others_go_in() -> None:
    text = "a%201 0 d1 1\nnobody 0 d1 1\na%201 0 d1\na%201 0 d2 high\n"
    found = read(text, "q", "qrels", CASES)
    assert len(found.labels) == 1 and found.left_out_n == 3
    assert found.left_out == (
        "line 2: the set has no question 'nobody'",
        "line 3: four fields are wanted",
        "line 4: the rating 'high' is no number",
    )


@pytest.mark.parametrize("text", ["", "nothing of the kind", "a,b\n1,2\n", '{"question": "Another?"}', "{" * 5000])
def test_a_file_without_anything_usable_is_refused(text: str) -> None:
    with raises(EvaluationError.judgements_unusable):
        read(text, "file", None, CASES)


@pytest.mark.parametrize("rating", ["nan", "inf", "-inf", "1e999"])
def test_a_rating_that_is_no_number_judges_nothing(rating: str) -> None:
    found = read(f"query,docid,rating\nHow hot?,a,{rating}\nHow hot?,b,1\n", "q.csv", None, CASES)
    assert [item.passage_id for item in found.labels] == ["b"]
    assert found.left_out == (f"line 2: the rating {rating!r} is no number",)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("form", get_args(Format))
def test_lines_may_end_as_on_any_system(form: Format, end: str) -> None:
    text = written(form, CASES, LABELS[:3]).replace("\n", end)
    assert len(read(text, "file", None, CASES).labels) == (3 if form == "jsonl" else 2)


def test_how_long_a_field_may_be_is_the_same_no_matter_what_was_read_before() -> None:
    found = read(f"query,docid,rating\nHow hot?,{'a' * 200_000},1\nHow hot?,b,1\n", "q.csv", None, CASES)
    assert len(found.labels) == 2 and not found.left_out


def test_a_field_beyond_all_measure_is_left_out_and_named() -> None:
    long = "a" * (LONGEST_CELL + 1)
    text = f"query,docid,rating\nHow hot?,{long},1\nHow hot?,b,1\n"
    found = read(text, "q.csv", None, CASES)
    assert [item.passage_id for item in found.labels] == ["b"] and found.left_out[0].startswith("line 2: ")
    with raises(EvaluationError.judgements_unusable):
        read(f"query,{long}\nHow hot?,b\n", "q.csv", None, CASES)


def test_line_separators_within_a_text_part_no_lines() -> None:
    label = Label("How hot?", PassageId("a"), True, "", explanation="so\u2028and\x85so", judge="Ada")
    (found,) = read(written("jsonl", CASES, [label]), "file", None, CASES).labels
    assert found == label


def test_json_lines_may_leave_out_who_said_it_and_why_and_no_empty_text_is_judged() -> None:
    given = '{"question": "How hot?", "passage": "a", "relevant": true, "judge": null, "explanation": null}'
    (found,) = read(given, "file", None, CASES).labels
    assert (found.judge, found.explanation) == ("", "")
    for empty in ('"passage": " ", "relevant": true', '"answer": "", "right": "yes"'):
        with raises(EvaluationError.judgements_unusable):
            read(f'{{"question": "How hot?", {empty}}}', "file", None, CASES)


def test_nothing_in_the_csv_is_a_formula_and_it_is_read_back_as_it_was() -> None:
    questions = ("=1+1?", "'=1+1?", "@a?", "-5 or more?", "'tis what?")
    cases = tuple(Case(str(place), question) for place, question in enumerate(questions))
    labels = [Label(question, PassageId("+a"), True, "") for question in questions]
    text = written("quepid", cases, labels)
    assert not any(cell.startswith(("=", "+", "-", "@")) for line in text.splitlines() for cell in line.split(","))
    assert "'tis what?,'+a,1" in text.splitlines()
    assert {(item.question, item.passage_id) for item in read(text, "q.csv", None, cases).labels} == {
        (question, "+a") for question in questions
    }


@given(st.text(max_size=200), st.sampled_from([None, *get_args(Format)]))
def test_no_text_breaks_the_reader(text: str, form: Format | None) -> None:
    try:
        found = read(text, "file", form, CASES)
    except EvaluationError as error:
        if error.code == EvaluationError.judgements_unusable.code:
            return
        raise
    assert found.labels or found.answers
