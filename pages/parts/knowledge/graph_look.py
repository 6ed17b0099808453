"""Looking into a knowledge graph: communities as an overview, entities and what is around them, tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import streamlit as st

from components.common.controls import choice, listed, typed
from components.common.faults import fault_box
from components.common.graph_picture import GraphPicture, community_picture, entity_picture
from components.common.graph_view import ShownPassage, graph_view, type_text, wanted_passages
from components.common.i18n import Words
from components.common.phrases import place_text
from engine.engine import Engine
from engine.errors import UnknownEntity, WorkbenchError
from engine.messages import N_, NC_
from engine.model.values import Community, Fault, PassageId
from engine.roles import CollectionInfo
from engine.roles.graph import GraphInfo, Neighbourhood
from pages.parts.common.session_cache import cached_in_session

Look = Literal["overview", "entities", "table"]
_LOOKS: dict[Look, str] = {
    "overview": NC_("graph", "Communities"),
    "entities": N_("Entities"),
    "table": N_("Tables"),
}
_LOOK, _ENTITY, _HOPS, _MOST, _COMMUNITY = "look", "entity", "kg_hops", "kg_most", "community"
_GO = "kg_go"
_LONGEST = 200
_SIZES = (30, 60, 150, 300, 500)
_USUAL_SIZE = 60
_SUGGESTED = 6
_COMMUNITIES = 60
_COLUMN = {
    "name": N_("Name"),
    "type": N_("Type"),
    "about": N_("Description"),
    "relations": NC_("graph", "Relationships"),
    "passages": NC_("knowledge", "Passages"),
    "community": N_("Community"),
    "aliases": N_("Aliases"),
    "source": N_("From"),
    "relation": NC_("graph", "Relationships"),
    "target": N_("To"),
    "weight": N_("Weight"),
}
MOST_ENTITIES = 2000
"""That are read for tables and overviews."""


def look_into(engine: Engine, info: CollectionInfo, graph: GraphInfo, words: Words) -> None:
    """The choice of a view, which the address holds, and the view."""
    place = GraphPlace(engine, info, graph, words)
    for name, value in st.session_state.pop(_GO, {}).items():
        st.session_state[name] = value
    usual: Look = "overview" if graph.communities > 1 else "entities"
    shown = {name: words(text) for name, text in _LOOKS.items()}
    match choice(_LOOK, words("View"), shown, usual=usual):
        case "overview":
            _overview(place)
        case "entities":
            _entities(place)
        case _:
            ticked = graph_tables(place)
            if ticked is not None:
                st.session_state[_GO] = {_LOOK: "entities", _ENTITY: ticked}
                st.rerun()


def _overview(place: GraphPlace) -> None:
    communities, words = place.communities, place.words
    if not communities:
        st.info(words("Nothing found."))
        return
    whole = place.whole(MOST_ENTITIES)
    # The largest come first; rules leave many of two or three entities, which would only hide these.
    picture = community_picture(communities[:_COMMUNITIES], whole.entities, whole.relationships)
    if len(communities) > _COMMUNITIES:
        st.caption(f"{words(NC_('graph', 'Communities'))} {_COMMUNITIES}/{len(communities):,}")

    def around(community: str) -> None:
        st.session_state[_GO] = {_LOOK: "entities", _COMMUNITY: community, _ENTITY: ""}

    _draw(place, picture, key=f"kg_overview_{place.info.name}", around=around)


def _entities(place: GraphPlace) -> None:
    words, communities = place.words, place.communities
    shown = _chosen(place, communities)
    if shown is None:
        return
    picture = entity_picture(shown.entities, shown.relationships, communities, shown.hops)
    entities = f"{words('Entities')} {len(shown.entities)}/{place.graph.entities:,}"
    st.caption(f"{entities} · {words.count('1 relationship', '{n} relationships', len(picture.lines))}")

    def around(entity: str) -> None:
        name = next((item.name for item in shown.entities if item.id == entity), entity)
        st.session_state[_GO] = {_ENTITY: name, _COMMUNITY: ""}

    _draw(place, picture, key=f"kg_entities_{place.info.name}", around=around)


def _chosen(place: GraphPlace, communities: Sequence[Community]) -> Neighbourhood | None:
    """Return the neighbourhood of the entity in the address, its community, or the most important entities."""
    words = place.words
    titles = {item.id: item.title for item in communities}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="kg_choice"):
        placeholder = words("All")
        entity = typed(_ENTITY, words("Around an entity"), _LONGEST, placeholder=placeholder, width=300)
        community = ""
        if titles and not entity:
            shown = {"": words("All"), **titles}
            community = listed(_COMMUNITY, words("Community"), shown, persist_state="session", width=300)
        hops = _typed_hops(words) if entity else 1
        most = _typed_most(place.graph, words)
    if entity:
        return _around(place, entity, hops, most)
    if community:
        members = next(item.entities for item in communities if item.id == community)[:most]
        found = cached_in_session(
            "kg_community",
            (place.engine.instance, place.graph, community, most),
            lambda: place.engine.graphs.neighbourhood(place.info.name, members, 0, most),
        )
    else:
        found = place.whole(most)
    # No one asked for these by name.
    return Neighbourhood({}, found.entities, found.relationships)


def _around(place: GraphPlace, entity: str, hops: int, most: int) -> Neighbourhood | None:
    name, words = place.info.name, place.words
    try:
        return place.engine.graphs.neighbourhood(name, [entity], hops, most)
    except UnknownEntity:
        found = place.engine.graphs.entities(name, _SUGGESTED, entity)
    if not found:
        st.info(words("Nothing found."))
        return None
    st.caption(words("Did you mean:"))
    with st.container(horizontal=True, key="kg_suggested"):
        for item in found:
            # The name of a button is Markdown: anything that could be read as such is set apart.
            if st.button(_plain(item.name), key=f"kg_suggest_{item.id}", type="secondary"):
                st.session_state[_GO] = {_ENTITY: item.name}
                st.rerun()
    return None


def _plain(name: str) -> str:
    return "".join(f"\\{one}" if one in "\\`*_{}[]()#+-.!|~:$<>" else one for one in name)


def _typed_hops(words: Words) -> int:
    chosen = st.segmented_control(
        words("Reach"), (1, 2, 3), default=None if _HOPS in st.session_state else 1, required=True, key=_HOPS,
        format_func=lambda n: words.count("1 step", "{n} steps", n), persist_state="session", width="content",
    )  # fmt: skip
    return int(chosen or 1)


def _typed_most(graph: GraphInfo, words: Words) -> int:
    sizes = [size for size in _SIZES if size < graph.entities]
    sizes.append(next((size for size in _SIZES if size >= graph.entities), _SIZES[-1]))
    if len(sizes) < 2:
        return sizes[0]
    if st.session_state.get(_MOST) not in sizes:
        st.session_state[_MOST] = _USUAL_SIZE if _USUAL_SIZE in sizes else sizes[-1]
    chosen = st.selectbox(words("Entities"), sizes, key=_MOST, width=170)
    return int(chosen or _USUAL_SIZE)


def _draw(place: GraphPlace, picture: GraphPicture, *, key: str, around: Callable[[str], None]) -> None:
    """The picture in a fragment of its own: a choice brings passages and leaves the rest of the page alone."""

    @st.fragment
    def picture_and_passages() -> None:
        texts = _texts(place, wanted_passages(picture, key))
        event = graph_view(picture, place.words, key=key, passages=texts, around=True)
        if event.act == "around":
            around(event.target)
            st.rerun()

    picture_and_passages()


def _texts(place: GraphPlace, wanted: tuple[PassageId, ...]) -> dict[PassageId, ShownPassage]:
    engine, info = place.engine, place.info
    if not wanted:
        return {}
    try:
        found = cached_in_session(
            "kg_passages",
            (engine.instance, info.fingerprint, info.name, wanted),
            lambda: engine.graphs.passages(info.name, wanted),
        )
    except WorkbenchError as error:
        fault_box(Fault.of(error), place.words, key="kg_passages_fault")
        return {}
    return {item.id: ShownPassage(place_text(item.source, item.section, place.words), item.text) for item in found}


def graph_tables(place: GraphPlace) -> str | None:
    """Draw both and return the name of an entity whose row was ticked.

    Data frames show every text as text, and sort and save themselves.
    """
    words, graph = place.words, place.graph
    whole = place.whole(MOST_ENTITIES)
    titles = {item.id: item.title for item in place.communities}
    names = {item.id: item.name for item in whole.entities}
    if len(whole.entities) < graph.entities:
        st.caption(f"{words('Entities')} {len(whole.entities)}/{graph.entities:,}")
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


@dataclass(frozen=True, slots=True)
class GraphPlace:
    """Whose graph is looked into."""

    engine: Engine
    info: CollectionInfo
    graph: GraphInfo
    words: Words

    @property
    def communities(self) -> tuple[Community, ...]:
        return cached_in_session(
            "kg_communities",
            (self.engine.instance, self.graph),
            lambda: self.engine.graphs.communities(self.info.name),
        )

    def whole(self, most: int) -> Neighbourhood:
        """The most important entities, and what is between them."""
        asked = (self.engine.instance, self.graph, most)
        return cached_in_session(f"kg_whole_{most}", asked, lambda: self.engine.graphs.overview(self.info.name, most))
