"""What graph + vector retrieval left behind, as parts of the report: analysis, graph, context, attachments, markers."""

from __future__ import annotations

from collections.abc import Sequence

from components.ask.attachments import attached_nodes
from components.common.graph_view import type_text
from components.common.html_text import html_of
from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.phrases import probability_text
from components.labels.settings import choices_of
from components.runs.report_still import still
from components.workflows.graph_notes import notes_box
from engine.messages import N_, NC_
from engine.model.values import ContextPart, FoundCommunity, FoundEntity, GraphEvidence, Relationship, RunRecord

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


def graph_sections(record: RunRecord, words: Words) -> list[str]:
    """One section for each thing that there is; none for other workflows."""
    parts = (
        (words("Attached to the question"), [still(item) for item in _attached(record, words)]),
        (words("Analysis and graph"), [*_analysis(record, words), *_rounds(record, words)]),
        (words("Context"), _context(record, words)),
        (words("Markers taken out"), _markers(record, words)),
    )
    return [
        f'<section class="wb loop">{html_of(node("h2", "", title))}{"".join(html_of(item) for item in drawn)}</section>'
        for title, drawn in parts
        if drawn
    ]


def _attached(record: RunRecord, words: Words) -> list[Node]:
    return attached_nodes(record.attachments, record.cell_citations, words) if record.attachments else []


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
        *([still(box)] if box else []),
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
    return [_table(titles, rows)]


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


def _context(record: RunRecord, words: Words) -> list[Node]:
    context = record.context
    if context is None or not context.parts:
        return []
    spent = words(NC_("report", "{n} of {most} tokens"), n=context.tokens, most=context.token_budget)
    titles = [words("Part"), words("Tokens"), ""]
    rows = [(_part(item, words), str(item.tokens), _fate(item, record, words)) for item in context.parts]
    return [node("p", "num", spent), _table(titles, rows)]


def _part(item: ContextPart, words: Words) -> str:
    if item.kind == "passage":
        return item.id
    return words("Table T{n}", n=item.id) if item.kind == "table" else words("Graph")


def _fate(item: ContextPart, record: RunRecord, words: Words) -> str:
    if not item.given:
        return words("left out, the budget was spent")
    refined = record.context.refined if record.context else {}
    sentences = next((cut for name, cut in refined.items() if item.kind == "passage" and name == item.id), ())
    if not sentences:
        return words("given")
    kept = sum(sentence.kept for sentence in sentences)
    return words("cut to {kept} of {n} sentences", kept=kept, n=len(sentences))


def _markers(record: RunRecord, words: Words) -> list[Node]:
    if record.workflow != "graph_hybrid":
        return []
    lines = [node("li", "", words("[{marker}] points nowhere", marker=item)) for item in record.removed_markers]
    for item in record.unsupported:
        said = words(
            "[{marker}] does not bear this out (support {support})",
            marker=item.marker,
            support=probability_text(item.support),
        )
        lines.append(node("li", "", said, node("p", "muted", node("bdi", "", item.sentence))))
    return [node("ul", "", *lines)] if lines else []


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Node:
    head = node("tr", "", *(node("th", "", title, scope="col") for title in titles))
    body = (node("tr", "", *(node("td", "", node("bdi", "", cell)) for cell in row)) for row in rows)
    return node("div", "scroll", node("table", "", node("thead", "", head), node("tbody", "", *body)))
