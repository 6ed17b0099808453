"""The view Search: what a query finds in a collection, by meaning, by words or by both; nothing is judged."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from components.common.controls import choice, download, table_csv, typed
from components.common.embedding_facts import model_name
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import Node, chip, continued, filled, fold, node
from components.common.phrases import duration_text, probability_text, section_text
from components.common.terms import query_terms, segments
from components.knowledge.draw import draw_knowledge
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.library.values import FoundPassage
from engine.messages import N_, NC_
from engine.model.config import SearchMethod
from engine.roles import CollectionInfo
from pages.parts.common.actions import next_step, retry_box
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.state import NO_COLLECTION, add_files_step, collection_picker

_METHODS: dict[SearchMethod, str] = {"vector": N_("Meaning"), "full_text": N_("Words"), "fused": N_("Both")}
_FIRST = 20
_MORE = 30
_MOST = 100
_LONGEST = 2000
_SNIPPET = 420
_CSV = (
    N_("Rank"),
    N_("Source"),
    N_("Section"),
    N_("Passage"),
    N_("Similarity"),
    "cos",
    N_("Meaning"),
    N_("Words"),
    "BM25",
    N_("Text"),
)


def panel(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
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
        nothing = words("This collection is empty.")
        add_files_step(nothing, words, key="kb_search_add", info=info)
    elif not query:
        st.info(words("See which passages a question would find. Nothing is judged and nothing is answered."))
    else:
        _results(engine, info, query, method, words)


def _nothing_found(method: SearchMethod, words: Words) -> None:
    searched = words("Search by meaning")
    offered = method == "full_text"
    next_step(words("Nothing found."), searched, "search", key="kb_by_meaning", offered=offered, does=_by_meaning)


def _by_meaning() -> None:
    st.session_state["kb_method"] = "vector"


def _query(words: Words) -> str:
    return typed("kb_query", words(NC_("knowledge", "Search")), _LONGEST)


def _method(info: CollectionInfo, words: Words) -> SearchMethod:
    """By meaning, by words or by both, where the collection has a field of words."""
    if not info.full_text:
        if info.passages:
            how = (
                "" if info.read_only else " → ".join(words(name) for name in ("Collections", "Manage", "Add full text"))
            )
            st.caption(words("Searched by meaning only.") + (f" {how}" if how else ""))
        return "vector"
    return choice(
        "kb_method",
        words("Search by"),
        {name: words(text) for name, text in _METHODS.items()},
        label_visibility="visible",
        help=words("Meaning compares vectors, words rank by BM25, both joins the two rankings."),
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
        st.caption(
            f"{words.count('1 passage', '{n} passages', len(found))} · {duration_text(took_ms)}",
            width="content",
            help=words(
                "Similarity for {model}: 0 is unrelated text, 1 the text itself.",
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
        if st.button(words(NC_("page", "Ask")), icon=":material/account_tree:", type="tertiary", key="kb_found_ask"):
            st.switch_page("workbench.py", query_params={"collection": info.name})
    view(found, query_terms(query), method, words, key="kb_found", writer=info.context_model)
    if len(found) >= limit and limit < _MOST and st.button(words("Show more"), key="kb_more"):
        st.session_state["kb_limit"] = min(_MOST, limit + _MORE)
        st.rerun()


def view(
    found: Sequence[FoundPassage],
    terms: Sequence[str],
    method: SearchMethod,
    words: Words,
    *,
    key: str,
    writer: str = "",
) -> None:
    """Draw one card a passage, best first; ``terms`` are marked. Text is untrusted and drawn as text.

    ``writer`` is the model that wrote sentences of context.
    """
    cards = [_card(rank, item, terms, method, words, writer=writer) for rank, item in enumerate(found, 1)]
    draw_knowledge([node("div", "founds", *cards)], words, key=key)


def found_csv(found: Sequence[FoundPassage], words: Words) -> bytes:
    """One row a passage, UTF-8 with a byte order mark."""
    return table_csv(
        [words.known(text) for text in _CSV],
        (_cells(rank, item, words) for rank, item in enumerate(found, 1)),
    )


def _cells(rank: int, item: FoundPassage, words: Words) -> list[str]:
    passage = item.passage
    return [
        str(rank),
        passage.source,
        section_text(passage.section, words),
        str(passage.ordinal),
        f"{item.similarity:.4f}",
        f"{item.cosine:.4f}",
        "" if item.vector_rank is None else str(item.vector_rank),
        "" if item.text_rank is None else str(item.text_rank),
        "" if item.text_score is None else f"{item.text_score:.4f}",
        passage.text,
    ]


def _card(
    rank: int, item: FoundPassage, terms: Sequence[str], method: SearchMethod, words: Words, *, writer: str
) -> Node:
    passage = item.passage
    section = (node("span", "muted", section_text(passage.section, words)),) if passage.section else ()
    where = node("div", "head", node("strong", "", passage.source), *section)
    # Rows of a table and items of a list each keep their line.
    text = "\n".join(" ".join(line.split()) for line in passage.text.splitlines() if line.strip())
    cut = len(text) > _SNIPPET
    begun = node("p", "beginning", *_marked(text[:_SNIPPET] + "…" if cut else text, terms))
    # The whole text, with its own line breaks, where the beginning is not all of it.
    whole = (
        (fold(passage.id, words("Whole passage"), node("p", "own-text", *_marked(passage.text, terms))),) if cut else ()
    )
    rail = node("span", "rail", node("span", "seg", data_fill=filled(item.similarity)), aria_hidden="true")
    cosine = node("span", "muted small", f"cos {probability_text(item.cosine)}")
    value = node("div", "said num", node("strong", "", probability_text(item.similarity)), cosine)
    measures = node("div", "scored", value, rail, node("div", "marks", *_ranks(item, method, words)))
    what = node("div", "what", where, *continued(passage, words, writer), begun, *whole)
    return node("section", "card found", node("span", "ordinal num", str(rank)), what, measures)


def _ranks(item: FoundPassage, method: SearchMethod, words: Words) -> list[Node]:
    """Show the rank in each list; for a plain vector search, the position of the card says it."""
    if method == "vector":
        return []
    chips = []
    if method == "fused":
        chips.append(_rank(words("Meaning"), item.vector_rank))
    chips.append(_rank(words("Words"), item.text_rank))
    if item.text_score is not None:
        chips.append(chip("grey", f"BM25 {item.text_score:.2f}"))
    return chips


def _rank(method: str, rank: int | None) -> Node:
    return chip("plain", f"{method} #{rank}") if rank is not None else chip("grey", f"{method} –")


def _marked(text: str, terms: Sequence[str]) -> list[Node | str]:
    return [node("mark", "", part) if marked else part for part, marked in segments(text, terms)]
