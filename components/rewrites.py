"""The rewrite history: what each rewrite changed in the query, why, and what was refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import streamlit as st

from components.i18n import Words
from components.markup import Node, chip, draw, node
from components.phrases import probability_text, rewrite_reason
from engine.values import Rewrite, RunRecord

_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W\u3400-\u9fff\uf900-\ufaff]+|\s+|.", re.DOTALL)
_SIGNS = {"added": "+", "removed": "−"}


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch that both queries have, or only the new one, or only the old one."""

    kind: Literal["same", "added", "removed"]
    text: str


def word_diff(old: str, new: str) -> tuple[Change, ...]:
    """Old against new by words, by single characters in Chinese; without the added ones the texts join to ``old``."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    changes: list[Change] = []
    # Spaces are in every query: matching on them alone would cut a new sentence into single words.
    matcher = SequenceMatcher(isjunk=str.isspace, a=before, b=after, autojunk=False)
    for code, a0, a1, b0, b1 in matcher.get_opcodes():
        if code == "equal":
            changes.append(Change("same", "".join(before[a0:a1])))
            continue
        if a1 > a0:
            changes.append(Change("removed", "".join(before[a0:a1])))
        if b1 > b0:
            changes.append(Change("added", "".join(after[b0:b1])))
    return tuple(changes)


def rewrite_history(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw one card per rewrite, oldest first."""
    if not record.rewrites:
        st.caption(words("rewrite.none" if record.outcome else "rewrite.empty"))
        return
    draw([_card(place, item, record, words) for place, item in enumerate(record.rewrites, 1)], words, key=key)


def _card(place: int, rewrite: Rewrite, record: RunRecord, words: Words) -> Node:
    flags = []
    if rewrite.repeated:
        flags.append(chip("warn", f"↺ {words('rewrite.repeated')}", words("rewrite.repeated.why")))
    if rewrite.failed:
        flags.append(chip("fault", f"✗ {words('rewrite.failed')}"))
    effect = _effect(rewrite, record, words)
    parts = [
        node(
            "div",
            "head",
            node("strong", "heading", words("rewrite.nth", n=place)),
            node("span", "muted small", words("rewrite.between", before=rewrite.round, after=rewrite.round + 1)),
            *flags,
            *((effect,) if effect else ()),
        )
    ]
    if rewrite.rewritten_query != rewrite.query:
        parts.append(node("p", "diff", *(_change(item) for item in word_diff(rewrite.query, rewrite.rewritten_query))))
        parts.append(node("p", "query", node("span", "muted", words("rewrite.new")), rewrite.rewritten_query))
    else:
        parts.append(node("p", "query", node("span", "muted", words("rewrite.kept")), rewrite.query))
    parts.append(node("p", "muted", rewrite_reason(rewrite, words)))
    if rewrite.keywords:
        keywords = (chip("plain", keyword) for keyword in rewrite.keywords)
        parts.append(node("div", "chips", node("span", "muted small", words("rewrite.keywords")), *keywords))
    if rewrite.refused:
        refused = (chip("grey", f"✗ {proposal}") for proposal in rewrite.refused)
        parts.append(node("div", "chips", node("span", "muted small", words("rewrite.refused")), *refused))
    return node("section", "card", *parts)


def _effect(rewrite: Rewrite, record: RunRecord, words: Words) -> Node | None:
    rates = {decision.round: decision.pass_rate for decision in record.decisions}
    if rewrite.failed or rewrite.repeated or rewrite.round + 1 not in rates or rewrite.round not in rates:
        return None
    before, after = rates[rewrite.round], rates[rewrite.round + 1]
    course = f"{probability_text(before)} → {probability_text(after)}"
    key = "same" if abs(after - before) < 0.005 else "helped" if after > before else "hurt"
    look = {"same": "grey", "helped": "pass", "hurt": "warn"}[key]
    sign = {"same": "=", "helped": "▲", "hurt": "▼"}[key]
    return chip(look, f"{sign} {words('rewrite.rate', course=course)}")


def _change(change: Change) -> Node:
    if change.kind == "same":
        return node("span", "", change.text)
    sign = node("span", "sign", _SIGNS[change.kind], aria_hidden="true")
    return node("ins" if change.kind == "added" else "del", "", sign, change.text)
