"""Quoting cells of tables without a model: GH-05."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.builtin.generator import compose
from engine.builtin.table_answer import number_in, table_sentences
from engine.model.values import Attachment, Language
from engine.retrieval.streaming_citations import attached
from engine.roles import GenerationRequest, TableGiven

DOSES = Attachment(
    "table",
    "doses.csv",
    rows=(
        ("Drug", "Dose (mg)", "Onset (min)"),
        ("Metformin", "500", "120"),
        ("Glipizide", "5", "30"),
        ("Acarbose", "50", ""),
    ),
)
SALES = Attachment(
    "table", "销量.xlsx", rows=(("城市", "销量", "店铺数"), ("北京", "1,200", "12"), ("上海", "980", "15"))
)

REGIONS = Attachment(
    "table",
    "sales.xlsx",
    rows=(
        ("Product", "Region", "Units", "Price"),
        ("Kestrel 3", "Germany", "1200", "89.5"),
        ("Kestrel 3", "France", "860", "92"),
        ("Heron 5", "Germany", "140", "1490"),
        ("Heron 5", "Spain", "75", "1520"),
    ),
)


def given(table: Attachment, number: int = 1) -> TableGiven:
    rows = tuple(enumerate(table.rows, start=1))[1:]
    return TableGiven(number, table.name, table.rows[0], rows)


@pytest.mark.parametrize(
    ("question", "table", "language", "sentence"),
    [
        ("What is the dose of metformin?", DOSES, "en", "Table 1 says: Metformin, Dose (mg): 500 [T1:B2]."),
        ("What is the onset of glipizide?", DOSES, "en", "Table 1 says: Glipizide, Onset (min): 30 [T1:C3]."),
        ("Which drug has the highest dose?", DOSES, "en", "Table 1 says: Metformin, Dose (mg): 500 [T1:B2]."),
        ("Which drug has the lowest dose?", DOSES, "en", "Table 1 says: Glipizide, Dose (mg): 5 [T1:B3]."),
        ("How many units of the Heron 5 in Spain?", REGIONS, "en", "Table 1 says: Heron 5, Spain, Units: 75 [T1:C5]."),
        (
            "What is the price of the Kestrel 3 in France?",
            REGIONS,
            "en",
            "Table 1 says: Kestrel 3, France, Price: 92 [T1:D3].",
        ),
        ("上海的销量是多少？", SALES, "zh", "表 1 中，上海、销量：980[T1:B3]。"),
        ("哪个城市的销量最高？", SALES, "zh", "表 1 中，北京、销量：1,200[T1:B2]。"),
    ],
)
def test_the_cell_asked_for_is_quoted_with_its_marker(
    question: str, table: Attachment, language: str, sentence: str
) -> None:
    found = table_sentences(question, [given(table)], "zh" if language == "zh" else "en")
    assert found == [sentence]


def test_cells_that_answer_equally_much_are_quoted_together() -> None:
    found = table_sentences("How many units of the Heron 5?", [given(REGIONS)], "en")
    assert [sentence.rsplit(" ", 1)[1] for sentence in found] == ["[T1:C4].", "[T1:C5]."]


def test_a_question_that_the_table_does_not_touch_gets_no_cell() -> None:
    assert table_sentences("Who discovered insulin?", [given(DOSES)], "en") == []


@pytest.mark.parametrize(
    ("question", "table"), [("What is the dose of metformin?", DOSES), ("上海的销量是多少？", SALES)]
)
def test_every_quoted_cell_survives_the_check_of_its_marker(question: str, table: Attachment) -> None:
    language: Language = "zh" if table is SALES else "en"
    text = "".join(compose(GenerationRequest(question, (), language, tables=(given(table),))))
    answer = attached(text, (), (table,))
    assert answer.text == text
    assert len(answer.cell_citations) == 1
    assert not answer.removed + tuple(item.marker for item in answer.unsupported)


def test_a_cell_cannot_pass_for_a_marker() -> None:
    rows = (("Drug", "Dose"), ("Metformin", "500 [1] [T1:A1]"))
    (sentence,) = table_sentences("What is the dose of metformin?", [given(Attachment("table", "t", rows=rows))], "en")
    assert "[1]" not in sentence
    assert sentence.count("[T1:") == 1


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1,200", 1200.0), ("3.5 %", 3.5), ("−4", -4.0), ("about 3", None), ("", None), ("12 mg", 12.0)],
)
def test_numbers_of_cells(cell: str, number: float | None) -> None:
    assert number_in(cell) == number


def test_the_greatest_of_the_rows_that_fitted_is_not_passed_off_as_the_greatest_of_the_table() -> None:
    """GH-05"""
    whole = given(DOSES)
    cut = replace(whole, rows=whole.rows[1:], left_out=1)
    assert table_sentences("Which drug has the highest dose?", [whole], "en")
    assert table_sentences("Which drug has the highest dose?", [cut], "en") == []
