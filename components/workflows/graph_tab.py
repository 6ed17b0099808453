"""What a run took from the graph, as a picture and in words: analysis, entities, relationships, communities."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.graph_picture import evidence_picture
from components.common.graph_view import ShownPassage, graph_view, type_text, wanted_passages
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, fold, node
from components.common.own import ReadPassages
from components.common.phrases import place_text
from components.labels.runs import COMPLEXITIES
from components.labels.settings import choices_of
from components.workflows.mode_notes import searched_mode
from engine.errors import WorkbenchError
from engine.messages import N_
from engine.model.values import FoundCommunity, FoundEntity, GraphEvidence, Passage, PassageId, Round, RunRecord
from engine.roles import StoredPassage

_LINKED = {
    "name": N_("named in the query"),
    "alias": N_("by another name"),
    "passage": N_("through a passage found"),
}

_MOST = 12


def graph_tab(record: RunRecord, words: Words, *, key: str, read: ReadPassages) -> PassageId | None:
    """Draw it with a picture of the graph; returns a passage of the run to open in the table."""
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
        shown = _passages(record, wanted_passages(picture, view), words, read)
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
    record: RunRecord, wanted: tuple[PassageId, ...], words: Words, read: ReadPassages
) -> dict[PassageId, ShownPassage]:
    """Texts of passages: those of the run as it saw them, the others from the collection."""
    seen: dict[PassageId, Passage] = {
        item.passage.id: item.passage for current in record.rounds for item in current.candidates
    }
    shown = {name: _shown(seen[name], words) for name in wanted if name in seen}
    missing = [name for name in wanted if name not in seen]
    if missing:
        try:
            for item in read(missing):
                shown[item.id] = _shown(item, words)
        except WorkbenchError:
            # The collection may be gone since: the view says that their text cannot be shown.
            pass
    return shown


def _shown(passage: Passage | StoredPassage, words: Words) -> ShownPassage:
    return ShownPassage(place_text(passage.source, passage.section, words), passage.text)


def analysis_nodes(record: RunRecord, words: Words) -> list[Node]:
    """What the analysis said of the query, and the mode that was searched."""
    analysis = record.analysis
    if analysis is None:
        return []
    kind = words(COMPLEXITIES[analysis.complexity])
    mode = searched_mode(record)
    chips = [chip("accent", words("Mode {mode}", mode=words(choices_of("mode")[mode]))), chip("plain", kind)]
    if analysis.suggested_mode != mode:
        suggested = words(choices_of("mode")[analysis.suggested_mode])
        chips.append(chip("grey", words("suggests mode {mode}", mode=suggested)))
    names = words(", ").join(analysis.entities)
    said = words("The query names {names}", names=names) if names else words("The query names no entity of the graph")
    by = words("built-in") if analysis.by == "builtin" else analysis.by
    head = node("div", "head", node("strong", "heading", words("Analysis")), *chips)
    told = node("p", "", said, node("span", "muted small", f" · {words('by {by}', by=by)}"))
    model = [node("p", "muted small", analysis.reason)] if analysis.by != "builtin" and analysis.reason else []
    searched = record.rounds or record.active or record.error
    skipped = (
        []
        if searched
        else [node("p", "note", "! ", words("Nothing was searched, so grading and citations are skipped."))]
    )
    return [node("section", "card", head, told, *model, *skipped)]


def taken_nodes(evidence: GraphEvidence, words: Words) -> list[Node]:
    """Entities, relationships and communities of one round, folded: the same as the picture, as text."""
    names = {item.entity.id: item.entity.name for item in evidence.entities}
    folds = []
    if evidence.communities:
        label = _counted(N_("Communities"), len(evidence.communities), words)
        folds.append(fold("communities", label, *(_community(item) for item in evidence.communities)))
    if evidence.entities:
        label = _counted(N_("Entities"), len(evidence.entities), words)
        folds.append(fold("entities", label, _list([_entity(item, words) for item in evidence.entities[:_MOST]])))
    if evidence.relationships:
        label = _counted(N_("Relationships"), len(evidence.relationships), words)
        told = [
            f"{names.get(item.source, item.source)} → {type_text(item.type, words)} → "
            f"{names.get(item.target, item.target)}"
            for item in evidence.relationships[:_MOST]
        ]
        folds.append(fold("relationships", label, _list([node("li", "", text) for text in told])))
    return folds


def _counted(label: str, count: int, words: Words) -> str:
    return f"{words(label)} · {count}"


def _list(items: Sequence[Node]) -> Node:
    return node("ul", "", *items)


def _entity(found: FoundEntity, words: Words) -> Node:
    if found.linked_by == "neighbour":
        linked = words.count("1 hop away", "{n} hops away", found.hops)
    else:
        linked = words(_LINKED[found.linked_by])
    about = f" · {type_text(found.entity.type, words)} · {linked} · {found.score:.2f}"
    return node("li", "", node("strong", "", found.entity.name), node("span", "muted small num", about))


def _community(found: FoundCommunity) -> Node:
    head = node("p", "", node("strong", "", found.community.title))
    score = node("span", "muted small num", f" {found.similarity:.2f}")
    return node("div", "", node("p", "", *head.kids, score), node("p", "plain-text small", found.community.summary))
