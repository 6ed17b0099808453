"""The passes of the dual loop: which strategies were tried, what each found, and what became of the answer."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node, chip, node
from components.common.phrases import place_text, probability_text, reason_text
from components.labels.runs import WEB_PASSAGE
from components.workflows.drafts import draft_body
from components.workflows.recall import kept_card, recall_card, route_card, strategy_text
from engine.messages import N_, NC_
from engine.model.values import STRATEGIES, Draft, FoundSection, PassageId, Round, RunRecord, Strategy, TriedRoute
from engine.workflows.dual_loop.options import dual_options

_WHY = {
    "web_off": N_("web search is switched off in the settings of this run"),
    "web_not_set": N_("no search engine is set on this machine (WORKBENCH_SEARXNG_URL)"),
    "no_summaries": N_("this collection has no summaries to search first"),
}

_STATES = {
    "searched": N_("✓ searched"),
    "nothing_found": N_("– nothing found"),
    "skipped": N_("⤳ skipped"),
    "failed": N_("✗ failed"),
}

_LOOKS = {"searched": "pass", "nothing_found": "grey", "skipped": "grey", "failed": "fault"}
_MOST_ADDRESSES = 8


def strategy_nodes(record: RunRecord, words: Words) -> list[Node]:
    """Memory and route, one card a pass of the outer loop, and what was kept."""
    passes = [_pass_card(attempt, record, words) for attempt in attempts_of(record)]
    return [
        *recall_card(record, words),
        *route_card(record, words),
        *passes,
        *_fallback(record, words),
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
    named = words("Direct answer") if direct and not rounds else words("Pass {n}", n=attempt + 1)
    head = [node("strong", "heading", named)]
    if attempt:
        head.append(node("span", "muted small", words("after a corrective rewrite")))
    parts: list[Node] = [node("div", "head", *head)]
    if rounds:
        parts.append(node("p", "query", node("span", "muted", words("Query")), rounds[0].query))
    tried = [item for item in record.tried_routes if item.attempt == attempt]
    if rounds or tried:
        over = not record.active or attempt < attempts_of(record)[-1]
        steps = _steps(rounds, tried, found=bool(drafts), over=over, record=record, words=words)
        parts.append(node("ol", "path", *steps))
    parts += [_answer(item, record, words) for item in drafts]
    return node("section", "card pass", *parts)


def _steps(
    rounds: list[Round], tried: list[TriedRoute], *, found: bool, over: bool, record: RunRecord, words: Words
) -> list[Node]:
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
        left_out = words("not needed" if found else "not reached")
        for strategy in STRATEGIES:
            if strategy in known:
                continue
            why = _unusable(strategy, record)
            facts = [chip("grey", words("⤳ skipped") if why else left_out)]
            if why:
                facts.append(node("span", "muted", words(_WHY[why])))
            lines.append(_line("grey", strategy_text(strategy, words), *facts))
    return lines


def _unusable(strategy: Strategy, record: RunRecord) -> str:
    """Why this run could not have used a strategy whose turn never came; empty where it could."""
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
        look, said = ("pass", words("✓ found what helps")) if passed else ("grey", words("– nothing passed"))
        if not passed and record.active and searched is record.rounds[-1]:
            look, said = "accent", words("… at work")
    facts = [chip(look, said)]
    details = []
    if tried is not None and tried.why:
        facts.append(node("span", "muted", _why(tried, words)))
    if searched is not None and searched.candidates:
        counts = {"found": len(searched.candidates), "kept": len(searched.kept), "passed": passed}
        where = words("round {n}", n=searched.index)
        facts.append(
            node(
                "span", "muted small num", f"{where} · {words('{found} found, {kept} kept, {passed} passed', **counts)}"
            )
        )
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
            *(() if item.section else (" ", node("span", "muted small", words("whole source")))),
            " ",
            node("span", "muted num small", probability_text(item.similarity)),
            title=item.summary,
        )
        for item in sections
    )
    return [node("p", "subhead", words("Looked inside")), node("ul", "inside", *drawn)]


def _web(searched: Round, words: Words) -> Node:
    """Addresses as plain text: no press and no preview leads out of the workbench."""
    drawn = (
        node("li", "", node("span", "", item.passage.title or item.passage.section), " ", node("code", "", address))
        for item in searched.candidates[:_MOST_ADDRESSES]
        if (address := item.passage.source)
    )
    warned = chip("warn", words("web · untrusted"), words(WEB_PASSAGE))
    return node(
        "div",
        "",
        node("p", "subhead", warned, " ", words("Results of the web: untrusted text, addresses are not links")),
        node("ul", "inside", *drawn),
    )


def _answer(draft: Draft, record: RunRecord, words: Words) -> Node:
    title = [] if draft.direct else [node("p", "subhead", words(NC_("attempt", "Its answer")))]
    return node("div", "" if draft.direct else "answered", *title, *draft_body(draft, record, words))


def _fallback(record: RunRecord, words: Words) -> list[Node]:
    if record.outcome != "fallback":
        return []
    exhausted = record.reason in ("", "strategies_exhausted")
    fact = (
        words(
            "Every strategy that could be used was tried, and no passage passed. So there is no answer, rather than "
            "an invented one."
        )
        if exhausted
        else words(
            "The run ended before a passage that passed was found: {why}. So there is no answer.",
            why=reason_text(record.reason, words),
        )
    )
    head = node("div", "head", node("strong", "heading", words("No answer")))
    return [node("section", "card", head, node("p", "", fact))]
