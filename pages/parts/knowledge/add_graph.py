"""Beside the files: whether a knowledge graph is read from them once they are in, and by whom."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.knowledge.graph_card import extractor_text
from components.labels.knowledge import BUILTIN_EXTRACTOR
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import BUILTIN
from engine.roles.graph import GraphInfo
from pages.parts.common.remembered import remembered
from pages.parts.knowledge.target import Target

_NONE, _OTHER = "none", "other"
_LONGEST = 200


def graph_choice(engine: Engine, target: Target, words: Words) -> str:
    """``builtin`` or a chat model; empty for none. A graph that is there continues with who has read it so far."""
    has = _graph_of(engine, target)
    options = list(dict.fromkeys([_NONE, *_known(has), BUILTIN, *_models(engine), _OTHER]))
    usual = _known(has)[0] if _known(has) else _NONE
    # A widget of its own for each collection: what suits one is no choice for another.
    key = f"kb_graph_{target.name if has is not None else ''}"
    if st.session_state.get(key) not in options:
        st.session_state[key] = usual
    chosen = str(
        st.selectbox(
            words("Knowledge graph"),
            options,
            format_func=lambda name: _option(name, words),
            help=words(
                "Entities and relationships are read from the passages once these are in, as a second job. It can be "
                "done later too, in the view Graph."
            ),
            key=key,
            persist_state="session",
        )
    )
    if chosen == _OTHER:
        named = st.text_input(
            words("Name of the model"), key="kb_graph_name", placeholder="openai:gpt-4o-mini", max_chars=_LONGEST
        )
        chosen = str(named or "").strip()
    wanted = "" if chosen == _NONE else chosen
    _note(has, wanted, words)
    return wanted


def _note(has: GraphInfo | None, wanted: str, words: Words) -> None:
    """What the choice means for the graph that is there, or how good the rules are."""
    if has is not None and wanted == has.extractor:
        st.caption(words("This collection has a graph: only what is new is read into it."))
    elif has is not None and wanted:
        warning = words("The graph that this collection has, read by another extractor, will be replaced.")
        st.markdown(f":orange[:small[{warning}]]")
    elif has is not None:
        warning = words(
            "This collection has a graph; it will not know the new passages until it is brought up to date."
        )
        st.markdown(f":orange[:small[{warning}]]")
    elif wanted == BUILTIN:
        st.caption(words(BUILTIN_EXTRACTOR))


def _known(has: GraphInfo | None) -> list[str]:
    """Who has read the graph, where another process can take over; what was written by hand no one reads again."""
    return [has.extractor] if has is not None and (has.extractor == BUILTIN or ":" in has.extractor) else []


def _graph_of(engine: Engine, target: Target) -> GraphInfo | None:
    if target.new or not target.name:
        return None
    try:
        state = engine.graphs.describe(target.name)
    except WorkbenchError:
        # A store of graphs that does not answer keeps no one from putting files in; the job says what is wrong.
        return None
    return state.info if state is not None and state.info.passages else None


def _models(engine: Engine) -> list[str]:
    # Asked once a visit: every slider runs the page again.
    return remembered("graph_models", engine.instance, lambda: list(engine.chat_models()))


def _option(name: str, words: Words) -> str:
    if name == _NONE:
        return words("None")
    return words("Another model…") if name == _OTHER else extractor_text(name, words)
