"""What the next run may cost at worst, before it is asked: by counting its steps and by what earlier runs measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.model.config import RoleName, RunConfig
from engine.model.cost import Cost
from engine.model.values import RunRecord
from engine.replay.cost import CostModel, cost_model, unanswered
from engine.workflows import workflow

_SOMETIMES: Mapping[str, RoleName] = {"evaluation": "evaluator", "routing": "router"}
"""Steps that not every workflow has."""


def measured_tariff(records: Iterable[RunRecord], config: RunConfig) -> CostModel:
    """Prices of single steps, each from the first record of the same workflow that measured it with the same model.

    Records are read no further than until every step is measured; seconds stay None where none did. One in which a chat
    model of ``config`` never replied measured nothing.
    """
    found: dict[str, Cost] = {
        "search": Cost(seconds=None),
        "grading": _unmeasured(config, "grader"),
        "rewrite": _unmeasured(config, "rewriter"),
        "generation": _unmeasured(config, "generator"),
        **{
            name: _unmeasured(config, role)
            for name, role in _SOMETIMES.items()
            if role in workflow(config.workflow).roles
        },
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
    return Cost(0, 1, None) if config.models.of(role).built_in else Cost(1, 0, None)
