"""``what_if`` itself: what a record can tell, and above all what it cannot. SC-02 to SC-07 and SC-10."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.events import fold_all
from engine.model.values import Fork, Outcome, RunId, RunRecord, Verdict
from engine.replay import WhatIf, what_if
from engine.replay.grid import paths
from engine.replay.settings import SettingsGrid
from engine.replay.table import run_table
from engine.samples.demos import demo_record, demos
from tests.engine.whatif.world import CHAT, World, recordings, run_in, variations, worlds
from tests.support.recorded import recorded_run

YES, NO, MUTE = Verdict(True, 0.9, "yes"), Verdict(False, 0.9, "no"), Verdict(None, 0.0, "?")
STRICT = RunConfig(top_k=3, similarity_threshold=0.3, grade_pass_threshold=1.0, max_rewrites=1)


def world(*verdicts: Verdict, similarities: tuple[float, ...] = (0.9, 0.8, 0.7, 0.6, 0.5), **facts: Any) -> World:
    """Every query finds the same passages, which are judged like ``verdicts``."""
    found = tuple(enumerate(similarities))
    every = (*verdicts, *(NO for _ in range(len(similarities) - len(verdicts))))
    return World(found=(found,) * 4, verdicts=every, rewriting=("new",) * 4, **facts)


def path(found: WhatIf) -> list[tuple[str, str]]:
    return [(decision.route, decision.reason) for decision in found.decisions]


def recorded_path(record: RunRecord) -> list[tuple[str, str]]:
    return [(decision.route, decision.reason) for decision in record.decisions]


@pytest.mark.parametrize("outcome", get_args(Outcome))
@pytest.mark.parametrize("rewrites", range(5))
def test_every_recorded_fixture_takes_its_recorded_route_under_its_own_settings(
    outcome: Outcome, rewrites: int
) -> None:
    """SC-04: the fixtures' rewriter inputs are made up, so each is followed as far as its first rewrite."""
    record = fold_all(recorded_run(rewrites, outcome))
    found = what_if(record, record.config)
    expected = recorded_path(record)[:1]
    assert path(found) == expected
    assert found.path_known is (rewrites == 0)
    # Unanswered are imported runs alone: tests/plugins/traces replays those.
    if rewrites == 0 and outcome not in ("cancelled", "interrupted", "fallback", "unanswered"):
        assert (found.state, found.same_path) == ("known", True)
        assert found.answer == record.answer or outcome == "abstained", "the fixture's abstention has words of its own"


@pytest.mark.parametrize("name", [demo.id for demo in demos()])
def test_every_shipped_recording_takes_its_own_path_again(name: str) -> None:
    """SC-04, SC-06, SC-10: recorded from real runs, so their rewriter inputs are true."""
    record = demo_record(name)
    found = what_if(record, record.config)
    assert (found.state, found.same_path, found.answer) == ("known", True, record.answer)
    assert path(found) == recorded_path(record)
    assert run_table(record).plain, "a plain run is tried by the grid"


@hypothesis_settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(worlds(), recordings())
def test_a_run_that_ended_takes_its_own_path_again_at_its_own_cost(around: World, config: RunConfig) -> None:
    """SC-04, SC-06, SC-10: no matter what went wrong in it, the deadline and a silent grader included."""
    record = run_in(replace(around, cut_off=None), config)
    found = what_if(record, config)
    if record.reason == "grader_unavailable" and record.outcome == "failed":
        return
    assert (found.state, path(found), found.outcome) == ("known", recorded_path(record), record.outcome)
    assert found.same_path
    if record.outcome != "failed":
        assert found.answer == record.answer
    assert (found.cost.calls, found.cost.built_in_calls) == (record.calls, record.built_in_calls)
    assert found.rewrites == len(record.rewrites)


