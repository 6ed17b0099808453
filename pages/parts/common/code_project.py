"""Settings as a LangGraph project: made when asked for, then saved as a zip."""

from __future__ import annotations

import streamlit as st

from components.common.controls import download
from components.common.faults import fault_box
from components.common.i18n import Words
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.values import Fault

FILE_NAME = "self-corrective-rag.zip"


SAID = N_(
    "A graph file, these settings, and the workbench's own modules that they need. It runs without the workbench, on "
    "the same Milvus and the same models, and takes the same decisions."
)


def code_project(engine: Engine, config: RunConfig, words: Words, *, key: str) -> None:
    """A button that makes the project of a config, and one that saves it; or why it cannot be made."""
    made = st.session_state.get(f"{key}_made")
    try:
        pressed = st.button(words("Make the LangGraph project"), key=key, icon=":material/code:", help=words(SAID))
        if pressed:
            made = st.session_state[f"{key}_made"] = config, engine.library.code_project(config).zipped()
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key=f"{key}_fault")
        return
    if made is not None and made[0] == config:
        download(words("Save {file}", file=FILE_NAME), made[1], FILE_NAME, key=f"{key}_save")
