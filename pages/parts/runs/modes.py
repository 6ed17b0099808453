"""The mode race in the view Loops: one question in every mode of graph + vector retrieval, by a link as well."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from components.ask.what_if_text import collection_mark
from components.common.i18n import Words
from components.common.url_state import base_path
from components.runs.mode_race import mode_race_view, mode_text
from engine.api.process import get_engine
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import Mode, RunConfig, declared, first_that
from engine.model.values import RunRecord
from engine.running.mode_race import MODES, mode_race
from engine.samples import multi_hop_questions
from pages.parts.common.remembered import remembered
from pages.parts.common.rights import may
from pages.parts.knowledge.state import aim_at
from pages.parts.runs.together import Together, together_view
from pages.parts.system.hint import models_played

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

    def draw(records: list[RunRecord], active: bool) -> None:
        asked = (engine.instance, [record.id for record in records])
        race = mode_race(records) if active else remembered("race", asked, lambda: mode_race(records))
        mode_race_view(race, words, key="mode_race", base=base_path())

    begin = words(
        "Ask a question above: every chosen mode answers it at the same time. Questions that join two passages show "
        "best what a graph is good for."
    )
    samples = _samples(words)
    view: Together[Mode] = Together(
        address="race",
        key="race",
        offered={mode: mode_text(mode, words) for mode in MODES},
        config_of=config_of,
        takes=lambda record: declared(record.workflow).in_modes,
        draw=draw,
        about=lambda collection: _about_graph(engine, collection, words),
        first=samples[0][0],
        samples=samples,
        asked=words("Question for all modes"),
        choice=("race_modes", words("Modes")),
        run=(":material/sports_score:", words("Run the race")),
        none_chosen=words("Choose at least one mode."),
        nothing_yet=(":material/sports_score:", begin),
    )
    together_view(engine, words, view)


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
    named = collection_mark(collection, words)
    if state is not None or not engine.ready:
        st.caption(
            words(
                "Each mode runs with the defaults of graph + vectors, on {collection}, with the models chosen on the "
                "page Ask. Every run is kept as a record.",
                collection=named,
            )
        )
        return
    lacking = words(
        "{collection} has no knowledge graph: the modes that need one will say what they fell back on.",
        collection=named,
    )
    with st.container(horizontal=True, vertical_alignment="center", key="race_no_graph"):
        st.caption(f":material/warning: {lacking}", width="content")
        if may("editor") and st.button(
            words("Build its graph"), type="tertiary", icon=":material/hub:", key="race_build"
        ):
            aim_at("graph", collection)
            st.switch_page("knowledge.py")


def config_of(mode: Mode, collection: str) -> RunConfig:
    """The defaults of the workflow in one mode, with the models of the workbench."""
    workflow = first_that(lambda own: own.in_modes)
    models = models_played(declared(workflow).roles)
    usual = get_engine().settings.defaults_of_runs.of(workflow)
    return replace(usual, mode=mode, collection=collection, models=models)
