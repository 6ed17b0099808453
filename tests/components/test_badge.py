"""The badge of built-in roles: short enough to stand next to the navigation, with the names in its tooltip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.common.badge import badge_help, badge_text
from components.common.i18n import UiLanguage, words_for
from components.common.run_settings import ALL_ROLES
from engine.model.config import RoleModel, RoleModels

EN, ZH = words_for("en"), words_for("zh")
_MODELS = {"screener": RoleModel("cross_encoder:m")}
_ROOM = 18
"""Characters that fit between navigation and language at 1280 pixels."""


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("chat", range(len(ALL_ROLES) + 1))
def test_the_badge_fits_next_to_the_navigation_however_many_roles_are_built_in(language: UiLanguage, chat: int) -> None:
    models = replace(RoleModels(), **{role: _MODELS.get(role, RoleModel("ollama:m")) for role in ALL_ROLES[:chat]})
    said = badge_text(models, words_for(language), ALL_ROLES)
    assert 0 < len(said) <= _ROOM and "{" not in said


def test_the_tooltip_names_the_roles_that_are_built_in() -> None:
    models = RoleModels(generator=RoleModel("ollama:m"))
    assert badge_text(models, EN) == "2 of 3 built in"
    assert badge_help(models, EN).startswith("Built in: grader and rewriter.")
    assert badge_help(models, ZH).startswith("内置：评分模型和改写模型。")
    assert badge_help(RoleModels(), EN) == EN(
        "Built-in roles are small deterministic programs of this workbench, not language models. They need no server; "
        "choose others under Models."
    )
