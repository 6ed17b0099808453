"""How the dual loop chose its ways: what memory brought up, the strategies of each pass, what was kept."""

from __future__ import annotations

from components.ask.answer_marks import standing_draft
from components.common.i18n import Words
from components.common.markup import Node, chip, fold, node
from components.common.outcomes import round_text
from components.common.phrases import begun, place_text, probability_text
from components.labels import STRATEGY_NAMES, WEB_PASSAGE
from components.workflows.drafts import draft_body
from engine.messages import N_, NC_
from engine.model.values import (
    STRATEGIES,
    Draft,
    FoundSection,
    Memory,
    PassageId,
    Recall,
    Round,
    RouteChoice,
    RunRecord,
    Strategy,
    TriedRoute,
)
from engine.workflows.dual_loop.options import dual_options

_WHY = {
    "web_off": N_("web search is off in these settings"),
    "web_not_set": N_("no search engine is set (WORKBENCH_SEARXNG_URL)"),
    "no_summaries": N_("this collection has no summaries"),
}

_STATES = {
    "searched": N_("✓ searched"),
    "nothing_found": N_("– nothing found"),
    "skipped": N_("⤳ skipped"),
    "failed": N_("✗ failed"),
}

_LOOKS = {"searched": "pass", "nothing_found": "grey", "skipped": "grey", "failed": "fault"}
_MOST_ADDRESSES = 8
_WHY_ROUTED = {
    "smalltalk": N_("Small talk: nothing to search for."),
    "remembered": N_("Answered before, and the collection has not changed since."),
    "overview": N_("A broad question: summaries first."),
    "subject": N_("Only a subject is named: summaries first."),
    "current": N_("It asks for news or the web."),
    "specific": N_("It asks for something particular: passages directly."),
}


def strategy_nodes(record: RunRecord, words: Words) -> list[Node]:
    """Memory and route, one card a pass of the outer loop, and what was kept."""
    passes = [_pass_card(attempt, record, words) for attempt in attempts_of(record)]
    return [
        *recall_card(record, words),
        *route_card(record, words),
        *passes,
        *kept_card(record, words),
    ]


def attempts_of(record: RunRecord) -> list[int]:
    """The passes of the outer loop that left something behind, in order."""
    seen = {item.attempt for group in (record.rounds, record.tried_routes, record.drafts) for item in group}
    return sorted(seen)


def _pass_card(attempt: int, record: RunRecord, words: Words) -> Node:
    rounds = [item for item in record.rounds if item.attempt == attempt]
    drafts = [item for item in record.drafts if item.attempt == attempt]
    direct = bool(drafts) and drafts[0].direct
    named = begun(words("direct answer")) if direct and not rounds else words("Pass {n}", n=attempt + 1)
    head = [node("strong", "heading", named)]
    if attempt:
        head.append(node("span", "muted small", round_text(attempt, words)))
    parts: list[Node] = [node("div", "head", *head)]
    if rounds:
        parts.append(node("p", "query", node("span", "muted", words("Query")), rounds[0].query))
    tried = [item for item in record.tried_routes if item.attempt == attempt]
    if rounds or tried:
        over = not record.active or attempt < attempts_of(record)[-1]
        steps = _steps(rounds, tried, over=over, record=record, words=words)
        parts.append(node("ol", "path", *steps))
    parts += [_answer(item, record, words) for item in drafts]
    return node("section", "card pass", *parts)


def _steps(rounds: list[Round], tried: list[TriedRoute], *, over: bool, record: RunRecord, words: Words) -> list[Node]:
    """One line a strategy in the order in which they came; those that were not needed at the end."""
    lines: list[Node] = []
    left = list(rounds)
    for item in tried:
        searched = next((one for one in left if one.strategy == item.strategy), None)
        if searched is not None:
            left.remove(searched)
        lines.append(_step(item.strategy, item, searched, record, words))
    lines += [_step(one.strategy, None, one, record, words) for one in left if one.strategy is not None]
    known = {item.strategy for item in tried} | {one.strategy for one in rounds}
    if over:
        for strategy in STRATEGIES:
            if strategy in known:
                continue
            why = _unusable(strategy, record)
            facts = [chip("grey", words("not searched"))]
            if why:
                facts.append(node("span", "muted", words(_WHY[why])))
            lines.append(_line("grey", strategy_text(strategy, words), *facts))
    return lines


