"""Citations attached while an answer streams: GH-05, GH-07."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.builtin.cells import cell_named, column_letters
from engine.model.values import Attachment, Passage, PassageId
from engine.retrieval.citations import StreamedCitations, resolve
from engine.retrieval.streaming_citations import AttachingCitations, attached

METFORMIN = Passage(PassageId("a"), "drugs.md", "Metformin lowers the glucose output of the liver by 36 %.", 0.6, 0.6)
THIRST = Passage(PassageId("b"), "signs.md", "Thirst and frequent urination are early signs of diabetes.", 0.5, 0.5)
CHINESE = Passage(PassageId("c"), "药物.md", "二甲双胍抑制肝糖输出，是首选药物。", 0.5, 0.5)
PASSAGES = (METFORMIN, THIRST, CHINESE)
DOSES = Attachment(
    "table", "doses.csv", rows=(("Drug", "Dose (mg)", "Maker"), ("Metformin", "500", ""), ("Insulin", "10", "N"))
)


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    at = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[begin:end] for begin, end in itertools.pairwise(at)] or [text]


def streamed(pieces: list[str]) -> list[str]:
    attaching = AttachingCitations(PASSAGES, (DOSES,))
    return [*(attaching.feed(piece) for piece in pieces), attaching.finish()]


def test_a_sentence_gets_its_markers_when_it_is_complete() -> None:
    """GH-07"""
    out = streamed(
        ["Metformin lowers the ", "glucose output of the liver ", "[1", "]", ".", " Thirst", " is a sign [2]."]
    )
    assert out[0] == "Metformin lowers the"
    assert out[1] == " glucose output of the liver"
    assert out[2:5] == ["", "", ""], "a marker waits for the end of its sentence"
    assert out[5] == " [1]. Thirst"
    assert "".join(out) == "Metformin lowers the glucose output of the liver [1]. Thirst is a sign [2]."


def test_a_marker_that_points_nowhere_is_taken_out_and_reported() -> None:
    """GH-07"""
    answer = attached(
        "Metformin lowers the glucose output of the liver [1][9]. Thirst and urination are signs [7].", PASSAGES
    )
    assert answer.text == "Metformin lowers the glucose output of the liver [1]. Thirst and urination are signs."
    assert answer.removed == ("[9]", "[7]")
    assert [item.marker for item in answer.citations] == [1]


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("It stands here [7].", "It stands here."),
        ("它在这里 [7]。然后【2】", "它在这里。然后[2]"),
        ("It stands [7], [8] here.", "It stands here."),
        ("It stands [7], [2] here.", "It stands [2] here."),
        ("In 1990, [7] it stood.", "In 1990, it stood."),
        ("[7] It stands.", "It stands."),
        ("It stands.[7] And so on [1].", "It stands. And so on [1]."),
        ("A cell [T1:B3].", "A cell."),
        ("Take `row[7]` or\n```\nx[8]. y[9]\n```\n", "Take `row[7]` or\n```\nx[8]. y[9]\n```\n"),
    ],
)
def test_a_removed_marker_leaves_no_blank_and_no_comma_behind(written: str, left: str) -> None:
    """SC-07, GH-07: the same in every workflow."""
    assert resolve(written, PASSAGES).text == left


@pytest.mark.parametrize(
    ("written", "left", "cited"),
    [
        ("It [Source 1] is. So [Doc. 2], [passage #3].", "It [1] is. So [2], [3].", [1, 2, 3]),
        ("It [Source: 1; Source: 2] is.", "It [1][2] is.", [1, 2]),
        ("It [1-2] is. So [1–3].", "It [1][2] is. So [1][2][3].", [1, 2, 3]),
        ("It [2 to 3], [1 and 2], [1 3].", "It [2][3], [1][2], [1][3].", [2, 3, 1]),
        ("It [^2] is^[1].", "It [2] is[1].", [2, 1]),
        ("It 【1†guide.md】 is【2†L3-L5】.", "It [1] is[2].", [1, 2]),
        ("它［１］是[来源2]，〔3〕是【片段3】。", "它[1]是[2]，〔3〕是[3]。", [1, 2, 3]),
        ("它（来源1）是 (Source 2).", "它[1]是 [2].", [1, 2]),
        ("It [1](#p1) is [[2]](https://x.test/a?b=1).", "It [1] is [2].", [1, 2]),
        ("It is so.[Source 1] And so on [ 2].", "It is so.[1] And so on [ 2].", [1]),
        # What points nowhere.
        ("It [Source 9] is 【4:2†source】.", "It is.", []),
        ("It [2-4] is.", "It [2][3] is.", [2, 3]),
        # What is no marker.
        ("a[1] or data[2] = 3, $x[1], `b[2]` (1)", "a[1] or data[2] = 3, $x[1], `b[2]` (1)", []),
        ("It's[1] so; Paris[2].", "It's[1] so; Paris[2].", [1, 2]),
        ("[10-20] mg, [0-9], [Table 1], [3](2020)", "[10-20] mg, [0-9], [Table 1], [3](2020)", [3]),
        # Footnotes of Markdown: sources are on the page, and what else is said stays.
        ("It [^1].\n\n[^1]: signs.md, p. 3\n[^2]: https://x.test", "It [1].\n\n", [1]),
        ("It [^1].\n\n[^1]: For adults. Only.\n", "It [1].\n\n[1] For adults. Only.\n", [1]),
        ("It [^7].\n[^7]: Nothing has it.\n", "It.\nNothing has it.\n", []),
    ],
)
def test_markers_are_read_however_models_write_them(written: str, left: str, cited: list[int]) -> None:
    """SC-07, GH-07"""
    three = (THIRST, METFORMIN, CHINESE)
    answer = resolve(written, three)
    assert (answer.text, [item.marker for item in answer.citations]) == (left, cited)
    streaming = StreamedCitations(three)
    assert "".join([*map(streaming.feed, written), streaming.finish()]) == left


def test_a_marker_whose_passage_does_not_bear_the_sentence_out_is_taken_out_and_reported() -> None:
    """GH-07"""
    answer = attached("Insulin was discovered by Banting in Toronto [2]. Thirst is an early sign [2].", PASSAGES)
    assert answer.text == "Insulin was discovered by Banting in Toronto. Thirst is an early sign [2]."
    (gone,) = answer.unsupported
    assert (gone.marker, gone.sentence) == ("[2]", "Insulin was discovered by Banting in Toronto.")
    assert gone.support < 0.3
    assert answer.removed == ()


def test_another_number_than_that_of_the_passage_is_not_borne_out_and_another_wording_is() -> None:
    """GH-07"""
    assert attached("Metformin cuts output of the organ by 63 % [1].", PASSAGES).unsupported
    assert not attached("Metformin cuts glucose made in the liver [1].", PASSAGES).unsupported
    assert not attached("二甲双胍能减少肝糖的输出 [3]。", PASSAGES).unsupported
    assert not attached("二甲双胍降低肝脏的葡萄糖输出 [1]。", PASSAGES).unsupported, (
        "words of two languages do not compare"
    )


def test_a_sentence_that_joins_two_passages_keeps_the_marker_of_each() -> None:
    """GH-07: a chain of passages is what this workflow is for, and neither passage has the figures of the other."""
    glipizide = Passage(PassageId("d"), "drugs.md", "Glipizide raises insulin secretion by 42 %.", 0.5, 0.5)
    both = (METFORMIN, glipizide, CHINESE)
    for text in (
        "Metformin lowers liver output by 36 % [1], while glipizide raises insulin secretion by 42 % [2].",
        "Metformin lowers the glucose output by 36 % and glipizide raises secretion by 42 % [1][2].",
    ):
        answer = attached(text, both)
        assert (answer.text, answer.unsupported) == (text, ())
    wrong = attached(
        "Metformin lowers liver output by 36 % [1], while the moon is made of cheese for 77 years [2].", both
    )
    assert [item.marker for item in wrong.unsupported] == ["[2]"]
    assert "36 % [1], while" in wrong.text
    assert attached("Glipizide raises output by 77 %, metformin by 88 % [1][2].", both).unsupported


def test_all_ways_of_writing_a_marker_come_out_as_one() -> None:
    """GH-07"""
    answer = attached(
        "Thirst is an early sign of diabetes【2】。Metformin lowers glucose output of the liver [1, 1；8].", PASSAGES
    )
    assert answer.text == "Thirst is an early sign of diabetes[2]。Metformin lowers glucose output of the liver [1]."
    assert answer.removed == ("[8]",)


def test_a_cell_marker_points_to_a_cell_that_the_sentence_speaks_of() -> None:
    """GH-05"""
    answer = attached("Metformin is given at 500 mg [T1:B2]. The maker of insulin is N [t1：c3].", PASSAGES, (DOSES,))
    assert answer.text == "Metformin is given at 500 mg [T1:B2]. The maker of insulin is N [T1:C3]."
    first, second = answer.cell_citations
    assert (first.marker, first.value, first.row_label, first.column_label) == (
        "T1:B2",
        "500",
        "Metformin",
        "Dose (mg)",
    )
    assert (second.value, second.row_label, second.column_label) == ("N", "Insulin", "Maker")


def test_a_cell_that_is_not_there_or_is_not_spoken_of_loses_its_marker() -> None:
    """GH-05"""
    answer = attached("The dose is 500 [T1:B9][T2:B2][T1:C2]. Thirst is an early sign [T1:C3].", PASSAGES, (DOSES,))
    assert answer.text == "The dose is 500. Thirst is an early sign."
    assert answer.removed == ("[T1:B9]", "[T2:B2]", "[T1:C2]")
    assert [item.marker for item in answer.unsupported] == ["[T1:C3]"]


def test_columns_are_lettered_as_in_a_spreadsheet() -> None:
    """GH-05"""
    assert [column_letters(number) for number in (1, 26, 27, 40)] == ["A", "Z", "AA", "AN"]
    cell = cell_named("T2:AN17")
    assert cell is not None
    assert (cell.table, cell.column, cell.row, cell.marker) == (2, 40, 17, "[T2:AN17]")


SENTENCES = st.sampled_from(
    [
        "Metformin lowers the glucose output of the liver",
        "Thirst, e.g. at night",
        "二甲双胍抑制肝糖输出",
        "see [note] or [T-cells",
        "by 3.14 of 5",
        'He said "yes"',
    ]
)
MARKERS = st.sampled_from(["", "[1]", " [2]", "【3】", " [1, 2]", "[T1:B2]", " [9]", " [T1", "[1\n2]", " []", "[ 2 ]"])
ENDS = st.sampled_from([".", "。", "!", "?", "\n", ". ", " ", ".\n\n", '."', ""])


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "It is so",
                    "图是",
                    "[1]",
                    " [7]",
                    ", [2]",
                    "[2",
                    "]",
                    "`a[3]`",
                    "`",
                    "```",
                    ".",
                    "。",
                    "\n",
                    ", ",
                    " ",
                ),
                *(
                    "[Source 1]",
                    "[1-2]",
                    "[^2]",
                    "【1†a.b】",
                    "](#p)",
                    "(来源1)",
                    "[^1]: ",
                    "^",
                    "signs.md",
                    "a",
                    " = ",
                ),
                *("[2-", "[Doc. "),
            ]
        )
    ),
    st.lists(st.integers(0, 60), max_size=8),
)
def test_no_way_of_cutting_an_answer_lets_out_what_is_not_in_it(scraps: list[str], cuts: list[int]) -> None:
    """SC-07, GH-07"""
    text = "".join(scraps)
    streaming = StreamedCitations(PASSAGES)
    out = [*map(streaming.feed, pieces_of(text, cuts)), streaming.finish()]
    assert "".join(out) == resolve(text, PASSAGES).text
    assert streaming.answer == resolve(text, PASSAGES)
    assert not resolve(streaming.answer.text, PASSAGES).removed, "nothing is left to remove"


@settings(max_examples=150)
@given(
    st.lists(st.tuples(SENTENCES, MARKERS, ENDS, MARKERS), min_size=1, max_size=4),
    st.lists(st.integers(0, 250), max_size=8),
)
def test_however_it_is_cut_the_answer_is_the_same_and_nothing_that_went_out_is_taken_back(
    parts: list[tuple[str, str, str, str]], cuts: list[int]
) -> None:
    """GH-07"""
    text = "".join("".join(part) for part in parts)
    whole = attached(text, PASSAGES, (DOSES,))
    attaching = AttachingCitations(PASSAGES, (DOSES,))
    out = [*map(attaching.feed, pieces_of(text, cuts)), attaching.finish()]
    assert "".join(out) == whole.text
    assert attaching.answer == whole
