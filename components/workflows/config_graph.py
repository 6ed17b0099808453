"""The settings of graph + vector retrieval as controls of the panel: the mode, and what each stage goes by."""

from __future__ import annotations

from typing import cast, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.common.i18n import Words
from components.common.widgets import number, one_of, slider, switch
from components.labels.settings import MODE_SUMMARIES
from engine.model.config import GRAPH_PARAMETERS, Mode, default_mode
from engine.workflows.graph_hybrid.options import GraphOptions, ModeFrom, Reranking

_DEFAULTS = GraphOptions()


def mode_picker(words: Words) -> Mode:
    """The mode, with one line on what it does."""
    chosen = one_of(words, "mode", get_args(Mode), usual=default_mode("graph_hybrid"))
    st.caption(words(MODE_SUMMARIES[chosen]))
    return cast(Mode, chosen)


def graph_options(words: Words, below: dict[str, DeltaGenerator]) -> GraphOptions:
    """Whether attached tables alone are asked, and the rest in three boxes, closed at first: graph, order, context."""
    tables_only = switch(words, "tables_only", default=_DEFAULTS.tables_only)
    with st.expander(words("Graph"), key="graph_settings"):
        mode_from = one_of(words, "mode_from", get_args(ModeFrom))
        if mode_from == "analysis":
            st.caption(words("The analysis of each query picks the mode."))
        hops = _whole(words, "hops", below)
        max_entities = _whole(words, "max_entities", below)
        max_communities = _whole(words, "max_communities", below)
        graph_weight = _own(words, "graph_weight", below)
        graph_threshold = _own(words, "graph_threshold", below)
        directly = switch(words, "answer_directly", default=_DEFAULTS.answer_directly)
    with st.expander(words("Order"), key="order_settings"):
        rerank = one_of(words, "rerank", get_args(Reranking))
        rerank_k = _whole(words, "rerank_k", below)
        rerank_threshold = _own(words, "rerank_threshold", below)
        duplicate_threshold = _own(words, "duplicate_threshold", below)
        freshness_weight = _own(words, "freshness_weight", below)
    with st.expander(words("Context"), key="context_settings"):
        tokens = GRAPH_PARAMETERS["context_tokens"]
        context_tokens = int(number(words, "context_tokens", tokens, tokens.default))
        refine = switch(words, "refine", default=_DEFAULTS.refine)
        sentence_threshold = _own(words, "sentence_threshold", below)
    return GraphOptions(
        hops=hops,
        max_entities=max_entities,
        max_communities=max_communities,
        graph_weight=graph_weight,
        graph_threshold=graph_threshold,
        rerank=cast(Reranking, rerank),
        rerank_k=rerank_k,
        rerank_threshold=rerank_threshold,
        duplicate_threshold=duplicate_threshold,
        freshness_weight=freshness_weight,
        refine=refine,
        sentence_threshold=sentence_threshold,
        context_tokens=context_tokens,
        answer_directly=directly,
        tables_only=tables_only,
        mode_from=cast(ModeFrom, mode_from),
    )


def _own(words: Words, name: str, below: dict[str, DeltaGenerator]) -> float:
    limits = GRAPH_PARAMETERS[name]
    return slider(words, name, limits, limits.default, below)


def _whole(words: Words, name: str, below: dict[str, DeltaGenerator]) -> int:
    return int(_own(words, name, below))
