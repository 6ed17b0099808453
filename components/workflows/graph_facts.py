"""The lines of facts that the boxes of graph + vector retrieval carry."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from components.common.i18n import Words
from components.common.own import Fact
from components.picture.facts import cost_of, given_text, kept_text, time_of
from components.picture.words import Lines, lines, word
from components.workflows.mode_notes import searched_mode
from engine.messages import NC_
from engine.model.values import RunRecord


def _analyze_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """What the analysis of the query found."""
    analysis, spent = record.analysis, cost_of(name, record, words)
    if not analysis:
        return lines(spent)
    found = len(analysis.entities)
    entities = words.count("1 entity", "{n} entities", found) if found else words("no entity named")
    return lines([word(words, "complexity", analysis.complexity), entities], spent)


def _route_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """Whether it is searched, and in which mode."""
    spent = time_of(name, record, words)
    decision = next((item for item in record.decisions if item.node == name), None)
    if decision is None:
        return lines([words("choosing")], [spent])
    if decision.reason != "needs_search":
        return lines([words("without a search")], [spent])
    return lines([words("mode {mode}", mode=word(words, "mode", searched_mode(record)))], [spent])


def _retrieve_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """What the newest search found, and whether a mode could not do its own work."""
    spent = time_of(name, record, words)
    round_ = next((item for item in reversed(record.rounds) if item.searched), None)
    if round_ is None:
        return lines([words("searching")], [spent])
    candidates = round_.candidates
    graphs = sum(item.graph_score is not None for item in candidates)
    graph = round_.graph
    fell = words("! vectors instead") if graph and graph.fell_back_to else ""
    led = fell or (words("{n} from the graph", n=graphs) if graphs else "")
    return lines([led, kept_text(candidates, words), words("{n} probed", n=len(candidates))], [spent])


def _answer_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    """What the answer was written from."""
    spent = cost_of(name, record, words)
    if record.outcome == "abstained" and record.rounds:
        return lines([words("nothing passed, says so")], spent)
    context = record.context
    if not context:
        return lines([words(NC_("picture", "writing"))], spent)
    if not record.rounds:
        return lines([words("no passages used")], spent)
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
