"""What-if of the three other loops: what is known is what a run on their real graphs does. QL-05, DL-03, AE-01."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from engine.model.config import RoleModel, RoleModels, RunConfig, WorkflowName
from engine.model.values import RunRecord
from engine.replay import WhatIf, what_if
from engine.replay.decision_boundaries import Sweep, remedy
from engine.replay.decision_map import decision_map
from engine.replay.diagnosis import diagnose
from engine.replay.gate_cost import gate_cost
from engine.replay.grid import paths
from engine.replay.lines import numbers_of
from engine.replay.settings import STATES, Column, SettingsGrid
from engine.replay.table import run_table
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions
from tests.engine.whatif.loops import LoopWorld, loop_settings, loop_variations, loop_worlds, run_in

LOOPS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation")
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def path(found: WhatIf | RunRecord) -> list[tuple[str, str]]:
    return [(decision.route, decision.reason) for decision in found.decisions]


@pytest.mark.parametrize("workflow", LOOPS)
@settings(max_examples=20, suppress_health_check=_SLOW, deadline=None)
@given(data=st.data())
def test_a_run_that_ended_takes_its_own_path_again_at_its_own_cost(workflow: WorkflowName, data: st.DataObject) -> None:
    """QL-05, DL-03, DL-04, AE-01: no matter what went wrong in it."""
    world = data.draw(loop_worlds())
    record = run_in(world, data.draw(loop_settings(workflow)))
    if record.error is not None:
        return
    found = what_if(record, record.config)
    assert (found.state, path(found), found.outcome) == ("known", path(record), record.outcome)
    assert found.same_path and found.reason == record.reason
    assert found.answer == record.answer
    assert found.decisions == record.decisions
    # A refused proposal is asked for once more, and a call that failed is paid too: no path foresees either.
    refused = sum(len(item.refused) for item in record.rewrites)
    if not refused and not world.faults:
        steps = found.cost.calls + found.cost.built_in_calls
        assert steps == len(record.model_calls)


@pytest.mark.parametrize("workflow", LOOPS)
@settings(max_examples=50, suppress_health_check=_SLOW, deadline=None)
@given(data=st.data())
def test_where_a_path_is_known_the_run_made_again_takes_it(workflow: WorkflowName, data: st.DataObject) -> None:
    """QL-01 to QL-05, DL-02 to DL-06, AE-01, AE-04: in a world that answers in the same way."""
    world = data.draw(loop_worlds())
    record = run_in(world, data.draw(loop_settings(workflow)))
    config = data.draw(loop_variations(record.config))
    found = what_if(record, config)
    assert found.path_known or (found.outcome is None and found.gap is not None)
    if found.path_known:
        assert_true(found, world, record)


def assert_true(found: WhatIf, world: LoopWorld, record: RunRecord) -> None:
    if not found.path_known:
        assert found.outcome is None and found.gap is not None
        return
    # As *Run with these settings* would.
    real = run_in(world, found.config, trial=found.config != record.config)
    if real.error is not None and found.state == "generation":
        # Whether the generator fails, no one claims to know.
        return
    assert path(found) == path(real)
    assert found.outcome in (None, real.outcome)
    if real.error is None:
        assert found.reason == real.reason
    if found.state == "known":
        assert found.answer == real.answer
        assert (found.calls_needed.next.calls, found.calls_needed.worst.calls) == (0, 0)
    if found.passages:
        assert real.context is not None
        offered = [*(passage.id for passage in real.context.passages), *real.context.cut]
        assert [passage.id for passage in found.passages] == offered
    for step, made in zip(found.steps, real.rounds, strict=True):
        assert [item.id for item in step.round.kept] == [item.id for item in made.kept]
        if not step.ungraded:
            assert step.round.quality == made.quality


def recorded(workflow: WorkflowName, *, wanted: object = None, **settings_: object) -> tuple[LoopWorld, RunRecord]:
    """A run without faults of the first world in which ``wanted`` holds of it."""
    for seed in range(400):
        world = LoopWorld(seed, strict=0.6)
        record = run_in(world, RunConfig(workflow=workflow, **settings_))  # type: ignore[arg-type]
        if wanted is None or wanted(record):  # type: ignore[operator]
            return world, record
    raise AssertionError("no such world")


# -- quality-control loop ---------------------------------------------------------------------------------------------


def test_weights_cut_offs_and_the_graded_number_are_decided_again_for_nothing() -> None:
    """QL-01, QL-02, QL-05"""
    world, record = recorded("quality_loop", wanted=lambda item: 0.2 < item.rounds[0].quality.score < 0.5)
    score = record.rounds[0].quality.score  # type: ignore[union-attr]
    lower = what_if(record, replace(record.config, options=QualityOptions(medium_score=0.2)))
    assert path(lower) == [("generate", "quality_met")]
    assert lower.decisions[0].comparisons[0].value == score
    relevance_alone = replace(record.config, options=QualityOptions(0.0, 1.0, 0.0, 0.0, medium_score=0.0))
    check = what_if(record, relevance_alone).steps[0].round.quality
    assert check is not None and check.score == check.dimensions[1].value
    for options in (QualityOptions(grade_on="top3"), QualityOptions(0.0, 1.0, 0.0, 0.0), QualityOptions(high_score=1)):
        assert_true(what_if(record, replace(record.config, options=options)), world, record)


def test_a_passage_without_verdict_bounds_the_score_both_ways() -> None:
    """QL-01: known where 0 and 1 lead the same way, open where the cut-off is between."""
    strict = {"top_k": 3, "max_rewrites": 0, "similarity_threshold": 0.0}
    _, record = recorded("quality_loop", wanted=lambda item: len(item.rounds[0].candidates) > 8, **strict)
    wider = replace(record.config, top_k=8)
    step = what_if(record, wider).steps[0]
    least, most = step.score
    assert step.ungraded and least < most
    between = replace(wider, options=QualityOptions(medium_score=round((least + most) / 2, 3), high_score=1.0))
    undecided = what_if(record, replace(between, max_rewrites=1))
    assert (undecided.state, undecided.gap, undecided.decisions) == ("needs_calls", "verdicts", ())
    below = what_if(record, replace(wider, options=QualityOptions(medium_score=max(0.0, round(least - 0.01, 3)))))
    assert path(below) == [("generate", "quality_met")]
    assert (below.state, below.gap) == ("generation", "verdicts")


def test_another_router_leaves_everything_open_and_a_deeper_list_its_places() -> None:
    """QL-03"""
    _, record = recorded("quality_loop", wanted=lambda item: len(item.rounds[0].candidates) >= 4, top_k=2, probe_k=2)
    models = replace(record.config.models, router=RoleModel("ollama:m"))
    assert (what_if(record, replace(record.config, models=models)).gap, record.workflow) == ("routing", "quality_loop")
    deeper = what_if(record, replace(record.config, top_k=9, similarity_threshold=0.0))
    assert (deeper.state, deeper.gap) == ("needs_calls", "candidates")
    assert deeper.steps[0].unseen > 0


# -- dual loop --------------------------------------------------------------------------------------------------------


def _corrected(record: RunRecord) -> bool:
    return len(record.drafts) >= 2 and not record.drafts[0].direct


def test_fewer_corrections_let_the_best_recorded_draft_stand_and_more_need_calls() -> None:
    """DL-04"""
    _, record = recorded("dual_loop", wanted=lambda item: _corrected(item) and item.reason == "max_corrections")
    none = what_if(record, replace(record.config, options=DualLoopOptions(max_corrections=0)))
    assert (none.state, none.outcome, none.reason) == ("known", "answered_forced", "max_corrections")
    assert (none.answer, none.answers) == (record.drafts[0].text, 1)
    more = what_if(record, replace(record.config, options=DualLoopOptions(max_corrections=5)))
    assert (more.state, more.gap, more.decisions[-1].reason) == ("needs_calls", "unrecorded", "answer_off")
    assert more.calls_needed.worst.built_in_calls > more.calls_needed.next.built_in_calls > 0


def test_the_web_switched_off_is_known_and_switched_on_open_where_it_would_come_up() -> None:
    """DL-03, DL-07"""
    on = DualLoopOptions(web_search=True)
    world, record = recorded(
        "dual_loop", options=on, wanted=lambda item: any(it.strategy == "web_search" for it in item.rounds)
    )
    off = what_if(record, replace(record.config, options=DualLoopOptions()))
    assert off.path_known and all(step.round.strategy != "web_search" for step in off.steps)
    assert_true(off, world, record)
    without = run_in(world, replace(record.config, options=DualLoopOptions()))
    opened = what_if(without, record.config)
    assert (opened.state, opened.gap) == ("needs_calls", "web")
    _, local = recorded("dual_loop", wanted=lambda item: item.outcome == "answered" and len(item.rounds) == 1)
    assert what_if(local, replace(local.config, options=on)).state == "known", "the web would not come up"


def test_memory_switched_off_is_known_where_it_changed_nothing_and_switched_on_is_open() -> None:
    """DL-06"""
    off = DualLoopOptions(memory=False)
    world = LoopWorld(3, memories=0)
    record = run_in(world, RunConfig(workflow="dual_loop"))
    assert what_if(record, replace(record.config, options=off)).same_path
    forgetful = run_in(world, RunConfig(workflow="dual_loop", options=off))
    assert what_if(forgetful, RunConfig(workflow="dual_loop")).gap == "memory"
    chat = RoleModels(router=RoleModel("ollama:m"))
    asked = run_in(LoopWorld(3, memories=1), RunConfig(workflow="dual_loop", models=chat))
    assert what_if(asked, replace(asked.config, options=off)).gap == "memory", "a model saw them when it chose"


def test_a_path_that_memory_answered_is_not_known_under_other_settings() -> None:
    """DL-06: a run with other settings leaves out what its very question left, so it would search."""
    world = LoopWorld(3, memories=1, strict=0.0)
    record = run_in(world, RunConfig(workflow="dual_loop"))
    assert record.route is not None and record.route.code == "remembered" and not record.rounds
    assert what_if(record, record.config).same_path
    found = what_if(record, replace(record.config, top_k=2))
    assert (found.state, found.gap, found.outcome) == ("needs_calls", "memory", None)
    real = run_in(world, found.config, trial=True)
    assert real.rounds and real.recall is not None
    assert (real.recall.own, real.recall.memories) == (("m0",), ())
    assert what_if(real, replace(record.config, top_k=3)).gap != "memory", "nothing of its own was recalled"


def test_which_passages_pass_decides_which_strategies_follow() -> None:
    """DL-03"""
    world, record = recorded(
        "dual_loop", wanted=lambda item: [it.reason for it in item.decisions].count("next_strategy") == 1
    )
    lenient = what_if(record, replace(record.config, min_confidence=0.0))
    assert lenient.decisions[1].reason == "documents_relevant"
    assert (lenient.state, lenient.gap) == ("needs_calls", "answer"), "its answer was never written nor judged"
    strict = what_if(record, replace(record.config, min_confidence=1.0))
    assert_true(strict, world, record)


# -- answer-evaluation loop -------------------------------------------------------------------------------------------


def _revised(record: RunRecord) -> bool:
    return len(record.drafts) == 3 and record.reason == "max_epochs" and len(record.rounds) == 1


def test_a_lower_limit_of_answers_lets_the_earlier_draft_stand_and_a_higher_one_needs_calls() -> None:
    """AE-01"""
    _, record = recorded("answer_evaluation", wanted=_revised)
    for limit in (1, 2):
        found = what_if(record, replace(record.config, options=AnswerEvaluationOptions(limit)))
        assert (found.state, found.reason, found.answer) == ("known", "max_epochs", record.drafts[limit - 1].text)
        assert found.outcome == "answered_forced" and found.answers == limit
    more = what_if(record, replace(record.config, options=AnswerEvaluationOptions(5)))
    assert (more.state, more.gap, more.decisions[-1].reason) == ("needs_calls", "unrecorded", "revise")
    assert more.calls_needed.worst.built_in_calls == 2 * more.calls_needed.next.built_in_calls == 4


def test_another_context_or_evaluator_leaves_the_answer_open() -> None:
    """AE-01, AE-04, AE-05: an answer that no one wrote, no one judged either."""

    def fewer(item: RunRecord) -> RunConfig:
        return replace(item.config, top_k=1, grade_pass_threshold=0.0)

    def gives_other_passages(item: RunRecord) -> bool:
        return bool(item.context and 0 < len(what_if(item, fewer(item)).passages) < len(item.context.passages))

    _, record = recorded("answer_evaluation", wanted=gives_other_passages, gate="pass_rate")
    other = what_if(record, fewer(record))
    assert (other.state, other.gap) == ("needs_calls", "answer")
    assert other.decisions[-1].route == "prepare"
    models = replace(record.config.models, evaluator=RoleModel("ollama:m"))
    judged_again = what_if(record, replace(record.config, models=models))
    assert (judged_again.state, judged_again.gap, judged_again.answers) == ("needs_calls", "evaluation", 1)
    assert judged_again.calls_needed.next.calls == 1


@pytest.mark.parametrize("workflow", LOOPS)
def test_another_collection_or_workflow_is_another_retrieval(workflow: WorkflowName) -> None:
    _, record = recorded(workflow)
    assert what_if(record, replace(record.config, collection="other")).gap == "retrieval"
    assert what_if(record, RunConfig()).gap == "retrieval"


@pytest.mark.parametrize("workflow", LOOPS)
def test_a_run_that_was_cut_off_anywhere_is_known_as_far_as_it_goes(workflow: WorkflowName) -> None:
    """SC-13"""
    for seed in range(6):
        whole = run_in(LoopWorld(seed, strict=0.6), RunConfig(workflow=workflow, max_rewrites=1))
        for count in range(len(whole.decisions)):
            cut = _until_decision(whole, count)
            found = what_if(cut, cut.config)
            assert found.decisions == whole.decisions[: len(found.decisions)]
            assert found.outcome in (None, whole.outcome) and found.path_known is (found.outcome is not None)
            if found.state == "known":
                assert found.answer == whole.answer


def _until_decision(record: RunRecord, count: int) -> RunRecord:
    """The record as it would be, had the run been stopped just before a decision."""
    decisions = record.decisions[:count]
    rounds = record.rounds[: record.decisions[count].round + 1]
    rewrites = tuple(item for item in record.rewrites if item.round < rounds[-1].index) if rounds else ()
    answered = sum(item.node in ("eval_answer", "grade_relevance") for item in decisions)
    return replace(
        record,
        decisions=decisions,
        rounds=rounds,
        rewrites=rewrites,
        drafts=record.drafts[:answered],
        outcome="cancelled",
        reason="cancelled",
        answer="",
    )


@pytest.mark.parametrize("workflow", LOOPS)
@settings(max_examples=12, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_settings_that_a_run_cannot_tell_apart_are_replayed_once_and_none_is_lost(
    workflow: WorkflowName, data: st.DataObject
) -> None:
    """At, above and below everything that the run recorded, in two settings at a time."""
    record = run_in(data.draw(loop_worlds()), data.draw(loop_settings(workflow)))
    candidates = [item.passage.similarity for own in record.rounds for item in own.candidates]
    reached = [verdict.reach for own in record.rounds for verdict in own.verdicts.values() if verdict.reach >= 0]
    levels = {"similarity_threshold": candidates, "min_confidence": reached, "grade_pass_threshold": [0.2, 1 / 3, 0.5]}
    values: dict[str, list[float]] = {
        name: sorted(
            {0.0, 1.0, *(round(min(1.0, max(0.0, level + by)), 4) for level in found for by in (-0.01, 0, 0.01))}
        )
        for name, found in levels.items()
    }
    values |= {"top_k": [1.0, 4.0, 9.0], "max_rewrites": [0.0, 1.0, 2.0, 5.0], "min_relevant": [1.0, 2.0, 20.0]}
    x, y = data.draw(st.lists(st.sampled_from(sorted(values)), min_size=2, max_size=2, unique=True))
    grid = SettingsGrid.product(record.config, {x: values[x][:12], y: values[y][:12]})
    every, table = paths(run_table(record), grid), run_table(record)
    for place in data.draw(st.lists(st.integers(0, len(grid) - 1), min_size=8, max_size=8)):
        found = what_if(record, grid.config(place))
        said = (STATES[every.state[place]], every.outcome[place] >= 0, every.rewrites[place], every.round[place])
        assert said == (found.state, found.outcome is not None, found.rewrites, len(found.steps) - 1)
        assert every.calls[place] + every.built_in_calls[place] == found.cost.calls + found.cost.built_in_calls
        given = {item.id for item in found.passages}
        assert set(every.context_ids(place)) == given and len(table.passages) >= len(given)


@pytest.mark.parametrize("workflow", LOOPS)
def test_ranges_boundaries_and_a_map_are_drawn_of_every_loop(workflow: WorkflowName) -> None:
    _, record = recorded(workflow)
    table = run_table(record)
    assert not table.plain
    low, high = Sweep(table, record.config).stable_ranges(["top_k"])["top_k"]
    assert low <= record.config.top_k <= high
    assert Sweep(run_table(record), record.config).boundaries() is not None
    across: Column = "max_rewrites" if "max_rewrites" in numbers_of(RunConfig(workflow=workflow)) else "min_confidence"
    assert decision_map(record, record.config, across, "top_k").cells
    with pytest.raises(ValueError, match="two different settings"):
        decision_map(record, record.config, "top_k", "probe_k")  # type: ignore[arg-type]


@pytest.mark.parametrize("workflow", LOOPS)
def test_rules_of_the_four_node_loop_say_nothing_of_other_loops(workflow: WorkflowName) -> None:
    _, record = recorded(workflow, wanted=lambda item: item.outcome != "answered")
    assert diagnose(record) is None and remedy(record, record.config) is None
    assert workflow == "answer_evaluation" or gate_cost(record) is None
