"""What a change of settings does to each question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case, Expectation
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.question_changes import QuestionChange, changes_between
from engine.model.config import RunConfig
from engine.model.values import RunRecord, Verdict
from engine.replay import what_if
from tests.engine.whatif.world import World, run_in
from tests.evaluation.gathered import evidence_of, question_changes

YES, NO = Verdict(True, 0.9, "it says so"), Verdict(False, 0.9, "it does not")
BASE = RunConfig(top_k=2, gate="pass_rate", grade_probe=True)


def found(*relevant: bool, query_after: tuple[int, ...] = ()) -> RunRecord:
    """A run whose first search finds these passages, best first; a rewrite finds ``query_after`` instead."""
    first = tuple((place, round(0.9 - place / 10, 2)) for place in range(len(relevant)))
    later = tuple((place, 0.5) for place in query_after) or first
    world = World(
        found=(first, later, later, later),
        verdicts=tuple(YES if item else NO for item in relevant),
        rewriting=("new", "new", "new", "new"),
    )
    return run_in(world, BASE)


def change_of(
    record: RunRecord, after: RunConfig, *, expected: str = "", answerable: bool | None = True
) -> QuestionChange:
    named = (Expectation("passage", expected),) if expected else ()
    made = question_changes(gather([Case("a", "?", named, answerable=answerable)], {"a": record}), BASE, after)
    return made.rows[0]


def test_a_wider_gate_that_lets_the_expected_passage_in_is_better() -> None:
    change = change_of(found(True, True, True), replace(BASE, top_k=3), expected="p02")
    assert (change.verdict, change.reason) == ("better", "gained_expected")
    assert (change.before.hit, change.after.hit) == (False, True)
    assert change.steps_change == 0


def test_a_narrower_gate_that_loses_the_expected_passage_is_worse() -> None:
    change = change_of(found(True, True), replace(BASE, top_k=1), expected="p01")
    assert (change.verdict, change.reason) == ("worse", "lost_expected")


def test_an_answer_at_once_in_place_of_rewrites_is_better_by_its_calls() -> None:
    record = found(True, False, False)
    change = change_of(record, replace(BASE, grade_pass_threshold=0.5), expected="p00")
    assert change.before.rewrites
    assert (change.verdict, change.reason, change.after.round) == ("better", "fewer_calls", 0)
    assert change.steps_change is not None
    assert change.steps_change < 0


def test_refusing_what_can_be_answered_is_worse_and_refusing_what_cannot_is_better() -> None:
    record, stricter = found(True, True), replace(BASE, min_confidence=0.95, max_rewrites=0)
    refused = change_of(record, stricter)
    assert (refused.verdict, refused.reason, refused.after.outcome) == ("worse", "now_refuses", "abstained")
    rightly = change_of(record, stricter, answerable=False)
    assert (rightly.verdict, rightly.reason) == ("better", "now_refuses_unanswerable")


def test_answering_what_cannot_be_answered_is_worse_and_answering_what_can_is_better() -> None:
    record, laxer = found(False, False), replace(BASE, min_confidence=0.05)
    wrongly = change_of(record, laxer, answerable=False)
    assert (wrongly.verdict, wrongly.reason) == ("worse", "now_answers_unanswerable")
    rightly = change_of(record, laxer)
    assert (rightly.verdict, rightly.reason) == ("better", "now_answers")


def test_a_path_that_needs_calls_is_unknown_and_no_flip() -> None:
    record = found(True, True, query_after=(0, 1))
    after = replace(BASE, similarity_threshold=0.95)
    made = question_changes(gather([Case("a", "?", answerable=True)], {"a": record}), BASE, after)
    assert (made.rows[0].verdict, made.rows[0].reason) == ("unknown", "unknown_after")
    assert (made.changed, made.unknown, made.n) == (0, 1, 1)
    assert made.rows[0].steps_change is None


def test_one_grading_less_on_the_same_path_is_no_flip() -> None:
    record = run_in(replace_found(3), replace(BASE, grade_probe=False, top_k=3))
    evidence = gather([Case("a", "?", answerable=True)], {"a": record})
    made = question_changes(evidence, record.config, replace(record.config, top_k=2))
    assert (made.rows[0].verdict, made.rows[0].reason, made.rows[0].steps_change) == ("same", "nothing", -1)


def replace_found(count: int) -> World:
    search = tuple((place, 0.9) for place in range(count))
    return World((search,) * 4, (YES,) * count, ("new",) * 4)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return evidence_of(40, RunConfig(gate="pass_rate", grade_probe=True))


def test_the_same_settings_flip_nothing(evidence: Evidence) -> None:
    made = question_changes(evidence, RunConfig(grade_probe=True), RunConfig(grade_probe=True))
    assert {row.verdict for row in made.rows} == {"same"}
    assert made.test.p == 1.0
    assert made.shown == ()


def test_flips_back_are_the_opposite_and_every_question_is_listed(evidence: Evidence) -> None:
    one = RunConfig(grade_probe=True, gate="pass_rate")
    other = replace(one, grade_pass_threshold=0.3)
    there, back = question_changes(evidence, one, other), question_changes(evidence, other, one)
    assert (there.better, there.worse, there.unknown) == (back.worse, back.better, back.unknown)
    assert there.better + there.worse > 0
    assert {row.case_id for row in there.rows} == {item.case.id for item in evidence.gathered}
    order = [("better", "worse", "unknown", "same").index(row.verdict) for row in there.rows]
    assert order == sorted(order)


def test_flips_of_an_evaluation_are_those_of_its_settings(evidence: Evidence) -> None:
    configs = [RunConfig(grade_probe=True, top_k=k) for k in (3, 5, 7)]
    assert changes_between(evidence, evaluate(evidence, configs), 2, 0) == question_changes(
        evidence, configs[2], configs[0]
    )


def test_what_a_side_says_is_what_a_what_if_says() -> None:
    record = found(True, False, False)
    for config in (BASE, replace(BASE, grade_pass_threshold=0.4)):
        wanted = what_if(record, config)
        side = change_of(record, config).after
        assert (side.known, side.outcome, side.rewrites) == (True, wanted.outcome, wanted.rewrites)
        assert side.steps == wanted.cost.calls + wanted.cost.built_in_calls
