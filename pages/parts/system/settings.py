"""The view Settings of the page System: how this machine is set up, and how to change that."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.amounts import holds
from components.common.controls import narrowing
from components.common.faults import with_code
from components.common.i18n import Words
from components.common.markup import Node, chip, command, node, table
from components.system.draw import draw_system
from engine.engine import Engine
from engine.messages import N_, NC_
from engine.model.system import SettingValue
from pages.parts.common.actions import clear, next_step

_HEAD = (N_("Variable"), NC_("system", "Value"), N_("Source"), N_("Description"))
_SOURCES = {"default": N_("default"), "environment": N_("environment"), "override": N_("command line")}
"""Names of those that are no files."""
_LINES = (
    "WORKBENCH_OLLAMA_URL=http://127.0.0.1:11434 python app.py",
    "echo WORKBENCH_OLLAMA_URL=http://127.0.0.1:11434 >> .env",
    "echo 'ollama_url = \"http://127.0.0.1:11434\"' >> workbench.toml",
)


def panel(engine: Engine, words: Words) -> None:
    """Draw the settings of this machine, at first those that differ from the default."""
    view(engine.host.settings(), words, key="settings")


def view(settings: Sequence[SettingValue], words: Words, *, key: str) -> None:
    """Draw the filters, the settings that pass them and how one is changed."""
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{key}_filters"):
        text = narrowing(words("Settings"), key=f"{key}_q", placeholder="")
        every = st.toggle(words("All"), key=f"{key}_every")
    # A setting is searched among all: who types its name wants to see it.
    shown = settings_found(settings, text, words, changed=not every and not text)
    if shown:
        rows = [_row(item, words) for item in shown]
        draw_system((table("sheet settings", [words(title) for title in _HEAD], rows),), words, key=key)
    elif text:
        label = words("Clear the filter")
        next_step(words("Nothing matches."), label, "filter_alt_off", key=f"{key}_clear", does=clear(f"{key}_q"))
    else:
        st.info(words("Every setting has its default."))
    with st.expander(words("How to set it up"), icon=":material/edit:"):
        st.caption(words("The terminal wins over .env, and .env over workbench.toml. Changes apply at the next start."))
        draw_system([command(line, words) for line in _LINES], words, key=f"{key}_how")


def settings_found(
    settings: Sequence[SettingValue], text: str, words: Words, *, changed: bool = False
) -> list[SettingValue]:
    """Settings that hold a text in name, value or description, in any case; ``changed`` drops the defaults."""
    return [
        item
        for item in settings
        if not (changed and item.source == "default")
        and holds(text, item.variable, item.value, words(item.description))
    ]


def _row(item: SettingValue, words: Words) -> list[Node]:
    value = [node("code", "value", item.value) if item.value else node("span", "muted", words("(empty)"))]
    if item.secret:
        value.append(chip("warn", words("secret")))
    look = "grey" if item.source == "default" else "accent"
    return [
        node("code", "", item.variable),
        node("div", "", *value),
        chip(look, words(_SOURCES[item.source]) if item.source in _SOURCES else item.source),
        node("div", "", *with_code(words(item.description))),
    ]
