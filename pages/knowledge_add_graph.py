"""Beside the files: whether a knowledge graph is read from them once they are in, and by whom."""

from __future__ import annotations

import streamlit as st

from components.graph_card import extractor_text
from components.i18n import Words
from engine.config import BUILTIN
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.roles.graph import GraphInfo
from pages.knowledge_target import Target
from pages.remembered import remembered

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
            words("kb.add.graph"),
            options,
            format_func=lambda name: _option(name, words),
            help=words("kb.add.graph.help"),
            key=key,
            persist_state="session",
        )
    )
    if chosen == _OTHER:
        named = st.text_input(
            words("graph.extractor.name"), key="kb_graph_name", placeholder="openai:gpt-4o-mini", max_chars=_LONGEST
        )
        chosen = str(named or "").strip()
    wanted = "" if chosen == _NONE else chosen
    _note(has, wanted, words)
    return wanted


def _note(has: GraphInfo | None, wanted: str, words: Words) -> None:
    """What the choice means for the graph that is there, or how good the rules are."""
    if has is not None and wanted == has.extractor:
        st.caption(words("kb.add.graph.has"))
    elif has is not None and wanted:
        st.markdown(f":orange[:small[{words('kb.add.graph.replaces')}]]")
    elif has is not None:
        st.markdown(f":orange[:small[{words('kb.add.graph.stale')}]]")
    elif wanted == BUILTIN:
        st.caption(words("graph.builtin.honest"))


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
    def ask() -> list[str]:
        return [f"ollama:{item.name}" for item in engine.ollama().models if item.chats]

    # Asked once a visit: every slider runs the page again.
    return remembered("graph_models", engine.instance, ask)


def _option(name: str, words: Words) -> str:
    if name == _NONE:
        return words("kb.add.graph.none")
    return words("graph.extractor.other") if name == _OTHER else extractor_text(name, words)
