"""The honest badge: which roles of the next run are built in."""

from __future__ import annotations

import streamlit as st

from components.i18n import Words
from engine.config import RoleModels

_ROLES = ("grader", "rewriter", "generator")


def builtin_badge(models: RoleModels, words: Words) -> None:
    """Say which roles are small programs of the workbench and not language models."""
    st.badge(
        badge_text(models, words),
        icon=":material/memory:",
        color="orange" if any(getattr(models, role).built_in for role in _ROLES) else "green",
        help=words("badge.help"),
    )


def badge_text(models: RoleModels, words: Words) -> str:
    built_in = [words(f"role.{role}") for role in _ROLES if getattr(models, role).built_in]
    if len(built_in) == len(_ROLES):
        return words("badge.all_builtin")
    if not built_in:
        return words("badge.none_builtin")
    listed = words("list.joint").join(built_in[:-1])
    return words("badge.some_builtin", roles=words("list.last").join(item for item in (listed, built_in[-1]) if item))
