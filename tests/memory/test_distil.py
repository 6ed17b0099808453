"""What is remembered of an answer: DL-06."""

from __future__ import annotations

import pytest

from engine.memory.distil import extracted, formless, renumbered, unsaid
from engine.model.values import Citation, PassageId

CITED = tuple(Citation(number, PassageId(f"p{number}"), f"s{number}.md") for number in (1, 2, 4))


@pytest.mark.parametrize(
    ("answer", "claim", "passages"),
    [
        ("It is so [4]. And so [2]. And more [1].", "It is so [1]. And so [2].", ["p4", "p2"]),
        ("Here is what I found. It is so. [2] And more.", "It is so. [1]", ["p2"]),
        ("## Answer\n- It is so [1].\n- It is not [1][2].", "It is so [1]. It is not [1][2].", ["p1", "p2"]),
        ("它是这样的[1]。也是那样的[2]。还有[4]。", "它是这样的[1]。也是那样的[2]。", ["p1", "p2"]),
        ("Nothing is cited. Not here. Nor here.", "Nothing is cited. Not here.", []),
        ("It is so [9].", "It is so .", []),
        ("", "", []),
    ],
)
def test_the_claim_is_two_sentences_of_the_answer_with_its_own_numbers(
    answer: str, claim: str, passages: list[str]
) -> None:
    text, citations = renumbered(extracted(answer, CITED), CITED)
    assert text == claim
    assert [item.passage_id for item in citations] == passages
    assert [item.marker for item in citations] == list(range(1, len(passages) + 1))


SAID = ("Banting and Best found insulin in Toronto in 1921 [1].", "It lowers glucose, as mRNA studies say [2].")
ZH = ("班廷于1921年发现胰岛素[1]。", "它能降低血糖[2]。")


@pytest.mark.parametrize(
    ("claim", "said", "new"),
    [
        ("Insulin was found by Banting in Toronto in 1921 [1].", SAID, ""),
        ("The hormone lowers glucose, and This is known [2].", SAID, ""),
        ("It was found in 1922 [1].", SAID, "1922"),
        ("It was found by two men in 1921 [1].", SAID, "two"),
        ("Macleod found it in 1921 [1].", SAID, "Macleod"),
        ("It was found in Toronto by Macleod [1].", SAID, "Macleod"),
        ("DNA studies say so [2].", SAID, "DNA"),
        ("１９２２ [1]", SAID, "1922"),
        ("1921年，班廷发现了胰岛素[1]。", ZH, ""),
        ("1922年，班廷发现胰岛素[1]。", ZH, "1922"),
        ("麦克劳德发现胰岛素[1]。", ZH, "麦克劳德"),
        ("一九二二年发现胰岛素[1]。", ZH, "一九二二"),
        ("Macleod 发现胰岛素[1]。", ZH, "Macleod"),
    ],
)
def test_a_figure_or_a_name_that_no_sentence_says_is_found(claim: str, said: tuple[str, ...], new: str) -> None:
    assert unsaid(claim, said) == new


@pytest.mark.parametrize(
    ("claim", "refused"),
    [
        ("Insulin lowers glucose [2].", False),
        ("It was found in 1921 [1]. It lowers glucose [2].", False),
        ("Insulin lowers glucose.", True),
        ("Insulin lowers glucose [3].", True),
        ("[1][2]", True),
        ("It is so [1]. It is so [2]. It is so [1].", True),
        (f"Insulin {'really ' * 80}lowers glucose [1].", True),
    ],
)
def test_a_claim_has_one_or_two_short_sentences_with_markers_that_were_given(claim: str, refused: bool) -> None:
    assert formless(claim, SAID) is refused