def _unusable(strategy: Strategy, record: RunRecord) -> str:
    """Explain why this run could not have used a strategy it never tried; empty if it could."""
    if strategy == "web_search" and not dual_options(record.config).web_search:
        return "web_off"
    named = record.manifest.get("strategies", "")
    if not named or strategy in named.split(","):
        return ""
    return {"web_search": "web_not_set", "hierarchical_search": "no_summaries"}.get(strategy, "")


def _step(
    strategy: Strategy, tried: TriedRoute | None, searched: Round | None, record: RunRecord, words: Words
) -> Node:
    passed = _passed(searched, record)
    status = tried.status if tried else "searched"
    look, said = _LOOKS[status], words(_STATES[status])
    if status == "searched" and searched is not None:
        look, said = ("pass", words("✓ searched")) if passed else ("grey", words("– nothing passed"))
        if not passed and record.active and searched is record.rounds[-1]:
            look, said = "accent", words("grading …")
    facts = [chip(look, said)]
    details = []
    if tried is not None and tried.why:
        facts.append(node("span", "muted", _why(tried, words)))
    if searched is not None and searched.candidates:
        counts = {"found": len(searched.candidates), "kept": len(searched.kept), "passed": passed}
        said = words("{found} found, {kept} kept, {passed} passed", **counts)
        facts.append(node("span", "muted small num", said))
        details += _sections(searched.sections, words)
        if strategy == "web_search":
            details.append(_web(searched, words))
    return _line(look, strategy_text(strategy, words), *facts, details=details)


def _line(look: str, name: str, *facts: Node, details: list[Node] | None = None) -> Node:
    first = node("div", "said", node("strong", "", name), *facts)
    return node("li", f"stop {look}", node("div", "grow", first, *(details or [])))


def _why(tried: TriedRoute, words: Words) -> str:
    return words(_WHY[tried.why]) if tried.why in _WHY else tried.why


def _passed(searched: Round | None, record: RunRecord) -> int:
    if searched is None:
        return 0
    least = record.config.min_confidence
    kept: list[PassageId] = [item.id for item in searched.kept]
    return sum(name in searched.verdicts and searched.verdicts[name].passes(least) for name in kept)


def _sections(sections: tuple[FoundSection, ...], words: Words) -> list[Node]:
    if not sections:
        return []
    drawn = (
        node(
            "li",
            "",
            node("span", "", place_text(item.source, item.section, words)),
            " ",
            node("span", "muted num small", probability_text(item.similarity)),
            title=item.summary,
        )
        for item in sections
    )
    return [node("p", "subhead", words("Searched inside")), node("ul", "inside", *drawn)]


def _web(searched: Round, words: Words) -> Node:
    """Addresses as plain text: no press and no preview leads out of the workbench."""
    drawn = (
        node("li", "", node("span", "", item.passage.title or item.passage.section), " ", node("code", "", address))
        for item in searched.candidates[:_MOST_ADDRESSES]
        if (address := item.passage.source)
    )
    warned = chip("warn", words("web · untrusted"), words(WEB_PASSAGE))
    return node("div", "", node("p", "subhead", warned), node("ul", "inside", *drawn))


def _answer(draft: Draft, record: RunRecord, words: Words) -> Node:
    return node("div", "" if draft.direct else "answered", *draft_body(draft, record, words))


def recall_card(record: RunRecord, words: Words) -> list[Node]:
    """The memories recalled, best first; nothing before memory was asked."""
    recall = record.recall
    if recall is None:
        return []
    title = node("strong", "heading", words("Memory"))
    head = node("div", "head", title, _state(recall, words))
    memories = (_memory(item, _unused(item.id, recall, words), words) for item in recall.memories)
    left_out = [node("p", "muted small", words("Memories of this very question were left out."))] if recall.own else []
    return [node("section", "card", head, *left_out, *memories)]


def route_card(record: RunRecord, words: Words) -> list[Node]:
    """Show how the run started, why, and whether memory made the difference; empty before the router chose."""
    choice = record.route
    if choice is None:
        return []
    head = node(
        "div",
        "head",
        node("strong", "heading", words(NC_("route", "Route"))),
        chip("accent", _route(choice.route, words)),
    )
    lines = [node("p", "", text) for text in (_why_routed(choice, words),) if text]
    if choice.without_memory is not None and _recalled(record):
        lines.append(_difference(choice, words))
    return [node("section", "card", head, *lines)]


