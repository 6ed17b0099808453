"""Part of a config over a whole one: what a request leaves out stays as the run had it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from engine.model.config import WORKFLOWS, RunConfig, config_from_dict, for_workflow


def config_over(own: RunConfig, partial: Mapping[str, Any]) -> RunConfig:
    """``own`` with the fields that ``partial`` names; raises ``InvalidConfig`` as ``config_from_dict`` does.

    Models are merged role by role and field by field; a text in a role's place changes its model alone. Another
    workflow begins with its own options and defaults.
    """
    workflow = next((name for name in WORKFLOWS if name == partial.get("workflow")), own.workflow)
    own = for_workflow(own, workflow)
    whole = asdict(own)
    if isinstance(partial.get("options"), Mapping):
        partial = {**partial, "options": {**whole["options"], **partial["options"]}}
    models = partial.get("models")
    if not isinstance(models, Mapping):
        return config_from_dict({**whole, **partial})
    own_models = whole["models"]
    changed = {role: _model_over(own_models.get(role), given) for role, given in models.items()}
    return config_from_dict({**whole, **partial, "models": {**own_models, **changed}})


def _model_over(own: Mapping[str, Any] | None, given: Any) -> Any:
    changed = {"model": given} if isinstance(given, str) else given
    return {**(own or {}), **changed} if isinstance(changed, Mapping) else given
