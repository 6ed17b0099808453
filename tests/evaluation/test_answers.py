"""Answers held against gold answers, and sentences against what they cite."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.evaluation.answers import Cited, Match, cited_of, match_of
from engine.model.config import RunConfig
from engine.model.values import Citation, Context, Passage, PassageId
from tests.evaluation.gathered import questions

REFERENCE = Path(__file__).with_name("reference_scores.json")


def test_scores_are_those_of_the_reference_implementation() -> None:
    """500 answers, half of them Chinese, scored by the evaluation script of MLQA, which for English is SQuAD's."""
    rows = json.loads(REFERENCE.read_text(encoding="utf-8"))
    assert len(rows) == 500
    for row in rows:
        found = match_of(row["answer"], row["gold"], row["language"])
        assert found.exact == row["exact"], row
        assert found.f1 == pytest.approx(row["f1"]), row
        assert found.contained == row["contained"], row


@pytest.mark.parametrize(
    ("answer", "gold", "contained"),
    [
        ("It is Denver Broncos [1].", ["The Denver Broncos"], 1.0),
        ("It is the Broncos of Denver.", ["Denver Broncos"], 0.0),
        ("Within 12 hours.", ["1", "2 hours"], 0.0),
        ("答案是德克萨斯州[2]。", ["德克萨斯"], 1.0),
        ("It was 308.", ["three hundred", "308"], 1.0),
        ("See [308].", ["308"], 0.0),
    ],
    ids=["article", "other order", "part of a word", "Chinese", "one of several", "a marker is no word"],
)
def test_a_gold_answer_is_contained_word_by_word(answer: str, gold: list[str], contained: float) -> None:
    assert match_of(answer, gold).contained == contained


def test_an_answer_without_a_word_is_like_none() -> None:
    assert match_of("[1]", ["Denver"]) == Match(0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="at least one"):
        match_of("Denver", [])


def test_each_sentence_is_held_against_the_passages_that_it_cites() -> None:
    texts = (
        "A truth table lists 16 rows for four variables.",
        "A graph is a tree when it has no cycle.",
        "树没有回路。",
    )
    passages = tuple(
        Passage(PassageId(f"p{place}"), "s.md", text, 0.9, 0.9, ordinal=place) for place, text in enumerate(texts)
    )
    answer = (
        "A truth table lists 16 rows for four variables [1]. A graph is a tree when it has no cycle [1][2]. "
        "Trees have no cycles [3]. It was Euler who found all of this in the summer of 1736."
    )
    citations = tuple(Citation(place, item.id, item.source) for place, item in enumerate(passages, 1))
    record = next(iter(questions(1, RunConfig())[1].values()))
    record = replace(record, answer=answer, citations=citations, context=Context(passages))
    # The second sentence cites one passage that is off the point; a Chinese passage is not held against English words.
    assert cited_of(record) == Cited(pairs=3, held=2, claims=3, borne_out=2)
