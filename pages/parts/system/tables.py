"""The views Settings and Diagnosis of the page System, and a text with one button that copies it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.amounts import holds
from components.common.controls import download, narrowing
from components.common.faults import fault_box, with_code
from components.common.i18n import Words
from components.common.markup import Node, chip, command, node, script, table
from components.system.draw import draw_system
from engine.engine import Engine
from engine.messages import N_, NC_
from engine.model.system import SettingValue
from pages.parts.common.actions import clear, next_step
from pages.parts.system.state import again_button
from pages.parts.system.work import looked, until

_OLD_S = 30.0
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
_component = st.components.v2.component(
    "workbench_copy_text",
    html='<div class="wb"></div>',
    css=script("tokens.css", "copy_text.css"),
    js=script("dom.js", "copy_text.js"),
)


def settings_part(engine: Engine, words: Words) -> None:
    st.caption(
        words(
            "How this machine is set up. Environment variables come first, then .env, then workbench.toml; a change "
            "counts from the next start."
        )
    )
    with st.container(horizontal=True, vertical_alignment="bottom", key="settings_filters"):
        text = narrowing(words("Find a setting"), key="settings_q", placeholder="")
        changed = st.toggle(words("Only what differs from the default"), key="settings_changed")
    shown = settings_found(engine.host.settings(), text, words, changed=changed)
    if shown:
        settings_table(shown, words, key="settings")
    else:
        cleared = clear("settings_q", "settings_changed")
        label = words("Clear the filters")
        next_step(words("No setting matches."), label, "filter_alt_off", key="settings_clear", does=cleared)
    with st.expander(words("How to change one"), icon=":material/edit:"):
        how_to_change(words, key="settings_how")


def diagnosis_part(engine: Engine, words: Words, bar: DeltaGenerator) -> None:
    st.caption(
        words(
            "Everything somebody needs who is to help you: versions, parts, models, settings and the newest faults. "
            "No secret, no question and no text of your sources is in it. Read it before you send it."
        )
    )
    found = looked("diagnosis", engine.host.diagnosis, fresh=again_button(words, bar), most_s=_OLD_S)
    if found.fault is not None:
        fault_box(found.fault, words, key="diagnosis_fault")
    if found.value is None:
        st.caption(f":material/hourglass_top: {words('Gathering it …')}")
    else:
        text = found.value
        copy_text(text, words, key="diagnosis")
        download(words("Download it"), text.encode(), "diagnosis.md", key="diagnosis_download", type="tertiary")
    until(found)


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


def copy_text(text: str, words: Words, *, key: str) -> None:
    """Draw the button and, below it, the text as it is: never as markup."""
    said = {
        "copy": words("Copy the diagnosis"),
        "copied": words("Copied"),
        "select": words("This browser does not allow copying. The text is selected: press Ctrl+C."),
        "preview": words("The text that is copied"),
    }
    _component(key=key, data={"lang": words.declared.html, "text": text, "words": said})
