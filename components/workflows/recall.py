"""What long-term memory brought up for a question, which route it led to, and what was kept at the end."""

from __future__ import annotations

from components.ask.answer_marks import standing_draft
from components.common.i18n import Words
from components.common.markup import Node, chip, fold, node
from components.common.phrases import probability_text
from components.labels.workflows import STRATEGY_NAMES
from engine.messages import N_, NC_
from engine.model.values import Memory, Recall, RouteChoice, RunRecord, Strategy

_WHY = {
    "smalltalk": N_("This is small talk: there is nothing to search for."),
    "remembered": N_("The same question was answered before, and the collection has not changed since."),
    "overview": N_("The question is broad: summaries are searched first, then the passages inside them."),
    "subject": N_("The question names a subject and asks nothing particular: summaries are searched first."),
    "current": N_("The question asks for what is new or on the web."),
    "specific": N_("The question asks for something particular: passages are searched directly."),
}


_STALE = (
    N_("! out of date"),
    N_("The collection has changed since: the memory is shown, and not answered from."),
)
_REFUSED = (
    N_("! does not answer"),
    N_("The grader does not find the answer to this question in it: the memory is shown, and not answered from."),
)


def recall_card(record: RunRecord, words: Words) -> list[Node]:
    """The memories recalled, best first; nothing before memory was asked."""
    recall = record.recall
    if recall is None:
        return []
    title = node("strong", "heading", words("Long-term memory"))
    head = node("div", "head", title, _state(recall, words))
    memories = (_memory(item, _unused(item.id, recall), words) for item in recall.memories)
    left_out = (
        [
            node(
                "p",
                "muted small",
                words(
                    "This run is to show what its settings do, so what earlier runs of this very question left was "
                    "not recalled."
                ),
            )
        ]
        if recall.own
        else []
    )
    return [node("section", "card", head, *left_out, *memories)]


def route_card(record: RunRecord, words: Words) -> list[Node]:
    """How the run began, why, and whether memory made the difference; nothing before the router chose."""
    choice = record.route
    if choice is None:
        return []
    head = node(
        "div",
        "head",
        node("strong", "heading", words(NC_("route", "Route"))),
        chip("accent", _route(choice.route, words)),
    )
    lines = [node("p", "", text) for text in (_why(choice, words),) if text]
    if choice.without_memory is not None and _recalled(record):
        lines.append(_difference(choice, words))
    return [node("section", "card", head, *lines)]


def kept_card(record: RunRecord, words: Words) -> list[Node]:
    """What the run left in memory; nothing while it is running, and where memory is off."""
    if record.active or record.recall is None or record.recall.off:
        return []
    kept = record.remembered
    title = node("strong", "heading", words("At the end"))
    if kept is None:
        return [node("section", "card", node("div", "head", title), node("p", "muted", _why_nothing(record, words)))]
    if kept.passed:
        mark, fact = (
            chip("pass", words("✓ kept")),
            words(
                "This answer passed: a later run that asks for the same recalls it instead of searching. *Run with "
                "these settings* leaves it out."
            ),
        )
    else:
        mark, fact = (
            chip("warn", words("! kept apart as a failure")),
            words("This answer did not pass: it is kept for the record, and never recalled as a fact."),
        )
    parts: list[Node] = [node("p", "", fact)]
    if kept.sources:
        parts.append(_sources(kept, words))
    parts.append(fold("kept", words("Its answer"), node("p", "plain-text", kept.answer)))
    return [node("section", "card", node("div", "head", title, mark), *parts)]


def _why_nothing(record: RunRecord, words: Words) -> str:
    """Why a run with memory left nothing in it."""
    draft = standing_draft(record)
    if draft is None or record.outcome == "fallback":
        return words("There is no answer to keep.")
    if draft.direct:
        return words("Nothing was kept: an answer without a search is based on no source of its own.")
    if record.trial:
        return words("Nothing was kept: this run is to show what its settings do.")
    return words("Nothing was kept." if draft.evaluation else "Nothing was kept: no one evaluated the answer.")


def strategy_text(strategy: Strategy, words: Words) -> str:
    """The name of a search strategy."""
    return words(STRATEGY_NAMES[strategy])


def _state(recall: Recall, words: Words) -> Node:
    if recall.off:
        return chip("grey", words("switched off"))
    if recall.failed:
        return chip("fault", words("! could not be read"))
    if not recall.memories:
        return chip("grey", words("nothing similar"))
    return chip("accent", words("{n} recalled", n=len(recall.memories)))


def _unused(memory_id: str, recall: Recall) -> tuple[str, str] | None:
    """Why a memory may not answer, in short and as a sentence."""
    if memory_id in recall.stale:
        return _STALE
    return _REFUSED if memory_id in recall.refused else None


def _memory(item: Memory, unused: tuple[str, str] | None, words: Words) -> Node:
    facts = [
        chip("plain", words("similarity {value}", value=probability_text(item.similarity))),
        chip("plain", words("kept {date}", date=item.kept_at[:10])),
    ]
    if item.from_web:
        facts.append(chip("warn", words("! from the web")))
    if unused:
        facts.append(chip("warn", words(unused[0])))
    parts = [node("div", "said", node("strong", "", item.question), *facts)]
    if unused:
        parts.append(node("p", "muted small", words(unused[1])))
    if item.sources:
        parts.append(_sources(item, words))
    if item.claim:
        parts.append(node("p", "plain-text", item.claim))
    parts.append(fold(f"memory-{item.id}", words("Its answer"), node("p", "plain-text", item.answer)))
    return node("div", "remembered stale" if unused else "remembered", *parts)


def _sources(item: Memory, words: Words) -> Node:
    named = (chip("plain", source) for source in item.sources)
    return node("div", "chips", node("span", "muted small", words("Sources")), *named)


def _recalled(record: RunRecord) -> bool:
    return record.recall is not None and bool(record.recall.memories)


def _why(choice: RouteChoice, words: Words) -> str:
    """Why a route was chosen: built-in choices from their code, a chat model's in its own words."""
    if choice.code not in _WHY:
        return choice.reason
    wanted = _WANTED.get(choice.code)
    if wanted is None or choice.route in (wanted, "direct"):
        return words(_WHY[choice.code])
    instead = words(
        "{wanted} cannot be used here, so the run has to {taken}.",
        wanted=strategy_text(wanted, words),
        taken=_route(choice.route, words),
    )
    return words("{first} {second}", first=words(_WHY[choice.code]), second=instead)


_WANTED: dict[str, Strategy] = {
    "overview": "hierarchical_search",
    "subject": "hierarchical_search",
    "current": "web_search",
    "specific": "direct_chunk_search",
}
"""The strategy that a code stands for; where another was taken, this one could not be used."""


def _difference(choice: RouteChoice, words: Words) -> Node:
    without = choice.without_memory
    if without is None or without == choice.route:
        return node("p", "muted small", words("The same route without memory."))
    if without == "direct":
        would = words("have answered directly")
    else:
        would = words("have begun with {strategy}", strategy=strategy_text(without, words))
    return node(
        "p",
        "",
        chip("accent", "⇄"),
        " ",
        words("Memory changed the route: without it, the run would {route}.", route=would),
    )


def _route(route: str, words: Words) -> str:
    if route == "direct":
        return words("answer directly")
    return words("begin with {strategy}", strategy=words(STRATEGY_NAMES[route]))
