"""The settings of this machine as a table: variable, value with secrets masked, where it came from, what it says."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.amounts import holds
from components.common.faults import with_code
from components.common.i18n import Words
from components.common.markup import Node, chip, command, node, table
from components.system.draw import draw_system
from engine.messages import N_, NC_
from engine.model.host import SettingValue

_SETTINGS = {
    "variable": N_("Variable"),
    "value": NC_("system", "Value"),
    "source": NC_("system", "From"),
    "about": N_("What it says"),
}

_HOW = {
    "env": N_("For one start, in the terminal"),
    "file": N_("For every start, in a file .env in the folder of the start"),
    "toml": N_("Or in workbench.toml, in small letters"),
}

_SOURCES = {
    "default": N_("default"),
    "environment": N_("environment"),
    ".env": N_(".env"),
    "workbench.toml": N_("workbench.toml"),
    "override": N_("command line"),
}


def settings_table(settings: Sequence[SettingValue], words: Words, *, key: str) -> None:
    """Draw the settings given, in their order."""
    rows = [_row(item, words) for item in settings]
    draw_system((table("sheet settings", [words(text) for text in _SETTINGS.values()], rows),), words, key=key)


def how_to_change(words: Words, *, key: str) -> None:
    """Draw the three places in which a setting can be changed, each with a line to copy."""
    lines = (
        ("env", "WORKBENCH_OLLAMA_URL=http://127.0.0.1:11434 python app.py"),
        ("file", "WORKBENCH_OLLAMA_URL=http://127.0.0.1:11434"),
        ("toml", 'ollama_url = "http://127.0.0.1:11434"'),
    )
    draw_system([command(line, words, words(_HOW[name])) for name, line in lines], words, key=key)


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
        chip(look, words(_SOURCES[item.source])),
        node("div", "", *with_code(words(item.description))),
    ]
