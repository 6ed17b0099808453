"""One plain sentence for each step that only graph + vector retrieval has."""

from __future__ import annotations

from components.i18n import Words
from engine.replay import ReplayStep
from engine.values import GraphEvidence, RunRecord

_NAMED = 3


def graph_sentence(step: ReplayStep, record: RunRecord, words: Words) -> str | None:
    """The sentence of a step; None where the four-node loop's own sentence says it as well."""
    match step.kind:
        case "asked":
            return words("presenter.asked.graph_hybrid") if record.fork is None else None
        case "analysed":
            return _analysed(record, words)
        case "routed":
            return _routed(record, words)
        case "searched":
            return _searched(step.round, record, words)
        case "ended" if record.outcome in ("answered", "answered_unverified", "abstained") and not record.rounds:
            return words("presenter.graph.ended.unsearched")
        case _:
            return None


def note_text(evidence: GraphEvidence, place: int, words: Words) -> str:
    """What a list of a mode could not do."""
    note = evidence.notes[place]
    return words(f"mode.note.{note.code}", list=words(f"list.{note.list}"))


def _analysed(record: RunRecord, words: Words) -> str:
    analysis = record.analysis
    if analysis is None:
        return words("presenter.graph.analysed.failed")
    kind = words(f"graph.complexity.{analysis.complexity}")
    if not analysis.entities:
        return words("presenter.graph.analysed.unnamed", kind=kind)
    named = words("list.joint").join(f"“{name}”" for name in analysis.entities[:_NAMED])
    return words("presenter.graph.analysed", kind=kind, names=named)


def _routed(record: RunRecord, words: Words) -> str:
    decision = next((item for item in record.decisions if item.node == "route_query"), None)
    if decision is None or decision.reason == "needs_search":
        return words("presenter.graph.routed", mode=words(f"settings.mode.{searched_mode(record)}"))
    return words(f"presenter.graph.routed.{decision.reason}")


def searched_mode(record: RunRecord) -> str:
    """The mode that was searched: the newest round's, else the config's."""
    return next((item.graph.mode for item in reversed(record.rounds) if item.graph), record.config.mode)


def _searched(index: int, record: RunRecord, words: Words) -> str | None:
    """None where nothing was searched again, which the four-node loop's own sentence says."""
    current = record.rounds[index]
    if not current.searched:
        return None
    total, kept = len(current.candidates), len(current.kept)
    graphs = sum(item.graph_score is not None for item in current.candidates)
    said = words("presenter.graph.searched", total=words.count("presenter.passages", total), graphs=graphs, kept=kept)
    if current.graph is not None and current.graph.fell_back_to:
        return words("presenter.graph.fell_back", note=note_text(current.graph, 0, words), sentence=said)
    return said
