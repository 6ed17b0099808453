"""Parts drawn only for the dual loop."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from components.common.i18n import Words
from components.common.markup import Node
from components.common.outcomes import round_text
from components.common.phrases import begun
from components.common.workflow_view import Fact, WorkflowView
from components.labels import STRATEGY_NAMES
from components.picture.facts import changed, cost_of, kept_text, time_of
from components.picture.words import Lines, lines, searched_line, word
from components.workflows.routing import kept_memory, recall_texts, strategy_nodes
from engine.model.config import RunConfig
from engine.model.values import Quantity, RunRecord
from engine.replay.playback import ReplayStep
from engine.workflows.dual_loop.options import dual_options
from engine.workflows.dual_loop.policy import LEAST_RELEVANT


def _recall_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    recall, spent = record.recall, time_of(name, record, words)
    return lines([*recall_texts(recall, words)] if recall else [], [spent])


def _route_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    choice = record.route
    if choice is None:
        return lines(cost_of(name, record, words))
    other = choice.without_memory
    why = words("from memory") if other is not None and other != choice.route else ""
    return lines([word(words, "strategy", choice.route)], [why, *cost_of(name, record, words)])


def _rewrite_query_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    spent = time_of(name, record, words)
    if not record.rewrites:
        return lines([spent])
    newest = record.rewrites[-1]
    note = words("failed") if newest.failed else words("repeated") if newest.repeated else ""
    if newest.query.strip() == newest.rewritten_query.strip():
        return lines([round_text(0, words)], [note, spent])
    return (changed(newest), *lines([note, spent]))


def _strategy_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    searched = [item for item in record.rounds if item.searched]
    tried = [item for item in record.tried_routes if item.status != "skipped"]
    count = words.count("1 search", "{n} searches", len(tried)) if len(tried) > 1 else ""
    spent = time_of(name, record, words)
    if not searched:
        return lines([count, spent])
    candidates, strategy = searched[-1].candidates, searched[-1].strategy
    how = word(words, "strategy", strategy) if strategy else ""
    found = lines([how, kept_text(candidates, words), words("{n} probed", n=len(candidates))])
    ended = lines([count, spent]) if strategy == "web_search" else searched_line(record, words, count, spent)
    return (*found, *ended)


def _direct_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    remembered = record.route is not None and record.route.code == "remembered"
    return lines([words("from memory") if remembered else words("without a search")], cost_of(name, record, words))


def _keep_facts(name: str, record: RunRecord, words: Words, tone: str) -> Lines:
    said = "" if tone == "active" else kept_memory(record, words)
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


class DualLoop(WorkflowView):
    """Memory and route, strategies in turn, and corrections of the answer."""

    facts = FACTS

    def bar(self, config: RunConfig) -> tuple[Quantity, float]:
        return "relevant_passages", LEAST_RELEVANT

    def extent(self, config: RunConfig, words: Words) -> str:
        options = dual_options(config)
        searches = 3 if options.web_search else 2
        return words.count(
            "1 pass of {searches} searches",
            "{n} passes of {searches} searches",
            options.max_corrections + 1,
            searches=searches,
        )

    def sentence(self, step: ReplayStep, record: RunRecord, words: Words) -> str | None:
        match step.kind:
            case "recalled":
                said = words("; ").join(recall_texts(record.recall, words)) if record.recall else words("switched off")
                return words("{what}: {why}", what=words("Memory"), why=said)
            case "routed":
                return _route(record, words)
            case "kept":
                return begun(kept_memory(record, words))
            case _:
                return None

    def evidence(self, record: RunRecord, words: Words) -> list[Node]:
        return strategy_nodes(record, words)


def _route(record: RunRecord, words: Words) -> str:
    choice = record.route
    if choice is None:
        return words("The router has not chosen")
    if choice.route != "direct":
        return words("The router chooses {strategy}", strategy=words(STRATEGY_NAMES[choice.route]))
    because = choice.without_memory not in (None, "direct")
    return words("The router answers from memory" if because else "The router answers at once")


OWN = DualLoop()
