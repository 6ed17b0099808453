"""The tab Rewrites: each rewrite as the difference between two queries, why it was made, and what it brought."""

from __future__ import annotations

import streamlit as st

from components.ask.rewrites import Change, corrects, issues_answered, rewrite_why, word_diff
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, fold, node
from components.common.phrases import begun, moved_text, place_text, probability_text
from components.sentences.rounds import round_names
from engine.messages import N_
from engine.model.config import BUILTIN
from engine.model.values import PassageId, Rewrite, RunRecord
from engine.model.wording import change_of, direction_of
from engine.replay.scorecard import EFFECTS, Effect, RewriteScore, scorecard

EFFECT_NAMES = {
    "helped": N_("helped"),
    "none": N_("no effect"),
    "harmed": N_("harmed"),
}

_SIGNS = {"added": "+", "removed": "−"}
_LOOKS: dict[Effect, tuple[str, str]] = {"helped": ("pass", "▲"), "none": ("grey", "="), "harmed": ("warn", "▼")}


def view(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw one card per rewrite, oldest first."""
    if not record.rewrites:
        st.caption(words("No rewrite."))
        return
    draw(history_nodes(record, words), words, key=key)


def history_nodes(record: RunRecord, words: Words) -> list[Node]:
    """One card per rewrite, oldest first."""
    scores = scorecard(record)
    first = sum(item.rewrite.initial for item in scores)
    # An initial rewrite is not counted: nothing had failed before it.
    return [_card(place, item, record, words) for place, item in enumerate(scores, 1 - first)]


def _card(place: int, score: RewriteScore, record: RunRecord, words: Words) -> Node:
    rewrite = score.rewrite
    effect = _effect(score, record, words)
    title = node("strong", "heading", _title(place, rewrite, record, words))
    parts: list[Node | str] = [node("div", "head", title, *([effect] if effect else []), *_flags(rewrite, words))]
    if mended := issues_answered(rewrite, record, words):
        parts.append(_chips(N_("To mend"), [chip("warn", f"! {text}") for text in mended], words))
    changes = word_diff(rewrite.query, rewrite.rewritten_query)
    parts.append(node("p", "diff", *(_change(item) for item in changes)))
    parts.append(node("p", "muted small", rewrite_why(rewrite, record, words)))
    if not rewrite.initial:
        # Nothing was searched before an initial one: there is nothing to measure it against.
        parts.append(node("div", "counts num", *_measured(score, record, words)))
    return node("section", "card", *parts, _details(place, score, record, words))


def _title(place: int, rewrite: Rewrite, record: RunRecord, words: Words) -> str:
    if rewrite.initial:
        return words("Before the first search")
    named = "" if corrects(record) else round_names(record, words).get(rewrite.round + 1, "")
    return begun(named or words("rewrite {n}", n=place))


def _flags(rewrite: Rewrite, words: Words) -> list[Node]:
    flags = []
    if rewrite.repeated:
        flags.append(chip("warn", f"↺ {words('repeated')}"))
    if rewrite.by == BUILTIN:
        why = words("Every query that it proposed had been tried already.")
        flags.append(chip("warn", words("built-in rewriter"), why))
    if rewrite.failed:
        flags.append(chip("fault", f"✗ {words('rewriter failed')}"))
    return flags


def _effect(score: RewriteScore, record: RunRecord, words: Words) -> Node | None:
    if score.rewrite.failed or score.rewrite.repeated:
        return None
    scores = _quality(score.rewrite, record)
    if scores is not None:
        effect: Effect | None = EFFECTS[direction_of(*scores)]
        rule = ""
    else:
        effect = score.effect
        rule = words("Helped: a new passage passed, or the pass rate rose. Harmed: neither, and it fell.")
    if effect is None:
        return None
    look, sign = _LOOKS[effect]
    return chip(look, f"{sign} {words(EFFECT_NAMES[effect])}", rule)


def _measured(score: RewriteScore, record: RunRecord, words: Words) -> list[Node]:
    """What the next round was against the one before, name and course."""
    courses = [
        (N_("Quality score"), _quality(score.rewrite, record)),
        (N_("Pass rate"), score.pass_rate),
        (N_("Best similarity"), score.similarity),
    ]
    return [
        node("span", "", node("span", "muted", words(label)), f" {_course(values)}")
        for label, values in courses
        if values is not None
    ]


def _details(place: int, score: RewriteScore, record: RunRecord, words: Words) -> Node:
    """Terms, keywords, refused proposals and passages that came and went, folded."""
    rewrite = score.rewrite
    terms = (("✓", score.terms_kept), ("−", score.terms_lost), ("+", score.terms_added))
    rows = [
        _chips(N_("Terms"), [chip("grey", f"{sign} {term}") for sign, found in terms for term in found], words),
        _chips(N_("Keywords"), [chip("grey", item) for item in rewrite.keywords], words),
        _chips(N_("Already tried"), [chip("grey", f"✗ {item}") for item in rewrite.refused], words),
    ]
    if not rewrite.initial:
        places = {name: place_text(item.source, item.section, words) for name, item in record.passages.items()}
        rows.append(_passages(N_("Passages gained"), score.gained, score.gained_passing, places, words))
        rows.append(_passages(N_("Passages lost"), score.lost, score.lost_passing, places, words))
        shared = words("Share of character pairs that differ: 0 is the same wording, 1 nothing in common.")
        distance = f"{words('Distance from the question')} {probability_text(score.distance)}"
        rows.append(node("p", "muted small num", distance, title=shared))
    return fold(f"rewrite{place}", words("Details"), *rows)


def _chips(label: str, chips: list[Node], words: Words) -> Node | str:
    return node("div", "chips", node("span", "muted small", words(label)), *chips) if chips else ""


def _passages(
    label: str, moved: tuple[PassageId, ...], passing: int, places: dict[PassageId, str], words: Words
) -> Node:
    counted = words("{n} ({passed} pass)", n=len(moved), passed=passing) if moved else "0"
    named = ", ".join(places.get(item, item) for item in moved)
    return node("p", "small", node("span", "muted", f"{words(label)} {counted} "), named)


def _quality(rewrite: Rewrite, record: RunRecord) -> tuple[float, float] | None:
    """The score that routes, before and after; None where one of the two rounds was not checked."""
    scores = record.quality_scores
    before, after = scores.get(rewrite.round), scores.get(rewrite.round + 1)
    return None if before is None or after is None else (before, after)


def _course(values: tuple[float, float]) -> str:
    change = change_of(*values)
    return f"{change.course} {moved_text(change)}"


def _change(change: Change) -> Node:
    if change.kind == "same":
        return node("span", "", change.text)
    sign = node("span", "sign", _SIGNS[change.kind], aria_hidden="true")
    return node("ins" if change.kind == "added" else "del", "", sign, change.text)
