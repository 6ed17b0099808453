"""What tells runs of one question apart: the settings in which they differ, each with its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components.ask.what_if_text import setting_name, value_text
from components.common.i18n import Words
from components.common.settings_of import option_names, roles_of
from engine.model.config import RunConfig, settings_of
from engine.model.values import RunId

_MOST = 4


def distinguishing_settings(
    asked: Sequence[tuple[RunId, str]], configs: Mapping[RunId, RunConfig], words: Words
) -> dict[RunId, str]:
    """For each run whose question stands in the list again: what it was asked with and another was not.

    ``asked`` are runs and questions. A run without known settings, or that differs in nothing, has no line.
    """
    by_question: dict[str, list[RunId]] = {}
    for run_id, question in asked:
        if run_id in configs:
            by_question.setdefault(" ".join(question.split()).casefold(), []).append(run_id)
    return {
        run_id: said
        for group in by_question.values()
        for run_id in group
        if (said := _said(configs[run_id], [configs[other] for other in group], words))
    }


def _said(config: RunConfig, group: Sequence[RunConfig], words: Words) -> str:
    own = _counting(config)
    # Other workflows have other settings: that one has none of this name says nothing.
    others = [_counting(item) for item in group if item.workflow == config.workflow]
    names = [name for name, value in own.items() if any(name not in item or item[name] != value for item in others)]
    parts = [f"{setting_name(name, words)} {value_text(name, own[name], words)}" for name in names[:_MOST]]
    return " · ".join(parts) + (" …" if len(names) > _MOST else "")


def _counting(config: RunConfig) -> dict[str, Any]:
    """Settings, options and models that count for anything: of the gate, only the number that it reads."""
    idle = "min_relevant" if config.gate == "pass_rate" else "grade_pass_threshold"
    found = {name: getattr(config, name) for name in settings_of(config.workflow) if name != idle}
    found |= {name: getattr(config.options, name) for name in option_names(config.workflow)}
    return found | {role: config.models.of(role).name for role in roles_of(config.workflow)}
