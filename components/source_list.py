"""Sources of a collection as a table, and the passages of one of them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, cast

import pandas as pd
import streamlit as st

from components.i18n import Words
from components.markup import Node, chip, draw, node
from engine.roles import CollectionInfo, SourceInfo, StoredPassage

_A_PAGE = 20
"""Passages shown at once."""


def source_table(sources: Sequence[SourceInfo], words: Words, *, key: str) -> str | None:
    """Draw the sources and return the one that the reader chose, if any."""
    wanted = st.text_input(
        words("kb.search"), key=f"{key}_filter", placeholder=words("kb.search"), label_visibility="collapsed", live=True
    )
    shown = [item for item in sources if not wanted or wanted.casefold() in f"{item.source} {item.title}".casefold()]
    frame = pd.DataFrame(
        {
            "source": [item.source for item in shown],
            "title": [item.title for item in shown],
            "kind": [words(f"kind.{item.kind}") for item in shown],
            "passages": [item.passages for item in shown],
            "added": [item.added_at.replace("T", " ")[:16] for item in shown],
        }
    )
    event = st.dataframe(
        frame,
        hide_index=True,
        key=table_key(key, shown),
        on_select="rerun",
        selection_mode="single-row",
        height=min(420, 38 + 35 * max(1, len(shown))),
        column_config={
            "source": st.column_config.TextColumn(words("kb.source"), width="medium"),
            "title": st.column_config.TextColumn(words("kb.source.title"), width="large"),
            "kind": st.column_config.TextColumn(
                words("kb.source.kind"), width="small", help=words("kb.source.kind.help")
            ),
            "passages": st.column_config.NumberColumn(words("kb.source.passages"), width="small"),
            "added": st.column_config.TextColumn(words("kb.source.added"), width="small"),
        },
    )
    rows = cast(Any, event).selection.rows
    return shown[rows[0]].source if rows and rows[0] < len(shown) else None


def table_key(key: str, shown: Sequence[SourceInfo]) -> str:
    """A key of its own for every set of rows: they are chosen by place, and another source may stand there now."""
    return f"{key}_{zlib.crc32(chr(10).join(item.source for item in shown).encode())}"


def collection_facts(info: CollectionInfo, words: Words) -> None:
    """Size, embedding model and prefixes of a collection; another program may have recorded them, so as plain text."""
    facts = words("kb.facts", sources=info.sources, passages=info.passages, dim=info.dim, model=info.embedding_model)
    prefixes = words("kb.prefixes", query=info.query_prefix, passage=info.passage_prefix)
    has_prefixes = bool(info.query_prefix or info.passage_prefix)
    lines = [node("div", "muted small", text) for text in (facts, prefixes if has_prefixes else "") if text]
    draw(lines, words, key="kb_facts")


def source_heading(source: SourceInfo, words: Words) -> None:
    """Title and name of the source that is open."""
    named = (node("span", "muted small", source.source),) if source.title and source.title != source.source else ()
    kind = chip("plain", words(f"kind.{source.kind}"))
    draw(
        (node("div", "head", node("strong", "", source.title or source.source), kind, *named),), words, key="kb_opened"
    )


def passage_list(passages: Sequence[StoredPassage], words: Words, *, key: str) -> None:
    """The passages of one source, in order, a page at a time, as plain text: they are somebody else's words."""
    pages = max(1, -(-len(passages) // _A_PAGE))
    page = st.pagination(pages, key=key) if pages > 1 else 1
    shown = passages[(page - 1) * _A_PAGE : page * _A_PAGE]
    draw([_passage(item, words) for item in shown], words, key="kb_passages")


def _passage(item: StoredPassage, words: Words) -> Node:
    section = (node("strong", "heading", item.section),) if item.section else ()
    number = node("span", "muted small", words("kb.passage", n=item.ordinal))
    return node("section", "card", node("div", "head", number, *section), node("p", "own-text", item.text))
