"""What a run took from the graph, as a part of the report."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.graph_view import type_text
from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.phrases import probability_text
from components.common.report_context import titled_table
from components.labels.settings import choices_of
from components.workflows.graph_notes import notes_box
from engine.messages import N_, NC_
from engine.model.values import FoundCommunity, FoundEntity, GraphEvidence, Relationship, RunRecord

_COMPLEXITIES = {
    "simple": NC_("report", "a simple query"),
    "single": N_("a query about one thing"),
    "multi_hop": N_("a query of several steps"),
    "overview": N_("a query about a whole"),
}

_LOOK_NAMES = {
    "centre": N_("the one asked for"),
    "asked": N_("named in the question"),
    "linked": N_("reached through a passage"),
    "near": N_("reached along relationships"),
}

_TITLES = {
    "type": N_("Type"),
    "how": N_("How it was come to"),
    "score": N_("Score"),
}

_LOOKS = {"name": "asked", "alias": "asked", "passage": "linked", "neighbour": "near"}


def graph_nodes(record: RunRecord, words: Words) -> list[Node]:
    """The analysis of the query, and what every round took from the graph."""
    return [*_analysis(record, words), *_rounds(record, words)]


def _analysis(record: RunRecord, words: Words) -> list[Node]:
    found = record.analysis
    if found is None:
        return []
    mode = words(choices_of("mode")[found.suggested_mode])
    said = words("Analysis: {what} · suggested mode: {mode}", what=words(_COMPLEXITIES[found.complexity]), mode=mode)
    names = [node("p", "", node("bdi", "", " · ".join(found.entities)))] if found.entities else []
    return [node("p", "", said), *names]


def _rounds(record: RunRecord, words: Words) -> list[Node]:
    drawn: list[Node] = []
    for current in record.rounds:
        if current.graph is not None:
            mode = words(choices_of("mode")[current.graph.mode])
            drawn.append(node("h3", "", words("Round {n} · mode {mode}", n=current.index, mode=mode)))
            drawn += _evidence(current.graph, words)
    return drawn


def _evidence(found: GraphEvidence, words: Words) -> list[Node]:
    box = notes_box(found.notes, found.fell_back_to, words)
    names = {item.entity.id: item.entity.name for item in found.entities}
    parts = [
        *([box] if box else []),
        *(_entities(found.entities, words) if found.entities else ()),
        *(_relationships(found.relationships, names, words) if found.relationships else ()),
        *(_communities(found.communities, words) if found.communities else ()),
    ]
    return parts or [node("p", "muted", words("Nothing was taken from the graph."))]


def _entities(found: Sequence[FoundEntity], words: Words) -> list[Node]:
    rows = [
        (
            item.entity.name,
            type_text(item.entity.type, words),
            words(_LOOK_NAMES[_LOOKS[item.linked_by]]) + (f" · {_hops(item, words)}" if item.hops else ""),
            probability_text(item.score),
        )
        for item in found
    ]
    titles = [words("Entities"), *(words(_TITLES[name]) for name in ("type", "how", "score"))]
    return [titled_table(titles, rows)]


def _hops(item: FoundEntity, words: Words) -> str:
    return words.count("1 step away", "{n} steps away", item.hops)


def _relationships(found: Sequence[Relationship], names: dict[str, str], words: Words) -> list[Node]:
    lines = [
        node(
            "li",
            "",
            node("bdi", "", names.get(item.source, item.source)),
            f" — {type_text(item.type, words)} → ",
            node("bdi", "", names.get(item.target, item.target)),
        )
        for item in found
    ]
    return [node("h4", "", words("Relationships")), node("ul", "", *lines)]


def _communities(found: Sequence[FoundCommunity], words: Words) -> list[Node]:
    lines = [
        node(
            "li",
            "",
            node("bdi", "", item.community.title),
            node("span", "muted num", f" · {words('Similarity')} {probability_text(item.similarity)}"),
            node("p", "muted", node("bdi", "", item.community.summary)),
        )
        for item in found
    ]
    return [node("h4", "", words("Communities")), node("ul", "", *lines)]
