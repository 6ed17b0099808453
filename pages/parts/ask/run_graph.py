"""The tab Graph of a run: what the analysis found, and what the search took from the knowledge graph."""

from __future__ import annotations

import streamlit as st

from components.common.graph_picture import evidence_picture
from components.common.graph_view import ShownPassage, graph_view, wanted_passages
from components.common.i18n import Words
from components.common.markup import draw
from components.common.phrases import place_text
from components.workflows.graph_tab import analysis_nodes, taken_nodes
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.values import GraphEvidence, Passage, PassageId, Round, RunRecord
from engine.roles import StoredPassage


def graph_tab(engine: Engine, record: RunRecord, words: Words, *, key: str) -> PassageId | None:
    """Draw it; returns a passage of the run to open in the table."""
    draw(analysis_nodes(record, words), words, key=f"{key}_analysis")
    searched = [item for item in record.rounds if item.graph is not None and _anything(item.graph)]
    if not searched:
        st.caption(
            words(
                "Nothing yet: this fills up while the loop runs."
                if record.active
                else "This run took nothing from a graph."
            )
        )
        return None
    current = _round(searched, words, key)
    evidence = current.graph
    assert evidence is not None
    opened = None
    if evidence.entities:
        picture = evidence_picture(evidence)
        view = f"{key}_view_{current.index}"
        shown = _passages(engine, record, wanted_passages(picture, view), words)
        event = graph_view(
            picture, words, key=view, passages=shown, open_passage=words("Open in the table of passages")
        )
        if event.act == "passage":
            opened = PassageId(event.target)
    draw(taken_nodes(evidence, words), words, key=f"{key}_taken")
    return opened


def _anything(evidence: GraphEvidence) -> bool:
    return bool(evidence.entities or evidence.communities)


def _round(searched: list[Round], words: Words, key: str) -> Round:
    """The round that is shown: the newest, or the one that the reader chose."""
    if len(searched) == 1:
        return searched[0]
    by_index = {item.index: item for item in searched}
    chosen = st.segmented_control(
        words("Round"),
        list(by_index),
        default=searched[-1].index,
        required=True,
        format_func=lambda index: words("Round {n}", n=index),
        key=f"{key}_round",
        label_visibility="collapsed",
    )
    return by_index.get(chosen if chosen is not None else -1, searched[-1])


def _passages(
    engine: Engine, record: RunRecord, wanted: tuple[PassageId, ...], words: Words
) -> dict[PassageId, ShownPassage]:
    """Texts of passages: those of the run as it saw them, the others from the collection."""
    seen: dict[PassageId, Passage] = {
        item.passage.id: item.passage for current in record.rounds for item in current.candidates
    }
    shown = {name: _shown(seen[name], words) for name in wanted if name in seen}
    missing = [name for name in wanted if name not in seen]
    if missing:
        try:
            for item in engine.graphs.passages(record.config.collection, missing):
                shown[item.id] = _shown(item, words)
        except WorkbenchError:
            # The collection may be gone since: the view says that their text cannot be shown.
            pass
    return shown


def _shown(passage: Passage | StoredPassage, words: Words) -> ShownPassage:
    return ShownPassage(place_text(passage.source, passage.section, words), passage.text)
