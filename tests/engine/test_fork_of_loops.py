"""Branching off runs of every workflow: what stands, what is reused, and what is asked again (SC-10)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from engine.model.config import RunConfig, WorkflowName
from engine.model.events import fold_all
from engine.model.values import RunId, RunRecord
from engine.replay.fork import branch_off, fork_price
from engine.running.execution import execute
from tests.engine.forking import paid
from tests.engine.whatif.loops import LoopWorld, Resources, TimedRun, loop_settings, loop_worlds, run_in

LOOPS: tuple[WorkflowName, ...] = ("self_corrective", "quality_loop", "dual_loop", "answer_evaluation")


def fork_in(world: LoopWorld, parent: RunRecord, config: RunConfig, **changes: Any) -> RunRecord:
    """A branch of a run, in the same world."""
    branch = branch_off(parent, config, **changes)
    events: list[Any] = []
    run = TimedRun(RunId("run-2"), lambda _, event: events.append(event))
    run.begin(world.question, config, branch.fork, trial=True)
    asyncio.run(execute(run, world.question, config, Resources(world, run.ticking), branch))
    return fold_all(events)


def course(record: RunRecord) -> list[object]:
    """Everything about a run that settings decide, and time does not."""
    return [
        [(item.node, item.route, item.reason, item.passed, item.kept) for item in record.decisions],
        [[(i.passage.id, i.rank, i.gate) for i in item.candidates] for item in record.rounds],
        [item.verdicts for item in record.rounds],
        [item.rewritten_query for item in record.rewrites],
        [(item.text, item.evaluation) for item in record.drafts],
        record.outcome,
        record.answer,
    ]


@pytest.mark.parametrize("workflow", LOOPS)
@hypothesis_settings(max_examples=8, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_branch_without_a_change_is_its_parent_again_and_asks_nothing(
    workflow: WorkflowName, data: st.DataObject
) -> None:
    world = replace(data.draw(loop_worlds(faults=False)), memories=0)
    parent = run_in(world, data.draw(loop_settings(workflow)), trial=True)
    for index in range(len(parent.rounds)):
        branch = fork_in(world, parent, parent.config, round_index=index)
        assert course(branch) == course(parent), index
        assert paid(branch) == 0


@pytest.mark.parametrize("workflow", LOOPS)
@hypothesis_settings(max_examples=8, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_branch_from_the_first_round_is_the_run_that_its_settings_make(
    workflow: WorkflowName, data: st.DataObject
) -> None:
    world = replace(data.draw(loop_worlds(faults=False)), memories=0)
    parent = run_in(world, data.draw(loop_settings(workflow)), trial=True)
    config = replace(data.draw(loop_settings(workflow)), models=parent.config.models)
    if not parent.rounds:
        return
    real = run_in(world, config, trial=True)
    branch = fork_in(world, parent, config, round_index=0)
    assert course(branch) == course(real)
    worst = fork_price(parent, config, 0).worst
    assert paid(branch) <= min(paid(real), worst.calls + worst.built_in_calls)


@pytest.mark.parametrize("workflow", LOOPS)
def test_the_rounds_before_a_branch_stand_no_matter_what_its_settings_are(workflow: WorkflowName) -> None:
    found = 0
    for seed in range(60):
        world = LoopWorld(seed=seed, strict=0.9)
        config = RunConfig(workflow=workflow, max_rewrites=3, gate="pass_rate", grade_pass_threshold=1.0, budget_s=120)
        parent = run_in(world, config, trial=True)
        last = len(parent.rounds) - 1
        if last < 1:
            continue
        found += 1
        other = replace(config, top_k=2, similarity_threshold=0.2, min_confidence=0.9)
        branch = fork_in(world, parent, other, round_index=last)
        former, now = course(parent), course(branch)
        assert now[1][:last] == former[1][:last] and now[2][:last] == former[2][:last]  # type: ignore[index]
        assert branch.decisions[: _before(parent, last)] == parent.decisions[: _before(parent, last)]
        if found == 3:
            return
    assert found


def _before(record: RunRecord, index: int) -> int:
    """Decisions before a round was opened."""
    return sum(item.round < index for item in record.decisions)