def kept_card(record: RunRecord, words: Words) -> list[Node]:
    """Show what the run left in memory; empty while it is running and where memory is off."""
    if record.active or record.recall is None or record.recall.off:
        return []
    kept = record.remembered
    title = node("strong", "heading", begun(words("kept in memory")))
    if kept is None:
        return [node("section", "card", node("div", "head", title), node("p", "muted", _why_nothing(record, words)))]
    mark = "" if kept.passed else chip("warn", f"! {kept_memory(record, words)}", words("Never recalled as a fact."))
    parts = [_sources(kept, words)] if kept.sources else []
    parts.append(fold("kept", words("Answer"), node("p", "plain-text", kept.answer)))
    return [node("section", "card", node("div", "head", title, mark), *parts)]


def _why_nothing(record: RunRecord, words: Words) -> str:
    """Explain why a run with memory kept nothing."""
    draft = standing_draft(record)
    if draft is None or record.outcome == "fallback":
        return words("Nothing: there is no answer.")
    if draft.direct:
        return words("Nothing: the answer has no source.")
    if record.trial:
        return words("Nothing: this run was a trial.")
    return words("Nothing." if draft.evaluation else "Nothing: the answer was not evaluated.")


def strategy_text(strategy: Strategy, words: Words) -> str:
    """The name of a search strategy."""
    return words(STRATEGY_NAMES[strategy])


def _state(recall: Recall, words: Words) -> Node:
    said = recall_texts(recall, words)[0]
    if recall.off:
        return chip("grey", said)
    if recall.failed:
        return chip("fault", f"! {said}")
    return chip("accent" if recall.memories else "grey", said)


def recall_texts(recall: Recall, words: Words) -> list[str]:
    """What memory brought up, and why that may not answer."""
    if recall.off or recall.failed:
        return [words("switched off" if recall.off else "could not be read")]
    if not recall.memories:
        return [words("nothing recalled")]
    unused = dict.fromkeys(_unused(item.id, recall, words) for item in recall.memories)
    return [words("{n} recalled", n=len(recall.memories)), *filter(None, unused)]


def kept_memory(record: RunRecord, words: Words) -> str:
    """Whether a run left its answer in memory, and as what."""
    kept = record.remembered
    if kept is None:
        return words("nothing kept")
    return words("kept in memory" if kept.passed else "kept as a failure")


def _unused(memory_id: str, recall: Recall, words: Words) -> str:
    """Explain why a memory may not answer; empty if it may."""
    if memory_id in recall.stale:
        return words("the collection has changed since")
    return words("does not answer the question") if memory_id in recall.refused else ""


def _memory(item: Memory, unused: str, words: Words) -> Node:
    facts = [
        chip("plain", f"{words('similarity')} {probability_text(item.similarity)}"),
        chip("plain", words("kept {date}", date=item.kept_at[:10])),
    ]
    if item.from_web:
        facts.append(chip("warn", words("! from the web")))
    if unused:
        facts.append(chip("warn", f"! {unused}"))
    parts = [node("div", "said", node("strong", "", item.question), *facts)]
    if item.sources:
        parts.append(_sources(item, words))
    if item.claim:
        parts.append(node("p", "plain-text", item.claim))
    parts.append(fold(f"memory-{item.id}", words("Answer"), node("p", "plain-text", item.answer)))
    return node("div", "remembered stale" if unused else "remembered", *parts)


def _sources(item: Memory, words: Words) -> Node:
    named = (chip("plain", source) for source in item.sources)
    return node("div", "chips", node("span", "muted small", words("Sources")), *named)


def _recalled(record: RunRecord) -> bool:
    return record.recall is not None and bool(record.recall.memories)


def _why_routed(choice: RouteChoice, words: Words) -> str:
    """Why a route was chosen: built-in choices from their code, a chat model's in its own words."""
    if choice.code not in _WHY_ROUTED:
        return choice.reason
    wanted = _WANTED.get(choice.code)
    if wanted is None or choice.route in (wanted, "direct"):
        return words(_WHY_ROUTED[choice.code])
    instead = words("{wanted} is not available here.", wanted=begun(strategy_text(wanted, words)))
    return words.joined((words(_WHY_ROUTED[choice.code]), instead))


_WANTED: dict[str, Strategy] = {
    "overview": "hierarchical_search",
    "subject": "hierarchical_search",
    "current": "web_search",
    "specific": "direct_chunk_search",
}
"""The strategy that a code stands for; where another was taken, this one could not be used."""


def _difference(choice: RouteChoice, words: Words) -> Node:
    without = choice.without_memory
    assert without is not None
    return node("p", "", chip("accent", "⇄"), " ", words("Without memory: {route}", route=_route(without, words)))


def _route(route: str, words: Words) -> str:
    return words("direct answer") if route == "direct" else words(STRATEGY_NAMES[route])
