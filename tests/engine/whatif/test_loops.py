"""What-if of the three other loops: what is known is what a run does, on their real graphs. QL-05, DL-03, DL-04, AE-01."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.config import RoleModels, RunConfig, WorkflowName
from engine.values import RunRecord
from engine.whatif import WhatIf, what_if
from tests.engine.whatif.loops import LoopWorld, loop_settings, loop_variations, loop_worlds, run_in

LOOPS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation")
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def path(found: WhatIf | RunRecord) -> list[tuple[str, str]]:
    return [(decision.route, decision.reason) for decision in found.decisions]


@pytest.mark.parametrize("workflow", LOOPS)
@settings(max_examples=60, suppress_health_check=_SLOW, deadline=None)
@given(data=st.data())
def test_a_run_that_ended_takes_its_own_path_again_at_its_own_cost(workflow: WorkflowName, data: st.DataObject) -> None:
    """QL-05, DL-03, DL-04, AE-01: whatever went wrong in it."""
    world = data.draw(loop_worlds())
    record = run_in(world, data.draw(loop_settings(workflow)))
    if record.error is not None:
        return
    found = what_if(record, record.config)
    assert (found.state, path(found), found.outcome) == ("known", path(record), record.outcome)
    assert found.same_path and found.reason == record.reason
    assert found.answer == record.answer
    assert found.decisions == record.decisions
    refused = sum(len(item.refused) for item in record.rewrites)
    if not refused and not world.faults:
        steps = found.cost.calls + found.cost.built_in_calls
        assert steps == len(record.model_calls)


@pytest.mark.parametrize("workflow", LOOPS)
@settings(max_examples=150, suppress_health_check=_SLOW, deadline=None)
@given(data=st.data())
def test_where_a_path_is_known_the_run_made_again_takes_it(workflow: WorkflowName, data: st.DataObject) -> None:
    """QL-01 to QL-05, DL-02 to DL-06, AE-01, AE-04: in a world that answers alike."""
    world = data.draw(loop_worlds())
    record = run_in(world, data.draw(loop_settings(workflow)))
    config = data.draw(loop_variations(record.config))
    assert_true(what_if(record, config), world, record)


def assert_true(found: WhatIf, world: LoopWorld, record: RunRecord) -> None:
    if not found.path_known:
        assert found.outcome is None and found.gap is not None
        return
    real = run_in(world, found.config)
    assert real.error is None, real.error
    assert path(found) == path(real)
    assert found.outcome in (None, real.outcome)
    assert found.reason == real.reason
    if found.state == "known":
        assert found.answer == real.answer
        assert found.calls_needed.next.calls == 0
    if found.passages:
        assert real.context is not None
        offered = [*(passage.id for passage in real.context.passages), *real.context.cut]
        assert [passage.id for passage in found.passages] == offered
    for step, made in zip(found.steps, real.rounds, strict=True):
        assert [item.id for item in step.round.kept] == [item.id for item in made.kept]
        if not step.ungraded:
            assert step.round.quality == made.quality