@hypothesis_settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_where_a_path_is_known_the_run_made_again_takes_it(data: st.DataObject) -> None:
    """SC-02, SC-03, SC-04, SC-05, SC-06, SC-07: from runs cut off or late as well, in a world that answers equally."""
    around = replace(data.draw(worlds()), unreached=None)
    around = replace(around, cut_off=None if around.time_up else around.cut_off)
    record = run_in(around, data.draw(recordings()))
    config = replace(data.draw(variations(record.config)), models=record.config.models, budget_s=record.config.budget_s)
    found = what_if(record, config)
    if not found.path_known:
        return
    real = run_in(replace(around, cut_off=None), config)
    assert path(found) == recorded_path(real)
    assert found.outcome in (None, real.outcome)
    if found.state == "known" and real.outcome != "failed":
        assert found.answer == real.answer
    if found.passages:
        assert real.context is not None
        offered = [*(passage.id for passage in real.context.passages), *real.context.cut]
        assert [passage.id for passage in found.passages] == offered
    if found.gap != "verdicts" and config.grade_probe is record.config.grade_probe is False:
        checks = sum(call.role == "verifier" for call in real.model_calls)
        assert found.checks in (None, checks)
        calls = real.calls - (checks if found.checks is None else 0)
        assert (found.cost.calls, found.cost.built_in_calls) == (calls, real.built_in_calls)


def test_thresholds_are_inclusive_and_zero_is_a_value() -> None:
    """SC-02, SC-03, SC-04"""
    record = run_in(world(YES, NO, NO), replace(STRICT, top_k=5))
    assert path(what_if(record, replace(STRICT, top_k=4, grade_pass_threshold=0.25)))[0] == ("generate", "passed")
    assert path(what_if(record, replace(STRICT, top_k=4, grade_pass_threshold=0.2501)))[0] == ("rewrite", "below_gate")
    assert len(what_if(record, replace(STRICT, top_k=5, similarity_threshold=0.5)).steps[0].round.kept) == 5
    assert len(what_if(record, replace(STRICT, top_k=5, similarity_threshold=0.5001)).steps[0].round.kept) == 4
    assert path(what_if(record, replace(STRICT, grade_pass_threshold=0.0))) == [("generate", "passed")]
    assert path(what_if(record, replace(STRICT, max_rewrites=0))) == [("generate", "max_rewrites")]
    everything = what_if(record, replace(STRICT, min_confidence=0.1))
    assert everything.decisions[0].passed == 3, "1 - 0.9 reaches a bar of 0.1"
    assert what_if(record, replace(STRICT, min_confidence=0.0)).decisions[0].passed == 3


def test_min_confidence_decides_again() -> None:
    """SC-03: P(relevant) of 0.6 passes at 0.6 and not above."""
    record = run_in(world(Verdict(True, 0.6, ""), YES, YES), STRICT)
    assert what_if(record, replace(STRICT, min_confidence=0.6)).outcome == "answered"
    assert path(what_if(record, replace(STRICT, min_confidence=0.61)))[0] == ("rewrite", "below_gate")


def test_what_nobody_judged_is_known_only_where_it_cannot_matter() -> None:
    """SC-04: one more kept passage, failed or passed, on both sides of the gate."""
    record = run_in(world(YES, YES, NO), replace(STRICT, grade_pass_threshold=0.5))
    wider = replace(STRICT, top_k=4)
    between = what_if(record, replace(wider, grade_pass_threshold=0.6))
    assert (between.state, between.gap, between.steps[0].passed) == ("needs_calls", "verdicts", (2, 3))
    assert between.calls_needed.next.built_in_calls == 1
    either = what_if(record, replace(wider, grade_pass_threshold=0.5))
    assert (either.state, either.gap, either.outcome) == ("generation", "verdicts", "answered")
    assert either.answer == "" and either.passages == ()


def test_only_a_chat_grader_may_turn_out_unreadable() -> None:
    """SC-03: one kept passage that no one judged ends the run if its verdict cannot be read."""
    for models, state in ((RoleModels(), "generation"), (CHAT, "needs_calls")):
        record = run_in(world(NO, similarities=(0.9, 0.4)), replace(STRICT, top_k=1, models=models))
        record = replace(record, rounds=(replace(record.rounds[0], verdicts={}),), decisions=(), rewrites=())
        found = what_if(record, replace(STRICT, top_k=1, grade_pass_threshold=0.0, models=models))
        assert found.state == state


def test_a_deeper_search_is_bounded_by_the_last_similarity() -> None:
    """SC-02: below the recorded depth nothing is more similar than the last one there."""
    shallow = replace(STRICT, probe_k=3, search="vector")
    record = run_in(world(YES, YES, YES), shallow)
    deeper = what_if(record, replace(shallow, top_k=5))
    assert (deeper.state, deeper.gap, deeper.steps[0].unseen) == ("needs_calls", "candidates", 2)
    assert what_if(record, replace(shallow, top_k=5, similarity_threshold=0.75)).steps[0].unseen == 0
    exhausted = run_in(world(YES, YES, YES, similarities=(0.9, 0.8)), shallow)
    assert what_if(exhausted, replace(shallow, top_k=5)).steps[0].unseen == 0


