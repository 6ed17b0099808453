"""What is remembered of an answer: DL-06."""

from __future__ import annotations

import pytest

from engine.memory.distil import distilled
from engine.values import Citation, PassageId

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
    text, citations = distilled(answer, CITED)
    assert text == claim
    assert [item.passage_id for item in citations] == passages
    assert [item.marker for item in citations] == list(range(1, len(passages) + 1))
