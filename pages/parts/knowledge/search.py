"""The view Search: what a query finds in a collection, by meaning, by words or by both; nothing is judged."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from components.common.controls import choice, download, typed
from components.common.embedding_facts import model_name
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.phrases import duration_text
from components.common.terms import query_terms
from components.knowledge.found_passages import found_csv, found_passages
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.library.values import FoundPassage
from engine.messages import N_, NC_
from engine.model.config import SearchMethod
from engine.roles import CollectionInfo
from pages.parts.common.actions import next_step, retry_box
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.state import NO_COLLECTION, add_files_step, collection_picker

_METHODS: dict[SearchMethod, str] = {
    "vector": N_("Meaning"),
    "full_text": N_("Words"),
    "fused": N_("Both"),
}

_FIRST = 20
_MORE = 30
_MOST = 100
_LONGEST = 2000


def search_view(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw the query, how it is searched, and what it finds."""
    with st.container(border=True, key="kb_search_box"):
        left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
        with right:
            info = collection_picker(collections, words)
        if info is None:
            add_files_step(words(NO_COLLECTION), words, key="kb_search_none")
            return
        with left:
            query = _query(words)
        method = _method(info, words)
    if info.fault is not None:
        fault_box(info.fault, words, key="kb_search_unreadable")
    elif not info.passages:
        nothing = words("This collection has no passages to search.")
        add_files_step(nothing, words, key="kb_search_add", info=info)
    elif not query:
        st.info(
            words(
                "Type what a question would ask, and see which passages come up: no model judges them and no answer "
                "is written."
            )
        )
    else:
        _results(engine, info, query, method, words)


def _nothing_found(method: SearchMethod, words: Words) -> None:
    if method != "full_text":
        st.info(words("Nothing found. Try other words."))
        return
    said = words("No passage has these words. A search by meaning finds passages that say it in other words.")
    next_step(said, words("Search by meaning"), "search", key="kb_by_meaning", does=_by_meaning)


def _by_meaning() -> None:
    st.session_state["kb_method"] = "vector"


def _query(words: Words) -> str:
    placeholder = words("A question or a few words")
    return typed("kb_query", words("Search the passages"), _LONGEST, placeholder=placeholder)


def _method(info: CollectionInfo, words: Words) -> SearchMethod:
    """By meaning, by words or by both, where the collection has a field of words."""
    if not info.full_text:
        if info.passages:
            st.caption(
                words(
                    "This collection has no full text, so it can be searched by meaning alone."
                    if info.read_only
                    else (
                        "This collection has no full text, so it can be searched by meaning alone. Collections → Add "
                        "full text."
                    )
                )
            )
        return "vector"
    return choice(
        "kb_method",
        words("Search by"),
        {name: words(text) for name, text in _METHODS.items()},
        label_visibility="visible",
        help=words(
            "By meaning compares vectors; by words ranks by BM25; both joins the two rankings by reciprocal rank."
        ),
    )


def _results(engine: Engine, info: CollectionInfo, query: str, method: SearchMethod, words: Words) -> None:
    asked = (info.name, info.fingerprint, query, method)
    limit = int(st.session_state.get("kb_limit", _FIRST)) if st.session_state.get("kb_asked") == asked else _FIRST
    st.session_state["kb_asked"] = asked

    def find() -> tuple[list[FoundPassage], float]:
        began = time.monotonic()
        with st.spinner(words(NC_("knowledge", "Search")), show_time=False):
            found = engine.library.search(info.name, query, limit, method)
        return found, (time.monotonic() - began) * 1000.0

    try:
        found, took_ms = cached_in_session("kb_found", (*asked, limit), find)
    except WorkbenchError as error:
        retry_box(error, words, key="kb_search_fault")
        return
    if not found:
        _nothing_found(method, words)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="kb_found_bar"):
        told = words.count(
            "1 passage · {time}", "{n} passages, best first · {time}", len(found), time=duration_text(took_ms)
        )
        st.caption(
            told,
            width="content",
            help=words(
                "Similarity is calibrated for {model}: 0 is what unrelated text has, 1 the text itself.",
                model=model_name(info.embedding_model, words),
            ),
        )
        download(
            words("Export CSV"),
            lambda: found_csv(found, words),
            f"search-{info.name}.csv",
            key="kb_found_csv",
            type="tertiary",
        )
        if st.button(
            words(NC_("knowledge", "Ask it")), icon=":material/account_tree:", type="tertiary", key="kb_found_ask"
        ):
            st.switch_page("workbench.py", query_params={"collection": info.name})
    found_passages(found, query_terms(query), method, words, key="kb_found")
    if len(found) >= limit and limit < _MOST and st.button(words("Show more"), key="kb_more"):
        st.session_state["kb_limit"] = min(_MOST, limit + _MORE)
        st.rerun()
