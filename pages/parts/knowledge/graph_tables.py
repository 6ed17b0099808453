"""Entities and relationships of a knowledge graph as tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from components.common.graph_view import type_text
from components.common.i18n import Words
from engine.messages import N_, NC_
from engine.roles.graph import Neighbourhood
from pages.parts.knowledge.graph_place import MOST_ENTITIES, GraphPlace

_COLUMN = {
    "name": N_("Name"),
    "type": N_("Type"),
    "about": N_("What is said of it"),
    "relations": NC_("graph", "Relationships"),
    "passages": NC_("knowledge", "Passages"),
    "community": N_("Community"),
    "aliases": N_("Also called"),
    "source": N_("From"),
    "relation": N_("Relationship"),
    "target": N_("To"),
    "weight": N_("Weight"),
}


def graph_tables(place: GraphPlace) -> str | None:
    """Draw both and return the name of an entity whose row was ticked.

    Data frames show every text as text, and sort and save themselves.
    """
    words, graph = place.words, place.graph
    whole = place.whole(MOST_ENTITIES)
    titles = {item.id: item.title for item in place.communities}
    names = {item.id: item.name for item in whole.entities}
    if len(whole.entities) < graph.entities:
        st.caption(words("{n} of {all} entities", n=len(whole.entities), all=f"{graph.entities:,}"))
    columns = ("name", "type", "about", "relations", "passages", "community", "aliases")
    rows = [
        (
            item.name,
            type_text(item.type, words),
            item.description,
            item.degree,
            len(item.passages),
            titles.get(item.community, ""),
            " · ".join(item.aliases),
        )
        for item in whole.entities
    ]
    st.markdown(f"###### {words('Entities')}")
    event = st.dataframe(
        pd.DataFrame(rows, columns=[words(_COLUMN[name]) for name in columns]),
        hide_index=True,
        height=420,
        on_select="rerun",
        selection_mode="single-row",
        key="kg_table",
    )
    chosen: list[int] = event.get("selection", {}).get("rows", [])
    if chosen and chosen[0] < len(whole.entities):
        return str(whole.entities[chosen[0]].name)
    st.caption(words("Tick a row to see what lies around it."))
    st.markdown(f"###### {words('Relationships')}")
    _relation_table(whole, names, words)
    return None


def _relation_table(whole: Neighbourhood, names: Mapping[str, str], words: Words) -> None:
    ends = ("source", "relation", "target", "weight", "passages", "about")
    lines = [
        (
            names.get(item.source, item.source),
            type_text(item.type, words),
            names.get(item.target, item.target),
            item.weight,
            len(item.passages),
            item.description,
        )
        for item in whole.relationships
    ]
    st.dataframe(pd.DataFrame(lines, columns=[words(_COLUMN[name]) for name in ends]), hide_index=True,
                 height=420, key="kg_lines")  # fmt: skip
