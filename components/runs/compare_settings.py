"""The small settings editor of the page Compare: the settings that one usually compares, starting from given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast, get_args

import streamlit as st

from components.common.i18n import Words
from components.common.phrases import begun, model_label
from components.common.setting_words import setting_label
from components.common.widgets import bounded
from components.labels.settings import choices_of, help_of, name_of
from engine.model.config import (
    BUILTIN,
    PARAMETERS,
    ROLES,
    ContextPolicy,
    GatePolicy,
    RoleModel,
    RunConfig,
    SearchMethod,
)
from engine.model.settings_difference import settings_difference

_SLIDERS = ("top_k", "similarity_threshold", "max_rewrites", "min_confidence")
_NUMBER_OF: Mapping[str, str] = {"pass_rate": "grade_pass_threshold", "min_relevant": "min_relevant"}
_ROLES: tuple[Literal["grader", "rewriter", "generator"], ...] = ("grader", "rewriter", "generator")


def compare_settings(
    start: RunConfig, models: Sequence[str], words: Words, *, key: str, by_words: bool = False
) -> RunConfig:
    """Draw the editor and return what it is set to; ``key`` must change with ``start``, whose values it begins with.

    ``models`` are names for the pickers of models; those of ``start`` are offered besides. ``by_words`` says that the
    collection can be searched by words too, and draws a choice of the search.
    """
    left, right = st.columns(2, gap="medium")
    with left:
        values: dict[str, Any] = {name: _slider(name, start, words, key) for name in _SLIDERS}
    with right:
        if by_words:
            values["search"] = cast(SearchMethod, _one_of("search", get_args(SearchMethod), start.search, words, key))
        gate = _one_of("gate", get_args(GatePolicy), start.gate, words, key)
        values[_NUMBER_OF[gate]] = _slider(_NUMBER_OF[gate], start, words, key)
        context = _one_of("context", get_args(ContextPolicy), start.context, words, key)
        chosen = {role: _model(role, start.models.of(role), models, words, key) for role in _ROLES}
    return replace(
        start,
        gate=cast(GatePolicy, gate),
        context=cast(ContextPolicy, context),
        models=replace(start.models, **chosen),
        **values,
    )


def changed_names(start: RunConfig, config: RunConfig, words: Words) -> tuple[str, ...]:
    """Names of the settings in which ``config`` is another one than ``start``."""
    return tuple(setting_label(item.name, words) for item in settings_difference(start, config))


def _slider(name: str, start: RunConfig, words: Words, key: str) -> float:
    return bounded(words, name, PARAMETERS[name], getattr(start, name), key=f"{key}_{name}")


def _one_of(name: str, options: Sequence[str], start: str, words: Words, key: str) -> str:
    return str(
        st.segmented_control(
            words(name_of(name)),
            options,
            required=True,
            default=start,
            format_func=lambda option: words(choices_of(name)[option]),
            help=words(help_of(name)),
            width="stretch",
            key=f"{key}_{name}",
        )
    )


def _model(role: str, start: RoleModel, models: Sequence[str], words: Words, key: str) -> RoleModel:
    options = list(dict.fromkeys((start.name, BUILTIN, *models)))
    model = st.selectbox(
        begun(words(ROLES[role])),
        options,
        format_func=lambda name: model_label(name, words),
        key=f"{key}_{role}",
    )
    return start if model == start.name else RoleModel() if model == BUILTIN else start.named(str(model))
