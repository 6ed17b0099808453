"""What long-term memory brought up for a question, which route it led to, and what was kept at the end."""

from __future__ import annotations

from components.answer_marks import standing_draft
from components.i18n import Words
from components.markup import Node, chip, fold, node
from components.phrases import probability_text
from engine.values import Memory, Recall, RouteChoice, RunRecord, Strategy


def recall_card(record: RunRecord, words: Words) -> list[Node]:
    """The memories recalled, best first; nothing before memory was asked."""
    recall = record.recall
    if recall is None:
        return []
    title = node("strong", "heading", words("recall.title"))
    head = node("div", "head", title, _state(recall, words))
    memories = (_memory(item, item.id in recall.stale, words) for item in recall.memories)
    left_out = [node("p", "muted small", words("recall.own"))] if recall.own else []
    return [node("section", "card", head, *left_out, *memories)]


def route_card(record: RunRecord, words: Words) -> list[Node]:
    """How the run began, why, and whether memory made the difference; nothing before the router chose."""
    choice = record.route
    if choice is None:
        return []
    head = node(
        "div", "head", node("strong", "heading", words("route.title")), chip("accent", _route(choice.route, words))
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
    title = node("strong", "heading", words("recall.at_end"))
    if kept is None:
        return [node("section", "card", node("div", "head", title), node("p", "muted", _why_nothing(record, words)))]
    if kept.passed:
        mark, fact = chip("pass", words("recall.kept")), words("recall.kept.fact")
    else:
        mark, fact = chip("warn", words("recall.kept_apart")), words("recall.kept_apart.fact")
    parts: list[Node] = [node("p", "", fact)]
    if kept.sources:
        parts.append(_sources(kept, words))
    parts.append(fold("kept", words("recall.answer"), node("p", "plain-text", kept.answer)))
    return [node("section", "card", node("div", "head", title, mark), *parts)]


def _why_nothing(record: RunRecord, words: Words) -> str:
    """Why a run with memory left nothing in it."""
    draft = standing_draft(record)
    if draft is None or record.outcome == "fallback":
        return words("recall.kept_none.answer")
    if draft.direct:
        return words("recall.kept_none.direct")
    if record.trial:
        return words("recall.kept_none.trial")
    return words("recall.kept_none" if draft.evaluation else "recall.kept_none.unevaluated")


def strategy_text(strategy: Strategy, words: Words) -> str:
    """The name of a search strategy."""
    return words(f"strategy.{strategy}")


def _state(recall: Recall, words: Words) -> Node:
    if recall.off:
        return chip("grey", words("recall.off"))
    if recall.failed:
        return chip("fault", words("recall.failed"))
    if not recall.memories:
        return chip("grey", words("recall.none"))
    return chip("accent", words("recall.found", n=len(recall.memories)))


def _memory(item: Memory, stale: bool, words: Words) -> Node:
    facts = [
        chip("plain", words("recall.similarity", value=probability_text(item.similarity))),
        chip("plain", words("recall.kept_at", date=item.kept_at[:10])),
    ]
    if stale:
        facts.append(chip("warn", words("recall.stale")))
    parts = [node("div", "said", node("strong", "", item.question), *facts)]
    if stale:
        parts.append(node("p", "muted small", words("recall.stale.help")))
    if item.sources:
        parts.append(_sources(item, words))
    if item.claim:
        parts.append(node("p", "plain-text", item.claim))
    parts.append(fold(f"memory-{item.id}", words("recall.answer"), node("p", "plain-text", item.answer)))
    return node("div", "remembered stale" if stale else "remembered", *parts)


def _sources(item: Memory, words: Words) -> Node:
    named = (chip("plain", source) for source in item.sources)
    return node("div", "chips", node("span", "muted small", words("recall.sources")), *named)


def _recalled(record: RunRecord) -> bool:
    return record.recall is not None and bool(record.recall.memories)


def _why(choice: RouteChoice, words: Words) -> str:
    """Why a route was chosen: built-in choices from their code, a chat model's in its own words."""
    if f"route.why.{choice.code}" not in words:
        return choice.reason
    wanted = _WANTED.get(choice.code)
    if wanted is None or choice.route in (wanted, "direct"):
        return words(f"route.why.{choice.code}")
    instead = words("route.instead", wanted=strategy_text(wanted, words), taken=_route(choice.route, words))
    return words("route.why.joint", first=words(f"route.why.{choice.code}"), second=instead)


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
        return node("p", "muted small", words("route.unchanged"))
    if without == "direct":
        would = words("route.without.direct")
    else:
        would = words("route.without.search", strategy=strategy_text(without, words))
    return node("p", "", chip("accent", "⇄"), " ", words("route.changed", route=would))


def _route(route: str, words: Words) -> str:
    if route == "direct":
        return words("route.direct")
    return words("route.begins", strategy=words(f"strategy.{route}"))
