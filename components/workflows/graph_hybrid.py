"""What only graph + vector retrieval draws."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node
from components.common.own import Own, ReadPassages
from components.labels.runs import COMPLEXITIES
from components.labels.settings import choices_of
from components.workflows.graph_facts import FACTS
from components.workflows.graph_tab import graph_tab
from components.workflows.mode_notes import note_texts, searched_mode
from components.workflows.report_graph import graph_nodes
from engine.messages import N_
from engine.model.values import PassageId, RunRecord
from engine.replay.playback import ReplayStep

_ROUTED = {
    "bypass": N_("In this mode nothing is searched: on to the answer."),
    "tables_only": N_("The attached tables alone are to answer it: nothing is searched."),
    "simple": N_("It is simple enough to be answered without a search."),
}

_NAMED = 3


class GraphHybrid(Own):
    """The analysis of the query, and what a search took from the graph."""

    facts = FACTS

    def sentence(self, step: ReplayStep, record: RunRecord, words: Words) -> str | None:
        match step.kind:
            case "asked":
                return (
                    words("A question comes in. First it is analysed: what does it name, and how far must one look?")
                    if record.fork is None
                    else None
                )
            case "analysed":
                return _analysed(record, words)
            case "routed":
                return _routed(record, words)
            case "searched":
                return _searched(step.round, record, words)
            case "ended" if record.outcome in ("answered", "answered_unverified", "abstained") and not record.rounds:
                return words("The answer is there, without a search: nothing was graded and nothing is cited.")
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
        return words("The analysis did not come about.")
    kind = words(COMPLEXITIES[analysis.complexity])
    if not analysis.entities:
        return words("It is {kind}, and names nothing that the graph knows.", kind=kind)
    named = words(", ").join(f"“{name}”" for name in analysis.entities[:_NAMED])
    return words("It is {kind}, and names {names}.", kind=kind, names=named)


def _routed(record: RunRecord, words: Words) -> str:
    decision = next((item for item in record.decisions if item.node == "route_query"), None)
    if decision is None or decision.reason == "needs_search":
        return words("It needs a search, in the mode “{mode}”.", mode=words(choices_of("mode")[searched_mode(record)]))
    return words(_ROUTED[decision.reason])


def _searched(index: int, record: RunRecord, words: Words) -> str | None:
    """None where nothing was searched again, which the four-node loop's own sentence says."""
    current = record.rounds[index]
    if not current.searched:
        return None
    total, kept = len(current.candidates), len(current.kept)
    graphs = sum(item.graph_score is not None for item in current.candidates)
    said = words(
        "The search brings {total}, {graphs} of them found through the graph; {kept} go to the grader.",
        total=words.count("one passage", "{n} passages", total),
        graphs=graphs,
        kept=kept,
    )
    if current.graph is not None and current.graph.fell_back_to:
        note = next(iter(note_texts(current.graph, words)), "")
        return words("{note} So vectors are searched instead. {sentence}", note=note, sentence=said)
    return said


OWN = GraphHybrid()
