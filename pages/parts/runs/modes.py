"""The mode race in the view Loops: one question in every mode of graph + vector retrieval, by a link as well."""

from __future__ import annotations

import streamlit as st

from components.ask.what_if_text import collection_mark
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.sample_questions import sample_buttons
from components.common.url_state import base_path, put_into_url, take_from_url
from components.runs.mode_race import mode_race_view, mode_text
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import Mode, RunConfig, declared, first_that
from engine.model.values import Fault, RunRecord
from engine.running.mode_race import MODES, mode_race
from engine.samples import multi_hop_questions
from pages.parts.common.remembered import remembered
from pages.parts.knowledge.state import aim_at
from pages.parts.runs.searched import searched_collection
from pages.parts.runs.started_together import start_all
from pages.parts.system.hint import models_played

_WATCH_S = 0.6
_LONGEST = 40 * len(MODES)
_NEXT = "race_next"
_FAULTS = "race_faults"
_RUNS = "race"
_SHOWN_SAMPLES = 3
_PROPOSED = {"en": "What did Best and Macleod do for Banting?", "zh": "麦克劳德和班廷有什么关系？"}


def modes_view(engine: Engine, words: Words) -> None:
    """The question, the modes, and a column for each."""
    st.markdown(f"##### {words('One question, six modes of graph + vectors')}")
    st.caption(
        words(
            "The same question goes through all six modes of graph + vector retrieval at once. What does the graph "
            "find that vectors alone do not, and what does it cost?"
        )
    )
    records = _opened(engine, words)
    asked_at, searched = st.columns([3, 1], gap="medium")
    with searched:
        collection = searched_collection(engine, words, records, _RUNS)
    with asked_at:
        _ask(engine, records, collection, words)
    faults: list[Fault] = st.session_state.pop(_FAULTS, [])
    for place, fault in enumerate(faults):
        fault_box(fault, words, key=f"race_fault_{place}")
    if records:
        _columns(engine, [record.id for record in records], words, active=any(record.active for record in records))
    elif not faults:
        st.info(
            words(
                "Ask a question above: every chosen mode answers it at the same time. Questions that join two "
                "passages show best what a graph is good for."
            ),
            icon=":material/sports_score:",
        )


def _opened(engine: Engine, words: Words) -> list[RunRecord]:
    """The runs that the address names."""
    wanted = st.session_state.pop(_NEXT, None)
    if wanted is not None:
        st.session_state[_RUNS] = ",".join(wanted)
    ids = take_from_url(_RUNS, "", lambda given: len(given) <= _LONGEST)
    put_into_url(_RUNS, ids, "")
    found: list[RunRecord] = []
    for run_id in list(dict.fromkeys(item for item in ids.split(",") if item))[: len(MODES)]:
        try:
            record = engine.record(run_id)
        except WorkbenchError:
            st.warning(words("A run of this link no longer exists."), icon=":material/search_off:")
            continue
        if declared(record.workflow).in_modes:
            found.append(record)
    return found


def _ask(engine: Engine, records: list[RunRecord], collection: str, words: Words) -> None:
    active = any(record.active for record in records)
    samples = _samples(words)
    with st.form("race_form", border=False):
        question = st.text_input(
            words("Question for all modes"),
            records[0].question if records else next((text for text, _ in samples), ""),
            key=f"race_question_{records[0].id[:8] if records else words.language}",
            placeholder=words("Ask something of the collection…"),
            max_chars=engine.settings.max_question_chars,
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="race_line"):
            chosen = st.pills(
                words("Modes"),
                MODES,
                selection_mode="multi",
                default=list(MODES),
                format_func=lambda mode: mode_text(mode, words),
                key="race_modes",
            )
            pressed = st.form_submit_button(
                words("Run the race"), type="primary", icon=":material/sports_score:", disabled=active
            )
    if active and st.button(words("Stop all"), icon=":material/stop:", shortcut="Esc", key="race_stop"):
        for record in records:
            engine.cancel(record.id)
        st.rerun()
    _about_graph(engine, collection, words)
    picked = sample_buttons(samples, words, disabled=active)
    asked = picked or ((question or "").strip() if pressed else "")
    if pressed and not chosen:
        st.warning(words("Choose at least one mode."), icon=":material/checklist:")
    elif asked or pressed:
        _begin(engine, asked, [mode for mode in MODES if mode in (chosen or MODES)], collection)


def _samples(words: Words) -> list[tuple[str, str]]:
    """Questions that need two passages joined by an entity: they are what a graph is for."""
    own = [item for item in multi_hop_questions() if item.language == words.language]
    # The recorded demo's question first: the first thing tried should show an answer that the graph helped to.
    chain = _PROPOSED[words.language]
    return [(chain, "multi_hop"), *((item.question, item.kind) for item in own[: _SHOWN_SAMPLES - 1])]


def _about_graph(engine: Engine, collection: str, words: Words) -> None:
    """What is searched, and that there is no graph where there is none."""
    try:
        state = engine.graphs.describe(collection) if engine.ready else None
    except WorkbenchError:
        # Each run says for itself what it could not reach.
        return
    if state is not None or not engine.ready:
        st.caption(
            words(
                "Each mode runs with the defaults of graph + vectors, on {collection}, with the models chosen on the "
                "page Ask. Every run is kept as a record.",
                collection=collection_mark(collection, words),
            )
        )
        return
    lacking = words(
        "{collection} has no knowledge graph: the modes that need one will say what they fell back on.",
        collection=collection_mark(collection, words),
    )
    with st.container(horizontal=True, vertical_alignment="center", key="race_no_graph"):
        st.caption(
            f":material/warning: {lacking}",
            width="content",
        )
        if st.button(words("Build its graph"), type="tertiary", icon=":material/hub:", key="race_build"):
            aim_at("graph", collection)
            st.switch_page("knowledge.py")


def _begin(engine: Engine, question: str, modes: list[Mode], collection: str) -> None:
    """Start all of them at the same time; one that cannot be started does not keep back the others."""
    ids, faults = start_all(engine, question, [config_of(mode, collection) for mode in modes])
    st.session_state[_FAULTS] = faults
    if ids:
        st.session_state[_NEXT] = ids
    st.rerun()


def config_of(mode: Mode, collection: str) -> RunConfig:
    """The workflow's own defaults in one mode, with the models of the workbench."""
    workflow = first_that(lambda own: own.in_modes)
    models = models_played(declared(workflow).roles)
    return RunConfig(workflow=workflow, mode=mode, collection=collection, models=models)


def _columns(engine: Engine, ids: list[str], words: Words, *, active: bool) -> None:
    """The runs in columns, redrawn while one of them is running."""

    @st.fragment(run_every=_WATCH_S if active else None)
    def watch() -> None:
        try:
            records = [engine.record(run_id) for run_id in ids]
        except WorkbenchError:
            st.rerun()
        if active and not any(record.active for record in records):
            st.rerun()
        race = mode_race(records) if active else remembered("race", (engine.instance, ids), lambda: mode_race(records))
        mode_race_view(race, words, key="mode_race", base=base_path())

    watch()
