"""The lines of facts that the boxes of the dual loop carry."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from components.common.i18n import Words
from components.common.own import Fact
from components.picture.facts import changed, cost_of, kept_text, time_of
from components.picture.words import Lines, lines, searched_line, word
from engine.messages import NC_
from engine.model.values import RunRecord


def _recall_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    recall, spent = record.recall, time_of(name, record, words)
    if recall is None:
        return lines([words("looking back")] if tone == "active" else [], [spent])
    if recall.off or recall.failed:
        return lines([words("switched off") if recall.off else words("could not be read")], [spent])
    found, stale, refused = len(recall.memories), len(recall.stale), len(recall.refused)
    first = [
        words("{n} recalled", n=found) if found else words("nothing recalled"),
        words("{n} outdated", n=stale) if stale else words("{n} not answering", n=refused) if refused else "",
    ]
    return lines(first, [spent])


def _route_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    choice = record.route
    if choice is None:
        return lines([words("choosing")] if tone == "active" else [], cost_of(name, record, words))
    other = choice.without_memory
    why = words("because of memory") if other is not None and other != choice.route else ""
    return lines([word(words, "strategy", choice.route)], [why, *cost_of(name, record, words)])


def _rewrite_query_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    spent = time_of(name, record, words)
    if not record.rewrites:
        return lines([words("rephrasing")], [spent])
    newest = record.rewrites[-1]
    note = words("failed, old query stands") if newest.failed else words("repeated itself") if newest.repeated else ""
    if newest.query.strip() == newest.rewritten_query.strip():
        return lines([words("as asked")], [note, spent])
    return (changed(newest), *lines([note, spent]))


def _strategy_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    searched = [item for item in record.rounds if item.searched]
    tried = [item for item in record.tried_routes if item.status != "skipped"]
    count = words("{n} searches", n=len(tried)) if len(tried) > 1 else ""
    spent = time_of(name, record, words)
    if not searched:
        return lines([words("searching") if tone == "active" else ""], [count, spent])
    candidates, strategy = searched[-1].candidates, searched[-1].strategy
    how = word(words, "strategy", strategy) if strategy else ""
    found = lines([how, kept_text(candidates, words), words("{n} probed", n=len(candidates))])
    ended = lines([count, spent]) if strategy == "web_search" else searched_line(record, words, count, spent)
    return (*found, *ended)


def _direct_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    remembered = record.route is not None and record.route.code == "remembered"
    return lines([words("from memory") if remembered else words("without a search")], cost_of(name, record, words))


def _keep_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    kept = record.remembered
    if tone == "active":
        return lines([time_of(name, record, words)])
    said = words("nothing kept")
    if kept:
        said = words(NC_("picture", "kept")) if kept.passed else words("kept as a failure")
    return lines([said], [time_of(name, record, words)])


FACTS: Mapping[str, Fact] = MappingProxyType(
    {
        "retrieve_memory": _recall_facts,
        "route_query": _route_facts,
        "rewrite_query": _rewrite_query_facts,
        "retrieve_documents": _strategy_facts,
        "direct_response": _direct_facts,
        "consolidate_memory": _keep_facts,
    }
)
