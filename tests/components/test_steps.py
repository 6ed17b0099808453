"""One sentence a step: of the runs that ship, which are of all five workflows, and of what they do not show."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from components.common.i18n import words_for
from components.common.outcomes import REASONS
from components.sentences.steps import decision_of, sentence
from engine.model.config import WORKFLOWS
from engine.model.values import Decision, Fault, Fork, GateReason, Outcome, RunId
from engine.replay.playback import ReplayStep, StepKind, steps
from engine.samples.demos import all_demos, demo_events, demo_record
from tests.components.sample_run import sample_record

EN, ZH = words_for("en"), words_for("zh")


def sentences_of(demo: str) -> list[str]:
    record = demo_record(demo)
    return [sentence(step, record, words_for(demo[-2:])) for step in steps(demo_events(demo))]  # type: ignore[arg-type]


def test_a_rescue_reads_from_question_to_answer() -> None:
    said = sentences_of("demo-rescue-en")
    assert said[:3] == [
        "A question comes in. First step: Retrieve.",
        "20 passages found, 5 kept.",
        "0 of 5 passages pass: below the bar → Rewrite.",
    ]
    assert said[3].startswith("The query becomes “")
    assert said[-2:] == ["1 of 5 passages pass: bar met → Generate.", "Answered after 1 rewrite, from 1 passage."]


@pytest.mark.parametrize(
    ("demo", "expected"),
    [
        ("demo-abstains-en", "Refused after 3 rewrites."),
        ("demo-quality-en", "Quality 0.34, 0.50 needed: below the bar → Rewrite."),
        ("demo-correction-en", "1 suggestion: no correction left → Remember."),
        ("demo-revision-en", "The evaluator asks for nothing: evaluation passed → End."),
        ("demo-chain-en", "48 passages found, 3 kept, 36 from the graph."),
        ("demo-abstains-zh", "拒答 · 改写 3 次。"),
    ],
)
def test_what_a_workflow_adds_is_said(demo: str, expected: str) -> None:
    assert expected in sentences_of(demo)


def test_every_step_of_every_demo_is_one_whole_sentence_in_its_language() -> None:
    assert {demo.workflow for demo in all_demos()} == set(WORKFLOWS)
    for demo in all_demos():
        for said in sentences_of(demo.id):
            assert said.endswith("." if demo.language == "en" else "。"), said
            assert "_" not in said and "{" not in said
            assert demo.language == "en" or not said.isascii()


@pytest.mark.parametrize("reason", get_args(GateReason))
def test_a_decision_says_why_and_where_it_led(reason: GateReason) -> None:
    record = replace(sample_record(), decisions=(Decision(0, "generate", reason, (), 2, 5, node="grade"),))
    step = ReplayStep("judged", 9, 0, "grade")
    assert decision_of(step, record) is record.decisions[0]
    assert sentence(step, record, EN) == f"2 of 5 passages pass: {EN(REASONS[reason].label)} → Generate."


@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_ends_a_run_in_words(outcome: Outcome) -> None:
    record = replace(sample_record(), outcome=outcome)
    for words in (EN, ZH):
        assert len(sentence(ReplayStep("ended", 9), record, words)) > 3


def test_a_failed_run_says_what_failed() -> None:
    record = replace(sample_record(), outcome="failed", error=Fault("WB101", "The disk is full.", ""))
    assert sentence(ReplayStep("ended", 9), record, EN).endswith(": The disk is full.")


def test_grading_that_was_cut_off_says_how_far_it_came() -> None:
    record = replace(sample_record(), decisions=())
    graded = len(record.rounds[0].verdicts)
    said = sentence(ReplayStep("judged", 9, 0, "grade"), record, EN)
    assert said == f"{graded} of {len(record.rounds[0].kept)} graded."


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"failed": True}, "The query stays: the rewriter failed."),
        ({"repeated": True}, "The query stays: the rewrite repeated a query."),
        ({"strategy": "by_hand", "rewritten_query": "x"}, "Changed by hand: “x”."),
    ],
)
def test_rewrites_that_failed_repeated_or_were_made_by_hand_are_distinguished(
    change: dict[str, object], said: str
) -> None:
    record = sample_record()
    rewrite = replace(record.rewrites[0], **change)  # type: ignore[arg-type]
    assert sentence(ReplayStep("rewritten", 9, 0), replace(record, rewrites=(rewrite,)), EN) == said


def test_a_branch_says_where_it_began_and_what_was_changed() -> None:
    fork = Fork(RunId("abcdefgh1"), 1, settings=("top_k",), query="other")
    said = sentence(ReplayStep("asked", 0), replace(sample_record(), fork=fork), EN)
    assert said == "Branch of run abcdefgh, from rewrite 1; changed: Top-k, the query."


@pytest.mark.parametrize("kind", ["recalled", "routed", "checked", "kept", "analysed"])
def test_a_step_without_words_of_its_own_names_its_node(kind: StepKind) -> None:
    assert sentence(ReplayStep(kind, 0, 0, "grade"), replace(sample_record(), decisions=()), EN) == "Grade is working."