def test_a_later_round_is_known_only_where_the_rewriter_saw_the_same() -> None:
    """SC-06"""
    record = run_in(world(YES, NO, NO), STRICT)
    assert len(record.rounds) == 2
    same = what_if(record, replace(STRICT, grade_pass_threshold=0.9))
    assert (same.state, len(same.steps)) == ("known", 2)
    other = what_if(record, replace(STRICT, top_k=2))
    assert (other.state, other.gap, len(other.steps)) == ("needs_calls", "rewrite", 1)
    model = replace(STRICT, models=RoleModels(rewriter=RoleModel("ollama:qwen3:4b")))
    assert what_if(record, model).gap == "rewrite"


def test_settings_that_continue_where_the_record_ends_need_calls() -> None:
    """SC-04"""
    record = run_in(world(NO, NO, NO), replace(STRICT, max_rewrites=0))
    found = what_if(record, STRICT)
    assert (found.gap, path(found), found.rewrites) == ("unrecorded", [("rewrite", "below_gate")], 1)


def test_a_recorded_deadline_leaves_unknown_what_it_cut_off() -> None:
    """SC-04, SC-13: but for a path that left before it, or at it by what was judged in time."""
    record = run_in(world(YES, NO, NO, time_up=(1, "decide")), replace(STRICT, max_rewrites=3))
    assert recorded_path(record)[-1] == ("generate", "deadline")
    assert what_if(record, record.config).same_path
    earlier = what_if(record, replace(record.config, grade_pass_threshold=0.3))
    assert (earlier.state, earlier.outcome) == ("generation", "answered") or earlier.state == "known"
    assert what_if(record, replace(record.config, budget_s=500)).gap == "time"
    assert what_if(record, replace(record.config, max_rewrites=1)).gap is None, "the deadline came first"


def test_a_smaller_budget_that_the_run_had_passed_is_not_guessed() -> None:
    """SC-13: round 0 took 130 ms; a budget of a second would not have been over, the recorded one was."""
    record = run_in(world(YES, NO, NO), STRICT)
    assert what_if(record, replace(STRICT, budget_s=1.0)).state == "known"
    late = replace(record, nodes=tuple(replace(item, start_ms=item.start_ms + 2000) for item in record.nodes))
    assert what_if(late, replace(STRICT, budget_s=1.0)).gap == "time"


def test_a_budget_spent_in_silence_is_noticed_by_the_clock() -> None:
    """SC-13: the gate was met in spite of it, so no decision says so; a stricter gate would have met the deadline."""
    lenient = replace(STRICT, grade_pass_threshold=0.3)
    record = run_in(world(YES, NO, NO, time_up=(0, "decide")), lenient)
    assert recorded_path(record) == [("generate", "passed")]
    assert what_if(record, lenient).same_path
    assert what_if(record, replace(STRICT, max_rewrites=0)).gap == "time"


def test_a_grader_out_of_reach_answers_from_what_had_passed_and_only_then() -> None:
    """SC-13: under a bar that nothing had reached, the run would have failed instead."""
    settings = replace(STRICT, similarity_threshold=0.0)
    found = (((0, 0.9), (1, 0.8)),) + (((2, 0.9), (3, 0.8)),) * 3
    around = World(found=found, verdicts=(YES, NO, YES, YES), rewriting=("new",) * 4, unreached=1)
    record = run_in(around, settings)
    assert recorded_path(record)[-1] == ("generate", "grader_unavailable")
    assert what_if(record, settings).same_path
    stricter = what_if(record, replace(settings, min_confidence=0.95))
    assert stricter.gap != "answer" and stricter.state == "needs_calls"


@pytest.mark.parametrize("step", ["retrieve", "grade", "decide", "generate"])
def test_a_cancelled_run_tells_what_it_has(step: Any) -> None:
    """SC-10: up to the cancel and never an answer that it did not finish."""
    record = run_in(world(YES, YES, YES, cut_off=(0, step)), replace(STRICT, grade_pass_threshold=0.5))
    found = what_if(record, record.config)
    assert found.answer == "" and found.state != "known"
    if step in ("decide", "generate"):
        assert (found.state, found.gap, found.outcome) == ("generation", "answer", "answered")


