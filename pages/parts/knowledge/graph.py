"""The view Graph: the knowledge graph of a collection, how it is built, continued and deleted."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.amounts import count_text, utc
from components.common.embedding_facts import model_name
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import Node, chip, node
from components.common.run_link import settings_in_url
from components.knowledge.draw import draw_knowledge
from components.labels import BUILTIN_EXTRACTOR
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.flow import first_that
from engine.library.values import GraphState, JobStatus
from engine.messages import N_, NC_
from engine.model.config import BUILTIN, RunConfig
from engine.roles import CollectionInfo
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.graph_look import look_into
from pages.parts.knowledge.jobs import card, shape
from pages.parts.knowledge.state import FOR_GOOD, NO_COLLECTION, add_files_step, attempt, collection_picker

_WATCH_S = 0.5
_EXTRACTOR = {"builtin": N_("Built-in rules"), "samples": N_("Written by hand")}
_SAMPLES = "samples"
"""Name of what made the graph that comes with the samples."""
NO_GRAPH, _OTHER = "none", "other"
_LONGEST = 200


def panel(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw the choice of a collection and all there is to its graph."""
    info = collection_picker(collections, words, width=420)
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
    view(state, words, key="kg_card")
    if state.job is not None:
        follow_job(engine, state.job, words)
    if state.job is None or state.job.over:
        graph_actions(engine, info, state, words)
    if state.info.entities:
        look_into(engine, info, state.info, words)
    elif state.info.finished:
        st.info(words("Nothing found."))


def build_panel(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """Explain the use of a graph and how to build one, for a collection without one."""
    if not info.passages:
        add_files_step(words("This collection is empty."), words, key="kg_add", info=info)
        return
    with st.container(border=True, key="kg_build"):
        st.markdown(f"##### {words('Knowledge graph')}")
        st.caption(
            words(
                "A graph links the entities that passages name, so that a question can be followed to passages that "
                "share no words with it."
            )
        )
        if not may("editor"):
            return
        extractor = extractor_choice(engine, words, key="kg_extractor")
        if st.button(
            words("Build the graph"), type="primary", icon=":material/hub:", disabled=not extractor, key="kg_build_go"
        ):
            attempt(lambda: engine.graphs.build(info.name, extractor))
            st.rerun()


def extractor_choice(
    engine: Engine,
    words: Words,
    *,
    key: str,
    label: str = N_("Read by"),
    first: Sequence[str] = (),
    usual: str = "",
    rules: bool = True,
) -> str:
    """Choose the reader of passages: rules, a server's chat model, or another by name; empty until chosen.

    ``first`` stand before all others, where :data:`NO_GRAPH` is none; without ``rules`` chat models alone are offered.
    """
    # Asked once a visit: every slider runs the page again.
    models = cached_in_session("graph_models", engine.instance, lambda: list(engine.chat_models()))
    options = list(dict.fromkeys([*(first or [engine.settings.models.extractor.model]), BUILTIN, *models, _OTHER]))
    options = [name for name in options if rules or name != BUILTIN]
    if st.session_state.get(key) not in options:
        st.session_state[key] = usual or options[0]
    others = {NO_GRAPH: words("none"), _OTHER: words("Another model…")}
    chosen = str(
        st.selectbox(
            words(label),
            options,
            format_func=lambda name: others.get(name) or extractor_text(name, words),
            key=key,
            persist_state="session",
            width=420,
        )
    )
    if chosen == _OTHER:
        name = words("Name of the model")
        named = st.text_input(name, key=f"{key}_name", placeholder="openai:gpt-4o-mini", max_chars=_LONGEST, width=420)
        return str(named or "").strip()
    if chosen == BUILTIN:
        st.caption(words(BUILTIN_EXTRACTOR))
    return chosen


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
            and own != _SAMPLES
            and st.button(
                words("Update"),
                icon=":material/update:",
                key="kg_update",
            )
        ):
            attempt(lambda: engine.graphs.build(info.name, own))
            st.rerun()
        with st.popover(words("Rebuild"), icon=":material/restart_alt:", type="tertiary", key="kg_rebuild"):
            st.caption(words("The present graph is replaced."))
            extractor = extractor_choice(engine, words, key="kg_again")
            absent = _is_absent(engine, extractor)
            if absent:
                st.warning(words("model missing").capitalize(), icon=":material/warning:")
            ready = bool(extractor) and not absent
            if st.button(words("Rebuild"), type="primary", disabled=not ready, key="kg_rebuild_yes"):
                attempt(lambda: _start_over(engine, info.name, own, extractor))
                st.rerun()
        if not may("admin"):
            return
        with st.popover(words("Delete"), icon=":material/delete:", type="tertiary", key="kg_delete"):
            st.text(words(FOR_GOOD))
            if st.button(words("Delete"), type="primary", key="kg_delete_yes"):
                attempt(lambda: engine.graphs.delete(info.name), words("Deleted."))
                st.rerun()


def _use(info: CollectionInfo, words: Words) -> None:
    """Explain the use of the graph."""
    if st.button(words(NC_("page", "Ask")), icon=":material/account_tree:", type="primary", key="kg_ask"):
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


def _start_over(engine: Engine, name: str, own: str, extractor: str) -> None:
    """All passages once more: the same extractor alone would read only what has changed."""
    if extractor == own:
        engine.graphs.delete(name)
    engine.graphs.build(name, extractor, replace=True)


def view(state: GraphState, words: Words, *, key: str) -> None:
    """Draw the facts of a graph, and what is wrong with it, as a card."""
    draw_knowledge((graph_card(state, words),), words, key=key)


def graph_card(state: GraphState, words: Words) -> Node:
    info = state.info
    read, all_of = count_text(info.passages), count_text(state.collection_passages)
    facts = [
        (words("Entities"), count_text(info.entities)),
        (words(NC_("graph", "Relationships")), count_text(info.relationships)),
        (words(NC_("graph", "Communities")), count_text(info.communities)),
        (words("Passages"), words("{done} of {total}", done=read, total=all_of)),
        (words("Read by"), extractor_text(info.extractor, words)),
        (words("Created"), utc(info.built_at) if info.built_at else ""),
    ]
    cells = [
        node("div", "fact", node("div", "label", label), node("div", "num", value)) for label, value in facts if value
    ]
    title = node("div", "head", node("strong", "big", words("Knowledge graph")), *_chips(state, words))
    parts = [title, node("div", "facts-grid", *cells)]
    if info.extractor == "builtin":
        parts.append(node("p", "small muted", words(BUILTIN_EXTRACTOR)))
    return node("section", "card collection", *parts, aria_label=words("Knowledge graph"))


def extractor_text(name: str, words: Words) -> str:
    """Name the reader of the passages."""
    if name in ("builtin", _SAMPLES):
        return words(_EXTRACTOR[name])
    return model_name(name, words)


def _chips(state: GraphState, words: Words) -> list[Node]:
    if not state.info.finished:
        going_on = state.job is not None and not state.job.over
        look, sign = ("accent", "●") if going_on else ("warn", "!")
        return [chip(look, f"{sign} {words('unfinished')}")]
    if state.stale:
        return [chip("warn", f"! {words('out of date')}")]
    return [chip("pass", f"✓ {words('up to date')}")]
