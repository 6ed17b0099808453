"""The longest runs of settings: which settings they depend on."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from engine.evaluation.limits import THRESHOLDS, limits_of
from engine.flow import workflow
from engine.model.config import SETTINGS, WORKFLOWS, RunConfig, WorkflowName
from engine.model.cost import Cost
from engine.replay.cost import CostModel
from tests.evaluation.gathered import evidence_of


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_threshold_makes_a_run_longer(name: WorkflowName) -> None:
    config = RunConfig(workflow=name, cascade_low=0, cascade_high=1)
    prices = CostModel(*(Cost(1, 2, 3.0) for _ in fields(CostModel)))
    for threshold in THRESHOLDS:
        limits = SETTINGS[threshold].limits
        assert limits is not None
        for value in (limits.low, limits.high):
            change: dict[str, Any] = {threshold: type(limits.default)(value)}
            changed = replace(config, **change)
            assert prices.longest_run(changed) == prices.longest_run(config)
            assert workflow(name).rounds(changed) == workflow(name).rounds(config)


def test_settings_that_share_a_longest_run_have_its_limits() -> None:
    own = RunConfig()
    configs = [replace(own, max_rewrites=0), own, replace(own, min_confidence=0.9), replace(own, max_rewrites=0)]
    found = limits_of(evidence_of(3), configs)
    alone = [limits_of(evidence_of(3), [config]) for config in configs]
    for name in ("rounds", "calls", "built_in_calls"):
        assert getattr(found, name).tolist() == [getattr(each, name)[0] for each in alone]
    assert np.array_equal(found.seconds, np.hstack([each.seconds for each in alone]))
    assert len(set(found.rounds.tolist())) == 2
