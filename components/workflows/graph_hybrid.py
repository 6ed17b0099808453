"""Parts drawn only for graph + vector retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from components.common.graph_picture import evidence_picture
from components.common.graph_view import ShownPassage, graph_view, type_text, wanted_passages
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, fold, node
from components.common.outcomes import round_text
from components.common.phrases import begun, place_text
from components.common.workflow_view import Fact, ReadPassages, WorkflowView
from components.labels import COMPLEXITIES, choices_of
from components.picture.facts import cost_of, given_text, kept_text, time_of
from components.picture.words import Lines, lines
from components.sentences.rounds import round_names
from components.workflows.mode_notes import notes_box, searched_mode
from engine.errors import WorkbenchError
from engine.messages import N_
from engine.model.values import (
    FoundCommunity,
    FoundEntity,
    GraphEvidence,
    Passage,
    PassageId,
    Round,
    RunRecord,
)
from engine.replay.playback import ReplayStep
from engine.roles import StoredPassage

_NAMED = 3
_LINKED = {
    "name": N_("named in the query"),
    "alias": N_("by another name"),
    "passage": N_("through a passage found"),
}

_MOST = 12


def _analyze_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """List the findings of the query analysis."""
    analysis, spent = record.analysis, cost_of(name, record, words)
    if not analysis:
        return lines(spent)
    found = len(analysis.entities)
    entities = words.count("1 entity", "{n} entities", found) if found else words("Names no entity of the graph")
    return lines([entities], spent)


def _route_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """Return whether it is searched, and in which mode."""
    spent = time_of(name, record, words)
    decision = next((item for item in record.decisions if item.node == name), None)
    if decision is None:
        return lines([spent])
    if decision.reason != "needs_search":
        return lines([words("without a search")], [spent])
    return lines([_mode_text(record, words)], [spent])


def _mode_text(record: RunRecord, words: Words) -> str:
    return words("Mode {mode}", mode=words(choices_of("mode")[searched_mode(record)]))


def _retrieve_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """List the results of the newest search, and whether a mode fell back."""
    spent = time_of(name, record, words)
    round_ = next((item for item in reversed(record.rounds) if item.searched), None)
    if round_ is None:
        return lines([spent])
    candidates = round_.candidates
    graphs = sum(item.graph_score is not None for item in candidates)
    graph = round_.graph
    fell = words("! vectors instead") if graph and graph.fell_back_to else ""
    led = fell or (words("{n} from the graph", n=graphs) if graphs else "")
    return lines([led, kept_text(candidates, words), words("{n} probed", n=len(candidates))], [spent])


def _answer_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """List the context of the answer."""
    spent = cost_of(name, record, words)
    if record.outcome == "abstained" and record.rounds:
        return lines([words("nothing passed, says so")], spent)
    context = record.context
    if not context:
        return lines(spent)
    if not record.rounds:
        return lines([words("without a search")], spent)
    cited = len(record.citations) + len(record.cell_citations)
    used = words("{n} of {most} tokens", n=context.tokens, most=context.token_budget)
    return lines([given_text(record, words), words("{n} cited", n=cited) if cited else ""], [used, *spent])


FACTS: Mapping[str, Fact] = MappingProxyType(
    {
        "analyze_query": _analyze_facts,
        "route_query": _route_facts,
        "retrieve": _retrieve_facts,
        "generate_answer": _answer_facts,
    }
)


class GraphHybrid(WorkflowView):
    """The analysis of the query, and what a search took from the graph."""

    facts = FACTS

    def sentence(self, step: ReplayStep, record: RunRecord, words: Words) -> str | None:
        match step.kind:
            case "analysed":
                return _analysed(record, words)
            case "routed":
                return _routed(record, words)
            case "searched":
                return _searched(step.round, record, words)
            case _:
                return None

    def evidence(self, record: RunRecord, words: Words) -> list[Node]:
        return graph_nodes(record, words)

    def report(self, record: RunRecord, words: Words) -> tuple[str, list[Node]]:
        return words("Analysis and graph"), self.evidence(record, words)

    def tab(self, record: RunRecord, words: Words, *, key: str, read: ReadPassages) -> PassageId | None:
        return graph_tab(record, words, key=key, read=read)


def _analysed(record: RunRecord, words: Words) -> str:
    analysis = record.analysis
    if analysis is None:
        return words("No analysis")
    kind = begun(words(COMPLEXITIES[analysis.complexity]))
    named = words(", ").join(f"“{name}”" for name in analysis.entities[:_NAMED])
    return words("{kind} about {names}", kind=kind, names=named) if named else kind


def _routed(record: RunRecord, words: Words) -> str:
    decision = next((item for item in record.decisions if item.node == "route_query"), None)
    if decision is not None and decision.reason != "needs_search":
        return words("No search")
    return _mode_text(record, words)


def _searched(index: int, record: RunRecord, words: Words) -> str | None:
    """None where nothing was searched again, or nothing came through the graph."""
    current = record.rounds[index]
    fell_back = current.graph is not None and current.graph.fell_back_to
    graphs = sum(item.graph_score is not None for item in current.candidates)
    if not current.searched or not (graphs or fell_back):
        return None
    total, kept = len(current.candidates), len(current.kept)
    said = words.count("1 passage found, {kept} kept", "{n} passages found, {kept} kept", total, kept=kept)
    how = words("! vectors instead") if fell_back else words("{n} from the graph", n=graphs)
    return words(", ").join((said, how.removeprefix("! ").removeprefix("！")))


OWN = GraphHybrid()


def graph_tab(record: RunRecord, words: Words, *, key: str, read: ReadPassages) -> PassageId | None:
    """Draw it with a picture of the graph; returns a passage of the run to open in the table."""
    draw(analysis_nodes(record, words), words, key=f"{key}_analysis")
    searched = [item for item in record.rounds if item.graph is not None and _anything(item.graph)]
    if not searched:
        st.caption(words("Nothing came from the graph."))
        return None
    current = _round(searched, words, key)
    evidence = current.graph
    assert evidence is not None
    opened = None
    if evidence.entities:
        picture = evidence_picture(evidence)
        view = f"{key}_view_{current.index}"
        shown = _passages(record, wanted_passages(picture, view), words, read)
        event = graph_view(picture, words, key=view, passages=shown, open_passage=words("Open in Passages"))
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
        format_func=lambda index: begun(round_text(index, words)),
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
    """Show the analysis of the query and the mode searched."""
    analysis = record.analysis
    if analysis is None:
        return []
    kind = words(COMPLEXITIES[analysis.complexity])
    mode = searched_mode(record)
    chips = [chip("accent", _mode_text(record, words)), chip("plain", kind)]
    if analysis.suggested_mode != mode:
        suggested = words(choices_of("mode")[analysis.suggested_mode])
        chips.append(chip("grey", words("suggested: {mode}", mode=suggested)))
    names = words(", ").join(analysis.entities)
    said = words("Names {names}", names=names) if names else words("Names no entity of the graph")
    by = words("built-in") if analysis.by == "builtin" else analysis.by
    head = node("div", "head", node("strong", "heading", words("Analysis")), *chips)
    judged = node("p", "", said, node("span", "muted small", f" · {words('by {by}', by=by)}"))
    model = [node("p", "muted small", analysis.reason)] if analysis.by != "builtin" and analysis.reason else []
    searched = record.rounds or record.active or record.error
    skipped = [] if searched else [node("p", "note", "! ", words("No search"))]
    return [node("section", "card", head, judged, *model, *skipped)]


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
        lines = [
            f"{names.get(item.source, item.source)} → {type_text(item.type, words)} → "
            f"{names.get(item.target, item.target)}"
            for item in evidence.relationships[:_MOST]
        ]
        folds.append(fold("relationships", label, _list([node("li", "", text) for text in lines])))
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


def graph_nodes(record: RunRecord, words: Words) -> list[Node]:
    """The analysis of the query, and what every round took from the graph."""
    drawn = analysis_nodes(record, words)
    names = round_names(record, words)
    for current in record.rounds:
        if current.graph is not None:
            drawn.append(node("h3", "", begun(names[current.index])))
            note = notes_box(current.graph.notes, current.graph.mode, current.graph.fell_back_to, words)
            drawn += [*([note] if note else []), *taken_nodes(current.graph, words)]
    return drawn
