"""Settings as a LangGraph project: made when asked for, then saved as a zip."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from components.common.controls import download
from components.common.faults import fault_box
from components.common.i18n import Words
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.values import Fault
from plugins.export.project import FILE_NAME, code_project

_SAID = N_(
    "A graph file, these settings, and the workbench's own modules that they need. It runs without the workbench, on "
    "the same Milvus and the same models, and takes the same decisions."
)


def take_along(engine: Engine, words: Words) -> tuple[str, str, Callable[[RunConfig, str], None]]:
    """Draw a tab's title, its text, and its button."""
    return "LangGraph", words(_SAID), partial(_button, engine, words)


def _button(engine: Engine, words: Words, config: RunConfig, key: str) -> None:
    """A button that makes the project of a config, and one that saves it; or why it cannot be made."""
    key = f"{key}_code"
    made = st.session_state.get(f"{key}_made")
    try:
        pressed = st.button(words("Make the LangGraph project"), key=key, icon=":material/code:", help=words(_SAID))
        if pressed:
            made = st.session_state[f"{key}_made"] = config, code_project(engine, config).zipped()
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key=f"{key}_fault")
        return
    if made is not None and made[0] == config:
        download(words("Save {file}", file=FILE_NAME), made[1], FILE_NAME, key=f"{key}_save")
