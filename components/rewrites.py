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
from engine.scorecard import Effect, RewriteScore, scorecard
from engine.values import PassageId, RunRecord

_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W\u3400-\u9fff\uf900-\ufaff]+|\s+|.", re.DOTALL)
_SIGNS = {"added": "+", "removed": "−"}
_LOOKS: dict[Effect, tuple[str, str]] = {"helped": ("pass", "▲"), "none": ("grey", "="), "harmed": ("warn", "▼")}


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
    draw([_card(place, item, record, words) for place, item in enumerate(scorecard(record), 1)], words, key=key)


def _card(place: int, score: RewriteScore, record: RunRecord, words: Words) -> Node:
    rewrite = score.rewrite
    flags = []
    if rewrite.repeated:
        flags.append(chip("warn", f"↺ {words('rewrite.repeated')}", words("rewrite.repeated.why")))
    if rewrite.failed:
        flags.append(chip("fault", f"✗ {words('rewrite.failed')}"))
    effect = _effect(score, words)
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
    parts.append(_measures(score, record, words))
    parts += _terms(score, words)
    return node("section", "card", *parts)


def _effect(score: RewriteScore, words: Words) -> Node | None:
    if score.effect is None or score.rewrite.failed or score.rewrite.repeated:
        return None
    look, sign = _LOOKS[score.effect]
    return chip(look, f"{sign} {words(f'score.{score.effect}')}", words("score.rule"))


def _measures(score: RewriteScore, record: RunRecord, words: Words) -> Node:
    """Pass rate, best similarity, passages gained and lost, distance: label and value, side by side."""
    places = {
        item.passage.id: f"{item.passage.source} § {item.passage.section}".removesuffix(" § ")
        for current in record.rounds
        for item in current.candidates
    }
    measures = (
        ("score.rate", _course(score.pass_rate), ""),
        ("score.similarity", _course(score.similarity), ""),
        ("score.gained", _counted(score.gained, score.gained_passing, words), _named(score.gained, places)),
        ("score.lost", _counted(score.lost, score.lost_passing, words), _named(score.lost, places)),
        ("score.distance", probability_text(score.distance), words("score.distance.help")),
    )
    cells = (
        node("div", "measure", node("span", "muted small", words(key)), node("strong", "num", value), title=title)
        for key, value, title in measures
    )
    return node("div", "measures", *cells)


def _terms(score: RewriteScore, words: Words) -> list[Node]:
    groups = (
        ("score.kept", "pass", "✓", score.terms_kept),
        ("score.dropped", "warn", "−", score.terms_lost),
        ("score.added", "accent", "+", score.terms_added),
    )
    return [
        node("div", "chips", node("span", "muted small", words(key)), *(chip(look, f"{sign} {term}") for term in found))
        for key, look, sign, found in groups
        if found
    ]


def _course(values: tuple[float, float] | None) -> str:
    if values is None:
        return "–"
    before, after = values
    change = after - before
    sign = "=" if abs(change) < 0.005 else f"▲ {change:.2f}" if change > 0 else f"▼ {-change:.2f}"
    return f"{probability_text(before)} → {probability_text(after)}  {sign}"


def _counted(moved: tuple[PassageId, ...], passing: int, words: Words) -> str:
    return words("score.of_which_pass", n=len(moved), passed=passing) if moved else "0"


def _named(moved: tuple[PassageId, ...], places: dict[PassageId, str]) -> str:
    return "\n".join(places.get(item, item) for item in moved)


def _change(change: Change) -> Node:
    if change.kind == "same":
        return node("span", "", change.text)
    sign = node("span", "sign", _SIGNS[change.kind], aria_hidden="true")
    return node("ins" if change.kind == "added" else "del", "", sign, change.text)
