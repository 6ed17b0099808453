"""Settings of a run: which count in which workflow, and their names and values in the language of the page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

import streamlit as st

from components.common.i18n import Words
from components.common.phrases import begun
from components.labels import choices_of, name_of
from engine.flow import workflow
from engine.model.config import (
    BUILTIN,
    ROLES,
    WORKFLOWS,
    RoleModel,
    RoleName,
    RunConfig,
    WorkflowName,
    every_setting,
    number_of,
    settings_of,
)
from engine.model.decide import cascades

ALL_ROLES: tuple[RoleName, ...] = tuple(role for role in get_args(RoleName) if role not in ("extractor", "vision"))
"""Roles that the panel has a model for, in its order: those that read sources and images are not of a run."""

_CHAT = ("num_ctx", "temperature")


def names_settings(address: Iterable[str]) -> bool:
    """Return whether parameters of an address say how to ask; a run or a collection says what is asked."""
    named = {"workflow", *ALL_ROLES, *_CHAT}
    named |= {"collection", *every_setting()}
    return not named.isdisjoint(set(address) - {"collection"})


def option_names(name: WorkflowName) -> tuple[str, ...]:
    """Names of the options that only this workflow has."""
    return tuple(workflow(name).own_settings)


def roles_of(name: WorkflowName) -> tuple[RoleName, ...]:
    """The roles that a workflow asks, in the order of the panel."""
    return tuple(role for role in ALL_ROLES if role in workflow(name).roles)


def roles_asked(config: RunConfig) -> tuple[RoleName, ...]:
    """The roles that a run asks, in the order of the panel."""
    return tuple(role for role in ALL_ROLES if role in workflow(config.workflow).roles_asked(config))


def workflow_chosen(otherwise: WorkflowName) -> WorkflowName:
    """The workflow that the panel stands at; ``otherwise`` before the panel was drawn.

    Right after the language was switched, the state has the name that the browser knew, in the other language.
    """
    chosen = st.session_state.get("workflow")
    return chosen if isinstance(chosen, str) and chosen in WORKFLOWS else otherwise


def setting_of_config(config: RunConfig, name: str) -> Any:
    """The value of a setting or option; ``AttributeError`` for a name that the config does not have."""
    return getattr(config.options if name in option_names(config.workflow) else config, name)


def unread_by(config: RunConfig) -> frozenset[str]:
    """The numbers that this config does not go by: that of the other gate, and those of roles that have no say."""
    gate = "min_relevant" if config.gate == "pass_rate" else "grade_pass_threshold"
    by_bearing = config.refine and config.models.refiner.built_in
    unread = {gate} if by_bearing else {gate, "sentence_threshold"}
    return frozenset(unread if cascades(config) else unread | {"cascade_low", "cascade_high"})


def differing(chosen: RunConfig, run: RunConfig) -> tuple[str, ...]:
    """Settings, options and roles in which the panel differs from a run, where the difference counts for anything."""
    both = [name for name in settings_of(run.workflow) if name in settings_of(chosen.workflow)]
    names = [name for name in both if getattr(chosen, name) != getattr(run, name)]
    # They count for nothing here, and the panel does not show them.
    names = [name for name in names if name not in unread_by(chosen)]
    if chosen.workflow != run.workflow:
        return ("workflow", *names)
    own = [name for name in option_names(run.workflow) if getattr(chosen.options, name) != getattr(run.options, name)]
    roles = [role for role in roles_asked(run) if chosen.models.of(role) != run.models.of(role)]
    return (*names, *own, *roles)


def chat_model_of(config: RunConfig) -> RoleModel | None:
    """The model whose context size and temperature the panel shows for all: the first that is no built-in one.

    Roles that have a temperature of their own come last.
    """
    warm = workflow(config.workflow).temperatures
    roles = sorted(roles_asked(config), key=lambda role: role in warm)
    return next((config.models.of(role) for role in roles if not config.models.of(role).built_in), None)


def setting_label(name: str, words: Words) -> str:
    """``top_k`` → *Top-k*, ``models.grader.seed`` → *Grader · seed*; what has no words keeps its own name."""
    if name.startswith("models."):
        _, role, *rest = name.split(".")
        parts = [words(ROLES[role]), *(_own(item, words) for item in rest)]
        return " · ".join(begun(part) for part in parts[:1]) + "".join(f" · {item}" for item in parts[1:])
    return _own(name, words)


def setting_text(name: str, value: object, words: Words) -> str:
    """One value as a page writes it; foreign text is returned as it is."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return words("on" if value else "off")
    limits = number_of(name)
    if limits is not None and isinstance(value, int | float):
        return f"{value:g}" if limits.whole or limits.step >= 1 else f"{value:.2f}"
    if value == BUILTIN:
        return words("built-in")
    choice = choices_of(name).get(str(value))
    return words(choice) if choice else str(value)


def _own(name: str, words: Words) -> str:
    message = name_of(name)
    return words(message) if message else name
