"""Settings of a run as an agent gives and reads them: only what differs from others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api.addresses import with_listed_address
from engine.api.partial_config import config_over
from engine.engine import Engine
from engine.errors import InvalidConfig
from engine.evaluation.settings_out import plain_settings
from engine.flow import workflow
from engine.model.config import USUAL, WORKFLOWS, RunConfig, for_workflow


def config_for(engine: Engine, saved: str, collection: str, settings: Mapping[str, Any]) -> RunConfig:
    """The config of a question: saved settings, or the usual ones, with a collection and settings of its own.

    Raises ``InvalidConfig``.
    """
    workflow = next((name for name in WORKFLOWS if name == settings.get("workflow")), "")
    base = engine.settings.defaults_of_runs.of(workflow)
    if saved:
        known = engine.evaluation.settings()
        if saved not in known:
            raise InvalidConfig.not_one_of(field="saved", allowed=tuple(known))
        base = known[saved]
    named = {"collection": collection} if collection else {}
    return with_listed_address(engine.settings, config_over(base, {**settings, **named}))


def differences(config: RunConfig, base: RunConfig | None = None) -> dict[str, Any]:
    """The settings in which a config differs from another one; without one, its workflow and what differs from the
    defaults of that.
    """
    if base is None:
        usual = for_workflow(RunConfig(), config.workflow)
        named = {} if config.workflow == USUAL else {"workflow": config.workflow}
        return {**named, **_changed(plain_settings(config), plain_settings(usual))}
    return _changed(plain_settings(config), plain_settings(base))


def without_effect(config: RunConfig) -> frozenset[str]:
    """The settings that count for nothing in a config: those of no node of its workflow, and the other gate's bar."""
    other = {"pass_rate": "min_relevant", "min_relevant": "grade_pass_threshold"}
    return workflow(config.workflow).idle | {other[config.gate]}


def _changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in new.items():
        if isinstance(value, Mapping):
            if inner := _changed(value, old.get(name, {})):
                found[name] = inner
        elif name not in old or value != old[name]:
            found[name] = value
    return found
