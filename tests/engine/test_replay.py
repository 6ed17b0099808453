"""A recorded run cut into steps: what a person follows, in order, and nothing that is not there."""

from __future__ import annotations

import pytest

from engine.model.events import fold_all
from engine.model.values import Outcome
from engine.replay.playback import StepKind, steps
from engine.samples.demos import demo_events
from tests.support.recorded import recorded_run


def kinds(rewrites: int, outcome: Outcome) -> list[StepKind]:
    return [step.kind for step in steps(recorded_run(rewrites, outcome))]


@pytest.mark.parametrize("rewrites", [0, 1, 3])
def test_every_round_is_searched_and_judged_and_a_rewrite_stands_between_two(rewrites: int) -> None:
    looped: list[StepKind] = ["searched", "judged", "rewritten"]
    assert kinds(rewrites, "answered") == ["asked", *(looped * rewrites), "searched", "judged", "ended"]


@pytest.mark.parametrize("outcome", ["answered", "answered_forced", "abstained", "cancelled", "failed", "fallback"])
def test_a_run_that_ended_has_one_last_step_which_is_its_end(outcome: Outcome) -> None:
    events = recorded_run(1, outcome)
    last = steps(events)[-1]
    assert (last.kind, last.seq) == ("ended", events[-1].seq)


def test_a_run_in_progress_has_no_end_yet() -> None:
    assert steps(recorded_run(1, "answered")[:-1])[-1].kind != "ended"
    assert steps([]) == ()


def test_a_judged_step_ends_with_the_decision_of_its_round() -> None:
    events = demo_events("demo-forced-en")
    judged = [step for step in steps(events) if step.kind == "judged"]
    for step in judged:
        record = fold_all(event for event in events if event.seq <= step.seq)
        assert len(record.decisions) == step.round + 1
        assert record.nodes[-1].node == step.node == "grade"
    assert [step.round for step in judged] == [0, 1, 2, 3]


def test_grading_that_was_cut_off_has_a_step_without_decision() -> None:
    events = demo_events("demo-noise-en")
    third = [event.seq for event in events if event.kind == "passage_graded"][2]
    made = steps([event for event in events if event.seq <= third])
    assert (made[-1].kind, made[-1].seq) == ("judged", third)


def test_steps_follow_one_another_in_the_order_of_events() -> None:
    seqs = [step.seq for step in steps(demo_events("demo-abstains-zh"))]
    assert seqs == sorted(set(seqs))
