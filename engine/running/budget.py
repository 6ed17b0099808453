"""Maximum cost of the next run in advance, from its steps and the times of earlier runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.flow import workflow
from engine.model.config import RoleName, RunConfig
from engine.model.cost import Cost
from engine.model.values import RunRecord
from engine.replay.cost import CostModel, cost_model, unanswered

_STEPS: Mapping[str, RoleName] = {
    "grading": "grader",
    "screening": "screener",
    "rewrite": "rewriter",
    "generation": "generator",
    "evaluation": "evaluator",
    "routing": "router",
    "refining": "refiner",
    "checking": "verifier",
}
"""The step that each role takes."""


def measured_costs(records: Iterable[RunRecord], config: RunConfig) -> CostModel:
    """Prices of single steps, each from the first record of the same workflow that measured it with the same model.

    Records are read no further than until every step is measured; seconds stay None where none did. One in which a chat
    model of ``config`` never replied measured nothing.
    """
    roles = workflow(config.workflow).roles_asked(config)
    found: dict[str, Cost] = {
        "search": Cost(seconds=None),
        **{name: _unmeasured(config, role) for name, role in _STEPS.items() if role in roles},
    }
    for record in (item for item in records if item.workflow == config.workflow and not unanswered(item, config)):
        own = cost_model(record, config)
        for name, price in found.items():
            measured: Cost = getattr(own, name)
            if price.seconds is None and measured.seconds is not None:
                found[name] = replace(price, seconds=measured.seconds)
        if all(price.seconds is not None for price in found.values()):
            break
    return CostModel(**found)


def worst_case(prices: CostModel, config: RunConfig) -> Cost:
    """A run in which nothing passes until its limits are reached, and every answer that it may write.

    Calls of chat models are those that the workflow itself counts; seconds are None where a step is not measured.
    """
    most = prices.longest_run(config)
    return replace(most, calls=workflow(config.workflow).worst_case_calls(config))


def _unmeasured(config: RunConfig, role: RoleName) -> Cost:
    if role in ("refiner", "verifier") and config.models.of(role).built_in:
        return Cost()
    return Cost(0, 1, None) if config.models.of(role).in_process else Cost(1, 0, None)
