"""The view Loops of the page Runs: one question at once through several workflows, or in several modes of one."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from components.common.controls import choice
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.phrases import workflow_text
from components.common.sample_questions import sample_buttons
from components.common.url_state import base_path, put_into_url, take_from_url
from components.runs.side_by_side import side_by_side_view
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.messages import N_
from engine.model.config import WORKFLOWS, RunConfig, WorkflowName, declared
from engine.model.values import Fault, RunRecord
from engine.replay.side_by_side import side_by_side
from engine.samples import sample_questions
from pages.parts.common.opening import opening
from pages.parts.runs.modes import modes_view
from pages.parts.runs.searched import searched_collection
from pages.parts.runs.started_together import start_all
from pages.parts.system.hint import models_played

View = Literal["workflows", "modes"]
_VIEWS: dict[View, str] = {
    "workflows": N_("Loops"),
    "modes": N_("Modes: graph and vectors"),
}

_WATCH_S = 0.6
_LONGEST = 64 * len(WORKFLOWS)
_NEXT = "side_next"
_FAULTS = "side_faults"
_SHOWN_SAMPLES = {
    "en": ("dc-en-03", "dm-en-12", "dc-en-01", "dc-en-17"),
    "zh": ("dm-zh-01", "dc-zh-01", "dc-zh-13", "dc-zh-17"),
}


def loops_view(engine: Engine, words: Words) -> None:
    view = what_is_compared(words)
    if not engine.ready:
        opening(engine, words)
    if view == "modes":
        modes_view(engine, words)
        return
    st.markdown(f"##### {words('One question, several workflows')}")
    st.caption(
        words(
            "The same question goes through several workflows at once. When is the four-node loop enough, and what "
            "does another one add for its price?"
        )
    )
    records = opened(engine, words)
    asked_at, searched = st.columns([3, 1], gap="medium")
    with searched:
        collection = searched_collection(engine, words, records, "sides")
    with asked_at:
        ask(engine, words, records, collection)
    faults: list[Fault] = st.session_state.pop(_FAULTS, [])
    for place, fault in enumerate(faults):
        fault_box(fault, words, key=f"side_fault_{place}")
    if records:
        columns(engine, words, [record.id for record in records], active=any(record.active for record in records))
    elif not faults:
        st.info(
            words(
                "Ask a question above: every chosen workflow answers it at the same time, and the columns fill as "
                "they go on."
            ),
            icon=":material/view_column:",
        )


def what_is_compared(words: Words) -> View:
    """What is held against each other, which the address says."""
    return choice("versus", words("What is compared"), {name: words(text) for name, text in _VIEWS.items()})


def opened(engine: Engine, words: Words) -> list[RunRecord]:
    """The runs that the address names; a link opens the comparison, running or finished."""
    wanted = st.session_state.pop(_NEXT, None)
    if wanted is not None:
        st.session_state["sides"] = ",".join(wanted)
    ids = take_from_url("sides", "", lambda given: len(given) <= _LONGEST)
    put_into_url("sides", ids, "")
    found = []
    for run_id in list(dict.fromkeys(item for item in ids.split(",") if item))[: len(WORKFLOWS)]:
        try:
            found.append(engine.record(run_id))
        except WorkbenchError:
            st.warning(words("A run of this link no longer exists."), icon=":material/search_off:")
    return found


def ask(engine: Engine, words: Words, records: list[RunRecord], collection: str) -> None:
    """The question, the workflows, and what starts or stops them."""
    active = any(record.active for record in records)
    with st.form("side_form", border=False):
        question = st.text_input(
            words("Question for all of them"),
            records[0].question if records else words("What are the main symptoms of diabetes?"),
            key=f"side_question_{records[0].id[:8] if records else words.language}",
            placeholder=words("Ask something of the collection…"),
            max_chars=engine.settings.max_question_chars,
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="side_line"):
            chosen = st.pills(
                words("Workflows"),
                tuple(WORKFLOWS),
                selection_mode="multi",
                default=list(WORKFLOWS),
                format_func=lambda name: workflow_text(name, words),
                key="side_workflows",
            )
            pressed = st.form_submit_button(
                words("Run all"), type="primary", icon=":material/play_arrow:", disabled=active
            )
    if active and st.button(words("Stop all"), icon=":material/stop:", shortcut="Esc", key="side_stop"):
        for record in records:
            engine.cancel(record.id)
        st.rerun()
    st.caption(words("Each workflow runs with its own defaults and with the models chosen on the page Ask."))
    by_id = {item.id: item for item in sample_questions()}
    offered = [by_id[name] for name in _SHOWN_SAMPLES[words.language] if name in by_id]
    picked = sample_buttons([(item.question, item.kind) for item in offered], words, disabled=active)
    asked = picked or ((question or "").strip() if pressed else "")
    if pressed and not chosen:
        st.warning(words("Choose at least one workflow."), icon=":material/checklist:")
    elif asked or pressed:
        begin(engine, asked, [config_of(name, collection) for name in WORKFLOWS if name in (chosen or ())])


def begin(engine: Engine, question: str, configs: list[RunConfig]) -> None:
    """Start all of them at the same time; one that cannot be started does not keep back the others."""
    ids, faults = start_all(engine, question, configs)
    st.session_state[_FAULTS] = faults
    if ids:
        st.session_state[_NEXT] = ids
    st.rerun()


def config_of(workflow: WorkflowName, collection: str) -> RunConfig:
    """The workflow's own defaults on this collection, with the models of the panel."""
    return RunConfig(workflow=workflow, collection=collection, models=models_played(declared(workflow).roles))


def columns(engine: Engine, words: Words, ids: list[str], *, active: bool) -> None:
    """The runs in columns, redrawn while one of them is running."""

    @st.fragment(run_every=_WATCH_S if active else None)
    def watch() -> None:
        try:
            records = [engine.record(run_id) for run_id in ids]
        except WorkbenchError:
            st.rerun()
        if active and not any(record.active for record in records):
            st.rerun()
        side_by_side_view(side_by_side(records), words, key="side_by_side", base=base_path())

    watch()
