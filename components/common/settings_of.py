"""Which settings count for anything in which workflow, by the names that they have in the address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from engine.model.config import RoleModel, RoleName, RunConfig, WorkflowName, declared, every_setting, settings_of

ALL_ROLES: tuple[RoleName, ...] = tuple(role for role in get_args(RoleName) if role not in ("extractor", "vision"))
"""Roles that the panel has a model for, in its order: those that read sources and images are not of a run."""

_CHAT = ("num_ctx", "temperature")


def names_settings(address: Iterable[str]) -> bool:
    """Whether parameters of an address say how to ask; a run or a collection says what is asked."""
    named = {"workflow", *ALL_ROLES, *_CHAT}
    named |= {"collection", *every_setting()}
    return not named.isdisjoint(set(address) - {"collection"})


def option_names(workflow: WorkflowName) -> tuple[str, ...]:
    """Names of the options that only this workflow has."""
    return tuple(declared(workflow).own_settings)


def roles_of(workflow: WorkflowName) -> tuple[RoleName, ...]:
    """The roles that a workflow asks, in the order of the panel."""
    return tuple(role for role in ALL_ROLES if role in declared(workflow).roles)


def setting_of_config(config: RunConfig, name: str) -> Any:
    """The value of a setting or option; ``AttributeError`` for a name that the config does not have."""
    return getattr(config.options if name in option_names(config.workflow) else config, name)


def unread_by(config: RunConfig) -> str:
    """The number of the gate that this config does not go by."""
    return "min_relevant" if config.gate == "pass_rate" else "grade_pass_threshold"


def differing(chosen: RunConfig, run: RunConfig) -> tuple[str, ...]:
    """Settings, options and roles in which the panel differs from a run, where the difference counts for anything."""
    both = [name for name in settings_of(run.workflow) if name in settings_of(chosen.workflow)]
    names = [name for name in both if getattr(chosen, name) != getattr(run, name)]
    # It counts for nothing under this gate, and the panel does not show it.
    names = [name for name in names if name != unread_by(chosen)]
    if chosen.workflow != run.workflow:
        return ("workflow", *names)
    own = [name for name in option_names(run.workflow) if getattr(chosen.options, name) != getattr(run.options, name)]
    roles = [role for role in roles_of(run.workflow) if chosen.models.of(role) != run.models.of(role)]
    return (*names, *own, *roles)


def chat_model_of(config: RunConfig) -> RoleModel | None:
    """The model whose context size and temperature the panel shows for all: the first that is no built-in one.

    Roles that have a temperature of their own come last.
    """
    warm = declared(config.workflow).temperatures
    roles = sorted(roles_of(config.workflow), key=lambda role: role in warm)
    return next((config.models.of(role) for role in roles if not config.models.of(role).built_in), None)
