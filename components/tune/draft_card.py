"""A drafted question with what it was made from, for somebody to accept or refuse."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node
from engine.drafting.values import Draft, Rule
from engine.messages import N_, NC_

RULE_NAMES: dict[Rule, str] = {
    "definition": NC_("draft", "definition"),
    "figure": NC_("draft", "figure or default"),
    "heading": NC_("draft", "heading"),
    "cell": NC_("draft", "table cell"),
    "entry": NC_("draft", "entry of a reference"),
    "way": NC_("draft", "how something is done"),
    "condition": NC_("draft", "what happens when"),
    "near_miss": NC_("draft", "nothing should answer it"),
    "chat": NC_("draft", "written by a model"),
}
_LONGEST = 1600
_ALL_COPIED = 0.99


def draft_evidence(draft: Draft, section: str, text: str, words: Words, *, key: str) -> None:
    """The passage that answers, with the words the question was made from marked, or the nearest one to a near miss."""
    parts = [node("div", "muted small", f"{draft.source} · {section}" if section else draft.source)]
    if draft.answerable:
        parts.append(node("div", "seen plain-text", *_marked(text, draft.quote)))
    else:
        swapped, for_what = draft.swapped[1], draft.swapped[0]
        told = words(
            "“{new}” was put for “{old}”. No passage has it together with most of the other words; this one comes "
            "nearest. Refuse the draft if this or another source answers it.",
            new=swapped,
            old=for_what,
        )
        parts = [node("p", "", told), *parts, node("div", "seen plain-text", *_marked(text, swapped))]
    draw((node("section", "card", *parts),), words, key=key)


def draft_facts(draft: Draft, words: Words, *, key: str) -> None:
    """What made the draft, and how much of its wording it took from the passage."""
    look = "warn" if not draft.answerable else "accent"
    parts = [chip(look, words(RULE_NAMES[draft.rule]))]
    if draft.by:
        parts.append(chip("plain", draft.by))
    if draft.answerable:
        parts.append(node("span", "muted small", wording_text(draft, words)))
    draw((node("div", "head", *parts),), words, key=key)


def wording_text(draft: Draft, words: Words) -> str:
    """How much of a question's wording its passage has, in one sentence."""
    unit = (
        words.count("longest stretch in common: 1 character", "longest stretch in common: {n} characters", draft.run)
        if draft.language == "zh"
        else words.count("longest stretch in common: 1 word", "longest stretch in common: {n} words", draft.run)
    )
    if draft.shared >= _ALL_COPIED:
        return words("All of its content words stand in the passage too; {unit}.", unit=unit)
    return words(
        "{percent} % of its content words stand in the passage too; {unit}.",
        percent=round(100 * draft.shared),
        unit=unit,
    )


def _marked(text: str, quote: str) -> list[Node | str]:
    """The passage around a quotation, which is marked where it stands word for word."""
    at = text.find(quote) if quote else -1
    if at < 0:
        return [text[:_LONGEST] + ("…" if len(text) > _LONGEST else "")]
    start = max(0, at - _LONGEST // 3)
    end = min(len(text), at + len(quote) + _LONGEST // 2)
    before, after = text[start:at], text[at + len(quote) : end]
    return [
        ("…" if start else "") + before,
        node("mark", "", quote),
        after + ("…" if end < len(text) else ""),
    ]


STAGES: dict[str, str] = {
    "reading": N_("reading passages"),
    "writing": N_("a model writes"),
}
"""What is done while questions are drafted."""
