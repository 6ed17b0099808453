"""The view Loops of the page Runs: one question at once through several workflows, or in several modes of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import streamlit as st

from components.common.controls import choice
from components.common.i18n import Words
from components.common.phrases import workflow_text
from components.common.url_state import base_path
from components.runs.side_by_side import side_by_side_view
from engine.api.process import get_engine
from engine.engine import Engine
from engine.messages import N_
from engine.model.config import WORKFLOWS, RunConfig, WorkflowName, declared
from engine.replay.side_by_side import side_by_side
from engine.samples import sample_questions
from pages.parts.common.opening import opening
from pages.parts.runs.modes import modes_view
from pages.parts.runs.together import Together, together_view
from pages.parts.system.hint import models_played

View = Literal["workflows", "modes"]
_VIEWS: dict[View, str] = {
    "workflows": N_("Loops"),
    "modes": N_("Modes: graph and vectors"),
}

_SHOWN_SAMPLES = {
    "en": ("dc-en-03", "dm-en-12", "dc-en-01", "dc-en-17"),
    "zh": ("dm-zh-01", "dc-zh-01", "dc-zh-13", "dc-zh-17"),
}


def loops_view(engine: Engine, words: Words) -> None:
    """Draw what is compared, which the address says, and the comparison."""
    compared = choice("versus", words("What is compared"), {name: words(text) for name, text in _VIEWS.items()})
    if not engine.ready:
        opening(engine, words)
    if compared == "modes":
        modes_view(engine, words)
    else:
        _workflows_view(engine, words)


def _workflows_view(engine: Engine, words: Words) -> None:
    st.markdown(f"##### {words('One question, several workflows')}")
    st.caption(
        words(
            "The same question goes through several workflows at once. When is the four-node loop enough, and what "
            "does another one add for its price?"
        )
    )
    begin = words(
        "Ask a question above: every chosen workflow answers it at the same time, and the columns fill as they go on."
    )
    about = words("Each workflow runs with its own defaults and with the models chosen on the page Ask.")
    by_id = {item.id: item for item in sample_questions()}
    samples = [by_id[name] for name in _SHOWN_SAMPLES[words.language] if name in by_id]
    view: Together[WorkflowName] = Together(
        address="sides",
        key="side",
        offered={name: workflow_text(name, words) for name in WORKFLOWS},
        config_of=config_of,
        takes=lambda _: True,
        draw=lambda records, _: side_by_side_view(side_by_side(records), words, key="side_by_side", base=base_path()),
        about=lambda _: st.caption(about),
        first=words("What are the main symptoms of diabetes?"),
        samples=[(item.question, item.kind) for item in samples],
        asked=words("Question for all of them"),
        choice=("side_workflows", words("Workflows")),
        run=(":material/play_arrow:", words("Run all")),
        none_chosen=words("Choose at least one workflow."),
        nothing_yet=(":material/view_column:", begin),
    )
    together_view(engine, words, view)


def config_of(workflow: WorkflowName, collection: str) -> RunConfig:
    """The defaults of the workflow on this collection, with the models of the panel."""
    usual = get_engine().settings.defaults_of_runs.of(workflow)
    return replace(usual, collection=collection, models=models_played(declared(workflow).roles))
