"""Cases and what their expectations mean."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import EvaluationError
from engine.evaluation.cases import Case, Expectation, case_from_dict, case_of, question_id, sample_set
from engine.evaluation.matching import meets, met_by, met_map
from engine.knowledge.samples import sample_sources
from engine.model.events import fold_all
from engine.model.values import Passage, PassageId
from engine.samples import sample_questions
from tests.support.errors import raises
from tests.support.recorded import recorded_run


def passage(text: str = "", source: str = "tea.md", number: int = 1) -> Passage:
    return Passage(PassageId(f"{source}#{number}"), source, text, 0.8, 0.8)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (Expectation("passage", "tea.md#1"), True),
        (Expectation("passage", "tea.md#11"), False),
        (Expectation("source", "tea.md"), True),
        (Expectation("source", " tea.md "), True),
        (Expectation("source", "tea"), False),
        (Expectation("text", "EIGHTY  degrees"), True),
        (Expectation("text", "eighty\ndegrees"), True),
        (Expectation("text", "ｅｉｇｈｔｙ degrees"), True),
        (Expectation("text", "ninety degrees"), False),
        (Expectation("text", "八十 度"), True),
        (Expectation("text", " \n"), False),
        (Expectation("text", ""), False),
    ],
)
def test_an_expectation_is_met_by_the_right_passage_only(expected: Expectation, found: bool) -> None:
    assert meets(expected, passage("Brew at eighty degrees. 水温八十度。")) is found


def test_a_name_is_the_same_in_either_unicode_form() -> None:
    assert meets(Expectation("source", "cafe\u0301.md"), passage(source="caf\u00e9.md"))


def test_a_passage_says_which_expectations_it_meets() -> None:
    case = Case("1", "?", (Expectation("text", "tea"), Expectation("passage", "x#1"), Expectation("source", "tea.md")))
    assert met_by(case, passage("Green tea")) == (0, 2)
    assert met_by(Case("2", "?"), passage("Green tea")) == ()


def test_every_candidate_of_every_round_is_in_the_map() -> None:
    record = fold_all(recorded_run(1))
    candidates = {item.passage.id for part in record.rounds for item in part.candidates}
    first = record.rounds[0].candidates[0].passage
    met = met_map(Case("1", record.question, (Expectation("passage", first.id),)), record)
    assert met.keys() == candidates and len(candidates) > 3
    assert [name for name, places in met.items() if places] == [first.id]


def test_the_samples_are_a_set_whose_labels_name_shipped_passages() -> None:
    cases = sample_set().cases
    shipped = {item.id for source in sample_sources() for item in source.passages}
    assert len(cases) == len(sample_questions()) > 60
    for case in cases:
        assert case.answerable is (case.kind != "unanswerable") is bool(case.expected)
        assert all(item.kind == "passage" and item.value in shipped for item in case.expected)


def test_a_case_survives_the_way_to_json_and_back() -> None:
    case = Case("1", "Wie heiß?", (Expectation("text", "80 °C"),), "other", "vague", None)
    assert case_from_dict(case.to_dict()) == case
    assert case_from_dict({"id": "1", "question": "?"}) == Case("1", "?")


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"id": "1"},
        {"id": "1", "question": 3},
        {"id": "1", "question": "?", "expected": [{"kind": "x", "value": ""}]},
    ],
)
def test_what_is_no_case_is_refused(plain: dict[str, object]) -> None:
    with raises(EvaluationError.data_set_unusable):
        case_from_dict(plain)


def test_a_run_becomes_a_case_that_expects_what_was_marked_or_else_cited() -> None:
    record = fold_all(recorded_run(0))
    cited = tuple(dict.fromkeys(item.passage_id for item in record.citations))
    assert cited
    assert case_of(record).expected == tuple(Expectation("passage", item) for item in cited)
    marked = case_of(record, [PassageId("a#1"), PassageId("a#1"), PassageId("b#2")])
    assert marked.expected == (Expectation("passage", "a#1"), Expectation("passage", "b#2"))
    assert (marked.question, marked.answerable) == (record.question, True)
    assert marked.id == case_of(record).id == question_id(record.question)


def test_a_run_that_cites_nothing_becomes_a_case_without_a_label() -> None:
    case = case_of(replace(fold_all(recorded_run(0)), citations=()))
    assert (case.expected, case.answerable, case.labelled) == ((), None, False)