def test_another_place_to_search_or_an_empty_record_needs_a_whole_run() -> None:
    """SC-10"""
    record = run_in(world(YES), STRICT)
    elsewhere = what_if(record, replace(STRICT, collection="other"))
    assert (elsewhere.gap, elsewhere.steps) == ("retrieval", ())
    assert elsewhere.calls_needed.next.built_in_calls == 3, "at most top_k gradings"
    assert what_if(replace(record, rounds=(), decisions=()), STRICT).gap == "unrecorded"


def test_prices_count_the_next_step_and_the_worst_that_may_follow() -> None:
    """SC-10: two calls a rewrite at worst, a full round of gradings, and the answer."""
    record = run_in(world(NO, NO, NO), replace(STRICT, max_rewrites=0, models=CHAT))
    found = what_if(record, replace(STRICT, max_rewrites=2, models=CHAT))
    assert found.gap == "unrecorded"
    assert (found.calls_needed.next.calls, found.calls_needed.next.built_in_calls) == (0, 1)
    assert (found.calls_needed.worst.calls, found.calls_needed.worst.built_in_calls) == (2 * 3 + 1, 2 * 2)
    assert found.calls_needed.worst.seconds is None, "this run measured no rewrite"
    assert found.cost.calls == 3


def test_a_passage_judged_for_the_probe_is_paid_for_once() -> None:
    """SC-03, SC-10: verdicts are reused across rounds, those below the gates as well."""
    record = run_in(world(YES, NO, NO), replace(STRICT, grade_probe=True))
    assert len(record.rounds) == 2
    again = what_if(record, replace(record.config, grade_pass_threshold=0.9, top_k=3))
    assert again.cost.built_in_calls == record.built_in_calls == 5 + 1 + 1


def test_the_rounds_before_a_branch_stand_whatever_the_settings() -> None:
    """SC-10"""
    record = run_in(world(YES, NO, NO), STRICT)
    branch = replace(record, fork=Fork(RunId("parent"), round=1))
    found = what_if(branch, replace(STRICT, top_k=1))
    assert path(found)[0] == ("rewrite", "below_gate")
    assert len(found.steps) == 2
    assert found.steps[1].round.kept[0].id == "p00" and len(found.steps[1].round.kept) == 1


def test_an_unverified_answer_stands_only_where_the_same_passages_were_let_in() -> None:
    """SC-07"""
    settings = replace(STRICT, answer_unverified=True, max_rewrites=0)
    record = run_in(world(NO, NO, NO), settings)
    assert record.outcome == "answered_unverified"
    assert what_if(record, settings).same_path
    fewer = what_if(record, replace(settings, top_k=2))
    assert (fewer.state, fewer.outcome, fewer.verified, len(fewer.passages)) == (
        "generation",
        "answered_unverified",
        False,
        2,
    )
    assert what_if(record, replace(settings, answer_unverified=False)).outcome == "abstained"


def test_all_verdicts_unreadable_end_the_run() -> None:
    """SC-03"""
    record = run_in(world(MUTE, MUTE, YES), replace(STRICT, models=CHAT))
    found = what_if(record, replace(record.config, top_k=2))
    assert (path(found), found.outcome, found.state) == ([("end", "grader_failed")], "failed", "known")


def test_a_passage_that_another_round_found_more_similar_is_the_same_to_a_generator() -> None:
    """SC-07, SC-10: the same texts in the same order go in, so the recorded answer stands."""
    world = World(
        found=(((0, 0.6), (1, 0.5)), ((0, 0.7),)),
        verdicts=(Verdict(True, 0.9, "yes"), Verdict(False, 0.9, "no")),
        rewriting=("new", "repeated"),
    )
    recorded = run_in(world, RunConfig(gate="pass_rate", grade_pass_threshold=0.6))
    assert [decision.route for decision in recorded.decisions] == ["rewrite", "generate"]
    sooner = replace(recorded.config, grade_pass_threshold=0.5)
    found = what_if(recorded, sooner)
    assert (found.state, found.answer, found.rewrites) == ("known", recorded.answer, 0)
    assert paths(run_table(recorded), SettingsGrid.of([sooner])).known.all()
