"""What a run took from the graph, in words beside its picture: analysis, entities, relationships, communities."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.graph_view import type_text
from components.common.i18n import Words
from components.common.markup import Node, chip, fold, node
from components.labels.runs import COMPLEXITIES
from components.labels.settings import choices_of
from components.workflows.presenter_graph import searched_mode
from engine.messages import N_
from engine.model.values import FoundCommunity, FoundEntity, GraphEvidence, RunRecord

_LINKED = {
    "name": N_("named in the query"),
    "alias": N_("by another name"),
    "passage": N_("through a passage found"),
}

_MOST = 12


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
