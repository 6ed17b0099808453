"""The honest badge: which roles of the next run are built in."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.i18n import Words
from engine.messages import N_, NC_
from engine.model.config import RoleModels
from engine.model.values import IMPORTED

_ROLE = {
    "evaluator": N_("evaluator"),
    "router": N_("router"),
    "reranker": N_("reranker"),
    "refiner": N_("refiner"),
    "grader": N_("grader"),
    "screener": N_("screener"),
    "rewriter": N_("rewriter"),
    "generator": N_("generator"),
    "verifier": N_("verifier"),
}

_ROLES = ("grader", "rewriter", "generator")


def builtin_badge(models: RoleModels, words: Words, roles: Sequence[str] = _ROLES) -> None:
    """Say which roles are small programs of the workbench and not language models; nothing of another program's."""
    if any(getattr(models, role).model.startswith(f"{IMPORTED}:") for role in roles):
        return
    st.badge(
        badge_text(models, words, roles),
        icon=":material/memory:",
        color="orange" if any(getattr(models, role).built_in for role in roles) else "green",
        help=badge_help(models, words, roles),
    )


def badge_text(models: RoleModels, words: Words, roles: Sequence[str] = _ROLES) -> str:
    """``2 of 5 built in``, of the roles that a workflow asks; their names would cover the navigation next to it."""
    built_in = [role for role in roles if getattr(models, role).built_in]
    if len(built_in) == len(roles):
        return words("No LLM in use")
    if all(getattr(models, role).chats for role in roles):
        return words("all chat models")
    return words("{n} of {all} built in", n=len(built_in), all=len(roles))


def badge_help(models: RoleModels, words: Words, roles: Sequence[str] = _ROLES) -> str:
    """Explain *built in*, and name the built-in roles if only some are."""
    built_in = [words(_ROLE[role]) for role in roles if getattr(models, role).built_in]
    meaning = words(
        "Built-in roles are small deterministic programs of this workbench, not language models. They need no server; "
        "choose others under Models."
    )
    if len(built_in) in (0, len(roles)):
        return meaning
    listed = words(", ").join(built_in[:-1])
    named = words(NC_("list", " and ")).join(item for item in (listed, built_in[-1]) if item)
    return words.joined((words("Built in: {roles}.", roles=named), meaning))
