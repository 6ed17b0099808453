"""The view Graph: the knowledge graph of a collection, how it is built, continued and deleted."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.run_link import settings_in_url
from components.knowledge.graph_card import SAMPLES, extractor_text, graph_card
from components.labels import BUILTIN_EXTRACTOR
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.flow import first_that
from engine.library.values import GraphState, JobStatus
from engine.messages import NC_
from engine.model.config import BUILTIN, RunConfig
from engine.roles import CollectionInfo
from pages.parts.common.rights import may
from pages.parts.knowledge.graph_look import look_into
from pages.parts.knowledge.jobs import card, shape
from pages.parts.knowledge.state import NO_COLLECTION, add_files_step, attempt, collection_picker, go_to

_WATCH_S = 0.5
_OTHER = "other"
_LONGEST = 200


def graph_of_collection(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw the choice of a collection and all there is to its graph."""
    left, _ = st.columns([1, 2])
    with left:
        info = collection_picker(collections, words)
    if info is None:
        add_files_step(words(NO_COLLECTION), words, key="kg_none_add")
        return
    if info.fault is not None:
        fault_box(info.fault, words, key="kg_unreadable")
        return
    state = engine.graphs.describe(info.name)
    if state is None:
        build_panel(engine, info, words)
        return
    graph_card(state, words, key="kg_card")
    if state.job is not None:
        follow_job(engine, state.job, words)
    if state.job is None or state.job.over:
        graph_actions(engine, info, state, words)
    if state.info.entities:
        look_into(engine, info, state.info, words)
    elif state.info.finished:
        st.info(words("Nothing that could be an entity was found in the passages. Try a chat model as the reader."))


def build_panel(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """Explain the use of a graph and how to build one, for a collection without one."""
    with st.container(border=True, key="kg_build"):
        st.markdown(f"##### {words('This collection has no knowledge graph yet')}")
        st.markdown(
            words(
                "A graph holds the entities that passages speak of and the relationships between them. With it a "
                "question can be followed from one passage to another that shares no words with it, and communities "
                "of entities give an overview. Every entity and relationship leads back to its passages."
            )
        )
        if not info.passages:
            st.info(words("There are no passages to read yet: add documents first."))
            open_to = not info.read_only and may("editor")
            if open_to and st.button(words("Add files"), icon=":material/add:", key="kg_add"):
                go_to("add", info.name)
            return
        if not may("editor"):
            return
        extractor = extractor_choice(engine, words, key="kg_extractor")
        st.caption(words.count("1 passage will be read.", "{n} passages will be read.", info.passages))
        if st.button(
            words("Build the graph"), type="primary", icon=":material/hub:", disabled=not extractor, key="kg_build_go"
        ):
            attempt(lambda: engine.graphs.build(info.name, extractor))
            st.rerun()


def extractor_choice(engine: Engine, words: Words, *, key: str) -> str:
    """Choose the reader of passages: rules, a server's chat model, or another by name; empty until chosen."""
    models = engine.chat_models()
    chosen = st.selectbox(
        words("Who reads the passages"),
        list(dict.fromkeys([engine.settings.models.extractor.model, BUILTIN, *models, _OTHER])),
        format_func=lambda name: words("Another model…") if name == _OTHER else extractor_text(name, words),
        key=key,
        help=words(
            "A chat model reads every passage once: better names, types and relationships, but one call a passage. "
            "The built-in rules need no model."
        ),
        width=420,
    )
    if chosen == _OTHER:
        named = st.text_input(
            words("Name of the model"),
            key=f"{key}_name",
            placeholder="openai:gpt-4o-mini",
            max_chars=_LONGEST,
            width=420,
        )
        return str(named or "").strip()
    if chosen == BUILTIN:
        st.caption(words(BUILTIN_EXTRACTOR))
    return str(chosen or BUILTIN)


def follow_job(engine: Engine, job: JobStatus, words: Words) -> None:
    """The job that builds the graph, redrawn while it is running; the whole page is redrawn when it ends."""
    drawn = shape((job,))

    @st.fragment(run_every=None if job.over else _WATCH_S)
    def watch() -> None:
        try:
            now = engine.ingestions.job(job.id)
        except WorkbenchError:
            # Put away in another tab.
            st.rerun()
        if shape((now,)) != drawn:
            st.rerun()
        card(engine, now, words)

    watch()


def graph_actions(engine: Engine, info: CollectionInfo, state: GraphState, words: Words) -> None:
    """Show the actions on a graph that no job is changing."""
    own = state.info.extractor
    waits = state.job is not None and state.job.resumable
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="kg_actions"):
        if state.info.entities:
            _use(info, words)
        if not may("editor"):
            return
        behind = state.stale or not state.info.finished
        if (
            behind
            and not waits
            and own != SAMPLES
            and st.button(
                words("Bring up to date"),
                icon=":material/update:",
                key="kg_update",
                help=words("Reads what is new or has changed, by the same reader."),
            )
        ):
            attempt(lambda: engine.graphs.build(info.name, own))
            st.rerun()
        with st.popover(words("Rebuild"), icon=":material/restart_alt:", type="tertiary", key="kg_rebuild"):
            st.caption(words("Every passage is read again, and what is there now goes."))
            extractor = extractor_choice(engine, words, key="kg_again")
            absent = _is_absent(engine, extractor)
            if absent:
                st.warning(
                    words(
                        "Ollama does not have this model at hand, so the graph would be gone and nothing read. Start "
                        "Ollama, or pull the model under System → Models."
                    ),
                    icon=":material/warning:",
                )
            ready = bool(extractor) and not absent
            if st.button(words("Replace the graph"), type="primary", disabled=not ready, key="kg_rebuild_yes"):
                attempt(lambda: _anew(engine, info.name, own, extractor))
                st.rerun()
        if not may("admin"):
            return
        with st.popover(words("Delete graph"), icon=":material/delete:", type="tertiary", key="kg_delete"):
            st.text(words("The graph of {name} goes for good. Its passages stay.", name=info.name))
            if st.button(words(NC_("graph", "Delete it")), type="primary", key="kg_delete_yes"):
                attempt(lambda: engine.graphs.delete(info.name), words("Deleted the graph of {name}.", name=info.name))
                st.rerun()


def _use(info: CollectionInfo, words: Words) -> None:
    """Explain the use of the graph."""
    if st.button(words("Ask with the graph"), icon=":material/account_tree:", type="primary", key="kg_ask"):
        chosen = settings_in_url(RunConfig(workflow=first_that(lambda own: own.in_modes)))
        query = {"collection": info.name, "lang": words.language, **chosen}
        st.switch_page("workbench.py", query_params=query)
    if st.button(words("Mode race"), icon=":material/sports_score:", key="kg_race"):
        st.session_state["collection"] = info.name
        st.switch_page("runs.py", query_params={"view": "loops", "versus": "modes", "lang": words.language})


def _is_absent(engine: Engine, extractor: str) -> bool:
    """Return whether a model cannot read anything now: the graph that is there would be gone, and none in its place."""
    family, _, name = extractor.partition(":")
    if family != "ollama":
        return False
    known = {item.name for item in engine.ollama().models}
    return name not in known and f"{name}:latest" not in known


def _anew(engine: Engine, name: str, own: str, extractor: str) -> None:
    """All passages once more: the same extractor alone would read only what has changed."""
    if extractor == own:
        engine.graphs.delete(name)
    engine.graphs.build(name, extractor, replace=True)
