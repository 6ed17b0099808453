"""The lines of facts that the boxes of graph + vector retrieval carry."""

from __future__ import annotations

from components.picture_words import Lines, Words, lines, say
from engine.values import RunRecord


def analyze_facts(name: str, record: RunRecord, words: Words, spent: list[str]) -> Lines:
    """What the analysis of the query found."""
    analysis = record.analysis
    if not analysis:
        return lines(spent)
    found = len(analysis.entities)
    entities = say(words, "entities_n", n=found) if found else say(words, "entities_none")
    return lines([say(words, f"complexity_{analysis.complexity}"), entities], spent)


def route_facts(name: str, record: RunRecord, words: Words, spent: str) -> Lines:
    """Whether it is searched, and in which mode."""
    decision = next((item for item in record.decisions if item.node == name), None)
    if decision is None:
        return lines([say(words, "choosing")], [spent])
    if decision.reason != "needs_search":
        return lines([say(words, "no_search")], [spent])
    return lines([say(words, "to_mode", mode=say(words, f"mode_{mode_of(record)}"))], [spent])


def retrieve_facts(record: RunRecord, words: Words, spent: str) -> Lines:
    """What the newest search found, and whether a mode could not do its own work."""
    round_ = next((item for item in reversed(record.rounds) if item.searched), None)
    if round_ is None:
        return lines([say(words, "searching")], [spent])
    candidates = round_.candidates
    graphs = sum(item.graph_score is not None for item in candidates)
    graph = round_.graph
    fell = say(words, "fell_back") if graph and graph.fell_back_to else ""
    led = fell or (say(words, "from_graph", n=graphs) if graphs else "")
    kept = say(words, "kept", n=sum(item.gate == "kept" for item in candidates))
    return lines([led, kept, say(words, "probed", n=len(candidates))], [spent])


def answer_facts(record: RunRecord, words: Words, given: str, spent: list[str]) -> Lines:
    """What the answer was written from."""
    if record.outcome == "abstained" and record.rounds:
        return lines([say(words, "abstained_fact")], spent)
    context = record.context
    if not context:
        return lines([say(words, "writing")], spent)
    if not record.rounds:
        return lines([say(words, "skipped_search")], spent)
    cited = len(record.citations) + len(record.cell_citations)
    used = say(words, "context_of", n=context.tokens, most=context.token_budget)
    return lines([given, say(words, "cited", n=cited) if cited else ""], [used, *spent])


def mode_of(record: RunRecord) -> str:
    """The mode that was searched: the newest round's, else the config's."""
    modes = [item.graph.mode for item in record.rounds if item.graph]
    return str(modes[-1] if modes else record.config.mode)
