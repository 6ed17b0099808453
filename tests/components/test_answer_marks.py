"""What the answer card says of an answer of the three other loops: how good, whence, why it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.ask.answer import headline
from components.ask.answer_marks import WHY_STANDING, answer_notes, basis_text, standing_chips, writing_text
from components.common.i18n import Words, words_for
from components.common.markup import opened_passage
from engine.model.values import Recall, RouteChoice, RunRecord
from engine.workflows.quality_loop.options import QualityOptions
from tests.components.loop_runs import (
    QUALITY,
    STALE,
    answers_record,
    direct_record,
    dual_record,
    fallback_record,
    quality_record,
    writing_record,
)
from tests.components.sample_run import sample_record

EN, ZH = words_for("en"), words_for("zh")


def chips_of(record: RunRecord, words: Words = EN) -> list[str]:
    return [item.text for item in standing_chips(record, words)]


def test_an_answer_on_low_quality_says_the_score_and_why_no_further_round_was_made() -> None:
    """QL-05: the answer is marked as resting on low quality."""
    strict = replace(QUALITY, options=QualityOptions(medium_score=0.6, high_score=0.7))
    record = quality_record(strict, reason="max_rewrites")
    assert answer_notes(record, EN) == [
        EN(
            "From passages of low quality: {score}, {bar} needed; {why}.",
            score="0.58",
            bar="0.60",
            why=EN("no rewrite left"),
        )
    ]
    assert chips_of(record) == ["quality 0.58 · low"]
    assert answer_notes(quality_record(), EN) == []


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("reason", ["max_epochs", "evaluator_failed", "deadline", "writer_failed"])
def test_an_answer_that_did_not_pass_says_why_it_stands(reason: str, words: Words) -> None:
    """AE-01: at the limit the last answer stands, and says so."""
    record = replace(answers_record(drafts=2), reason=reason)
    assert answer_notes(record, words) == [words(WHY_STANDING[reason], n=2)]


def test_corrections_that_are_used_up_are_said_with_how_many_answers_there_were() -> None:
    """DL-04: the best answer, marked."""
    record = replace(dual_record(), outcome="answered_forced", reason="max_corrections")
    off = replace(record, drafts=tuple(replace(item, evaluation=record.drafts[0].evaluation) for item in record.drafts))
    assert answer_notes(off, EN) == [
        EN("No answer passed its evaluation: this is the best of {n}. See “Strategies”.", n=2)
    ]
    assert chips_of(off) == ["! 1 suggestion"]


def test_a_passed_answer_on_passages_that_never_met_the_gate_says_so() -> None:
    record = replace(answers_record(), outcome="answered_forced", reason="max_rewrites")
    assert answer_notes(record, EN) == [
        EN("It passed its evaluation, on too few relevant passages: {why}.", why=EN("no rewrite left"))
    ]


def test_any_other_reason_is_said_in_words() -> None:
    record = replace(answers_record(drafts=2), reason="grader_unavailable")
    assert answer_notes(record, EN) == [EN("Not fully passed: {why}.", why=EN("the grader cannot be reached"))]


def test_an_answer_from_memory_names_the_question_that_was_asked_then() -> None:
    """DL-06"""
    record = direct_record()
    assert basis_text(record, EN) == EN("from memory")
    assert answer_notes(record, EN) == [
        EN(
            "From memory, nothing was searched. Asked earlier: “{question}” (similarity {similarity}).",
            question="血糖高会怎样？",
            similarity="0.82",
        )
    ]


def test_an_answer_without_a_search_and_without_a_memory_that_holds_says_that_it_rests_on_nothing() -> None:
    small = replace(direct_record(), route=RouteChoice("direct", "smalltalk"), recall=Recall((STALE,), (STALE.id,)))
    assert basis_text(small, EN) == EN("without a search")
    assert answer_notes(small, EN) == [EN("Nothing was searched; the answer uses no passage.")]
    forced = replace(small, outcome="answered_forced", reason="evaluator_failed")
    assert headline(forced, EN)[0] == "warn"
    assert len(answer_notes(forced, EN)) == 2


def test_a_fallback_is_said_plainly() -> None:
    """DL-03"""
    assert headline(fallback_record(), EN)[0] == "grey"
    assert answer_notes(fallback_record(), ZH) == []
    assert chips_of(fallback_record()) == []


def test_the_evaluation_of_the_answer_stands_next_to_its_badge() -> None:
    assert chips_of(answers_record()) == ["✓ evaluation passed"]
    assert chips_of(answers_record(drafts=2)) == ["! 1 suggestion"]
    assert chips_of(sample_record()) == []


def test_while_several_answers_are_written_the_card_says_which_one_is() -> None:
    """AE-01: the counter of answers is visible while it runs."""
    assert writing_text(writing_record(), EN) == "answer 2 of at most 3"
    assert writing_text(writing_record(), ZH) == "第 2 稿，最多 3 稿"
    assert writing_text(replace(dual_record(), outcome=None), EN) == "answer 2 of at most 3"
    assert writing_text(replace(sample_record(), outcome=None), EN) == ""


def test_only_a_citation_opens_a_passage() -> None:
    assert opened_passage("open:p1") == "p1"
    assert opened_passage("copy") is None and opened_passage(None) is None
