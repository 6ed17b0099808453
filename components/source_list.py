"""Sources of a collection as a table, and the passages of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pandas as pd
import streamlit as st

from components.i18n import Words
from engine.roles import SourceInfo, StoredPassage


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
            "passages": [item.passages for item in shown],
            "added": [item.added_at.replace("T", " ")[:16] for item in shown],
        }
    )
    event = st.dataframe(
        frame,
        hide_index=True,
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        height=min(420, 38 + 35 * max(1, len(shown))),
        column_config={
            "source": st.column_config.TextColumn(words("kb.source"), width="medium"),
            "title": st.column_config.TextColumn(words("kb.source.title"), width="large"),
            "passages": st.column_config.NumberColumn(words("kb.source.passages"), width="small"),
            "added": st.column_config.TextColumn(words("kb.source.added"), width="small"),
        },
    )
    rows = cast(Any, event).selection.rows
    return shown[rows[0]].source if rows and rows[0] < len(shown) else None


def passage_list(passages: Sequence[StoredPassage], words: Words) -> None:
    """The passages of one source, in order, as plain text: they are somebody else's words."""
    for item in passages:
        with st.container(border=True):
            st.caption(words("kb.passage", n=item.ordinal))
            if item.section:
                st.text(item.section)
            st.text(item.text)
