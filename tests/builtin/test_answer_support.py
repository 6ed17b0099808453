"""SC-07: what an answer says must stand in what it cites; decided by values, however a figure is written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.builtin.answer_reading import Shown, statements
from engine.builtin.answer_support import unsupported_sentences
from engine.builtin.written_numbers import normal, numbers_in
from engine.model.values import Attachment, Passage, PassageId
from engine.roles import Given

QUESTION = "How much does a box of insulin glargine pens cost?"
GLARGINE = "Insulin glargine is injected once a day. Pens in use are kept below 30 °C for 28 days."


def passage(text: str, title: str = "") -> Passage:
    return Passage(PassageId(text[:8]), "guide.md", text, 0.5, 0.5, title=title)


def missing(answer: str, *texts: str, question: str = "What is known?") -> list[str]:
    found = unsupported_sentences(question, answer, Given(tuple(map(passage, texts))))
    return [item for sentence in found for item in sentence.missing]


def test_an_invented_price_stands_in_none_of_what_it_cites() -> None:
    answer = "The cost of a box of insulin glargine pens is $10.00. [1]"
    (found,) = unsupported_sentences(QUESTION, answer, Given((passage(GLARGINE),)))
    assert (found.sentence, found.missing, found.markers) == (answer, ("$10.00",), (1,))


@pytest.mark.parametrize("said", ["10 %", "10%", "ten percent", "10.0 per cent", "百分之十", "１０％", "10 个百分点"])
@pytest.mark.parametrize("held", ["10 %", "ten percent", "10.0%", "百分之十", "１０％"])
def test_a_share_is_the_same_however_it_is_written(said: str, held: str) -> None:
    assert missing(f"The share is {said} [1].", f"It makes {held} of all.") == []
    assert missing(
        f"The share is {said} [1].",
        f"It makes {held.replace('1', '2').replace('ten', 'six').replace('十', '六').replace('１', '２')} of all.",
    )


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("1,000", "1000"),
        ("1.5万", "15,000"),
        ("15000", "1.5万"),
        ("twenty-five", "25"),
        ("2 million", "2,000,000"),
        ("三千二百万", "32 million"),
        ("5 March 2024", "2024-03-05"),
        ("2024年3月5日", "March 5, 2024"),
        ("二〇二四年", "2024"),
        ("20世纪70年代", "the 1970s"),
        ("10 mg", "10mg"),
        ("$10", "10 dollars"),
        ("10 元", "¥10"),
        ("30 minutes", "half an hour"),
        ("about 33 %", "33.3 percent"),
        ("3 to 5 million", "3,000,000 to 5,000,000"),
        ("12 days", "a dozen days"),
        ("the World Health Organization", "the WHO"),
    ],
)
def test_what_is_written_otherwise_is_the_same(said: str, held: str) -> None:
    if said.endswith("Organization"):
        assert missing("It was the WHO [1].", "the World Health Organization") == []
        return
    assert missing(f"The figure is {said} [1].", f"One reads of {held} there.") == []


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("10 mg", "10 ml"),
        ("$10", "10 pens"),
        ("10 %", "10 pens"),
        ("3.5", "35"),
        ("about 40 %", "33.3 percent"),
        ("1,000", "100"),
        ("6 March", "5 March"),
        ("三小时", "两小时"),
        ("HbA1c", "glucose"),
        ("`max_rewrites`", "max_rounds"),
        ("written by Ada Lovelace", "written by Charles Babbage"),
    ],
)
def test_another_figure_unit_name_or_code_word_is_missing(said: str, held: str) -> None:
    assert missing(f"The figure is {said} [1].", f"One reads that it is {held} there.")


@pytest.mark.parametrize(
    "answer",
    [
        "There are two ways to keep it [1].",
        "1. Keep it cold [1].\n2. Use it soon [1].",
        "There are 3 main steps [1].",
        "This is 十分重要的 [1]。",
        "第一步是冷藏[1]。",
        "Passage 1 says that it is kept cold [1].",
        "Keep it cold [1]. However, Insulin is a hormone [1].",
    ],
)
def test_what_an_answer_counts_out_itself_is_no_figure(answer: str) -> None:
    assert missing(answer, "Insulin, a hormone, is kept cold and used soon.") == []


def test_a_setting_with_a_dot_is_one_name() -> None:
    """As a small model invents them: each piece stands somewhere, the whole nowhere."""
    text = "The server of Vite uses HTTP by default; see server.https and chapter 3."
    assert missing("Set `server.http3` to true [1].", text, question="How do I enable HTTP/3?") == ["server.http3"]
    assert missing("Set `server.https` to true [1].", text) == []


def test_a_figure_must_stand_in_the_passage_that_its_sentence_cites() -> None:
    assert missing("It takes 28 days [2].", "28 days", "never") == ["28 days"]
    assert missing("It takes 28 days [1][2].", "28 days", "never") == []


def test_a_sentence_without_a_marker_is_held_against_all_that_was_given() -> None:
    assert missing("It takes 28 days.", "never", "28 days") == []
    assert missing("It takes 29 days.", "never", "28 days") == ["29 days"]
    assert missing("The passages do not say so, but it is $10.", "never") == ["$10"]


def test_what_was_borne_out_before_may_be_said_again() -> None:
    assert missing("It takes 28 days [1]. After these 28 days it is thrown away [2].", "28 days", "thrown away") == []


def test_figures_of_the_question_are_no_inventions_unless_they_are_what_it_asks() -> None:
    rows = "How many rows does a truth table with 15 variables need?"
    assert missing("With 15 variables it needs many rows [1].", "The rows double.", question=rows) == []
    assert missing("Yes, it costs $10 [1].", "It is cheap.", question="Does it cost $10?") == ["$10"]
    assert missing("No, it does not cost $10 [1].", "It is cheap.", question="Does it cost $10?") == []


def test_names_are_not_compared_across_languages() -> None:
    assert missing("It was made by Novo Nordisk [1].", "它由诺和诺德公司生产。") == []
    assert missing("It costs $12 [1].", "它的价格是 10 美元。") == ["$12"]


TABLE = Attachment("table", "sales.csv", rows=(("Fruit", "Price"), ("Apple", "10.50"), ("Pear", "21.19")))


@pytest.mark.parametrize(
    ("answer", "lacks"),
    [
        ("The sum is 31.69. [T1:B2]", []),
        ("Pear costs 10.69 more than apple [T1:B2][T1:B3].", []),
        ("The mean is 15.85 [T1:B2].", []),
        ("The sum is 33.00. [T1:B2]", ["33.00"]),
        ("Apple costs 10.50 [T1:B2].", []),
    ],
)
def test_what_is_computed_from_a_table_is_no_invention(answer: str, lacks: list[str]) -> None:
    found = unsupported_sentences("What is the sum?", answer, Given(tables=(TABLE,)))
    assert [item for sentence in found for item in sentence.missing] == lacks


def test_blocks_of_code_and_questions_are_not_read() -> None:
    assert missing("It is kept cold [1].\n```\nx = 42\n```\nDo you need 3 pens?", "It is kept cold.") == []


@given(st.integers(0, 10**9), st.sampled_from(["{:d}", "{:,d}", "{:d}.0", "{:d}.00"]))
def test_digits_have_one_value_however_they_are_grouped(value: int, form: str) -> None:
    (number,) = numbers_in(form.format(value))
    assert normal(Decimal(value)) in number.values


_HAN = "零一二三四五六七八九"


def _in_han(value: int) -> str:
    """Up to 9999, as Chinese writes it."""
    if value == 0:
        return "零"
    digits = [(int(char), step) for char, step in zip(f"{value:04d}", ("千", "百", "十", ""), strict=True)]
    made, gap = "", False
    for digit, step in digits:
        if digit:
            made += ("零" if gap and made else "") + _HAN[digit] + step
        gap = not digit
    return made


@given(st.integers(0, 9999), st.sampled_from([("", 1), ("万", 10**4), ("亿", 10**8)]))
def test_chinese_numbers_have_their_value(value: int, scale: tuple[str, int]) -> None:
    written = _in_han(value) + (scale[0] if value else "")
    (number,) = numbers_in(f"共{written}元")
    assert number.values == {str(value * scale[1])}


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def _in_english(value: int) -> str:
    if value < 20:
        return _SMALL[value]
    if value < 100:
        rest = value % 10
        return _TENS[value // 10 - 2] + (f"-{_SMALL[rest]}" if rest else "")
    for name, step in (("million", 10**6), ("thousand", 10**3), ("hundred", 100)):
        if value >= step:
            rest = value % step
            return f"{_in_english(value // step)} {name}" + (f" and {_in_english(rest)}" if rest else "")
    raise AssertionError


@given(st.integers(0, 10**9 - 1))
def test_english_numbers_have_their_value(value: int) -> None:
    (number,) = numbers_in(f"in {_in_english(value)} cases")
    assert number.values == {str(value)}


@settings(max_examples=200)
@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=80))
def test_any_text_can_be_checked_and_a_copy_of_it_is_borne_out(answer: str, text: str, question: str) -> None:
    both = Given((passage(text), passage(answer)))
    assert isinstance(unsupported_sentences(question, answer, both), tuple)


@pytest.mark.parametrize(("said", "held"), [("10.0 percent", "ten percent"), ("15000 pens", "1.5万 pens")])
def test_citations_are_weighed_by_the_same_numbers(said: str, held: str) -> None:
    """GH-07: a marker is not taken from a sentence that writes a figure of its passage otherwise."""
    (statement,) = statements(f"The share is {said} [1].")
    assert not Shown.of(1, passage(f"It makes {held}.")).lacks_figures(statement)
    assert Shown.of(1, passage("It makes 77 of them.")).lacks_figures(statement)
