"""The rewrite history: what each rewrite changed in the query, why, and what was refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node
from components.common.outcomes import round_text
from components.common.phrases import moved_text, place_text, probability_text, suggestion_said
from engine.builtin.dual_rewriter import MISSED
from engine.flow import workflow
from engine.messages import N_, NC_
from engine.model.config import BUILTIN
from engine.model.values import Draft, PassageId, Rewrite, RunRecord
from engine.model.wording import change_of, direction_of, named_in
from engine.replay.scorecard import EFFECTS, Effect, RewriteScore, scorecard

ISSUE_NAMES = {
    "low_coverage": N_("too little from the study log"),
    "low_relevance": N_("passages not relevant enough"),
    "single_source": N_("one kind of source only"),
    "too_few": N_("too few passages"),
    "no_passages": N_("no passages at all"),
}

WISH_NAMES = {
    "history": N_("asks for the history of weak points"),
    "several": N_("asks for several kinds of sources"),
    "wider": N_("asks for a wider scope"),
    "sharper": N_("searches with the words: {keywords}"),
}

_WHY = {
    "feedback": N_("Terms from the nearest sentences of the passages that did not pass were added: {named}."),
    "keywords": N_("Question words and filler were taken out, so that only the key terms are searched: {named}."),
    "synonyms": N_("The passages may use other words for the same, so these were added: {named}."),
    "broader": N_("To find more, only these terms of the question are searched: {named}."),
    "narrower": N_("The query was narrowed with: {named}."),
    "split": N_("The question has several parts; this query asks for one of them: {named}."),
    "emphasise": N_("Some passages that did not pass lack these terms of the question, so they come first: {named}."),
    "missed": N_("The answer left these terms of the question out, so they come first now: {named}."),
    "qualify": NC_("rewrite", "The query was narrowed with: {named}."),
    "by_hand": NC_("rewrite", "Written by hand"),
}

EFFECT_NAMES = {
    "helped": N_("helped"),
    "none": N_("no effect"),
    "harmed": N_("harmed"),
}

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


def new_words(old: str, new: str) -> tuple[Node | str, ...]:
    """The new text with what the old one lacks marked as added."""
    changes = (item for item in word_diff(old, new) if item.kind != "removed")
    return tuple(node("ins", "", item.text) if item.kind == "added" else item.text for item in changes)


def old_words(old: str, new: str) -> tuple[Node | str, ...]:
    """The old text with what the new one lacks marked as removed."""
    changes = (item for item in word_diff(old, new) if item.kind != "added")
    return tuple(node("del", "", item.text) if item.kind == "removed" else item.text for item in changes)


def rewrite_history(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw one card per rewrite, oldest first."""
    if not record.rewrites:
        st.caption(
            words("No rewrite was made: the first round decided the run." if record.outcome else "No rewrite yet.")
        )
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
    flags = []
    if rewrite.repeated:
        flags.append(
            chip(
                "warn",
                f"↺ {words('repeated')}",
                words("Even the second proposal repeated a query already tried; nothing was searched again."),
            )
        )
    if rewrite.by == BUILTIN:
        flags.append(
            chip(
                "warn",
                words("built-in rewriter"),
                words(
                    "The model proposed a query that was tried already, twice; the built-in rewriter proposed this "
                    "one instead."
                ),
            )
        )
    if rewrite.failed:
        flags.append(chip("fault", f"✗ {words('rewriter failed')}"))
    effect = _effect(score, record, words)
    parts = [node("div", "head", *_title(place, rewrite, record, words), *flags, *((effect,) if effect else ()))]
    mended = issues_answered(rewrite, record, words)
    if mended:
        title = node("span", "muted small", words("To mend"))
        parts.append(node("div", "chips", title, *(chip("warn", f"! {text}") for text in mended)))
    if rewrite.rewritten_query != rewrite.query:
        parts.append(node("p", "diff", *(_change(item) for item in word_diff(rewrite.query, rewrite.rewritten_query))))
        parts.append(node("p", "query", node("span", "muted", words("New query")), rewrite.rewritten_query))
    else:
        parts.append(node("p", "query", node("span", "muted", words("Query kept")), rewrite.query))
    parts.append(node("p", "muted", rewrite_why(rewrite, record, words)))
    if rewrite.keywords:
        keywords = (chip("plain", keyword) for keyword in rewrite.keywords)
        parts.append(node("div", "chips", node("span", "muted small", words("Keywords")), *keywords))
    if rewrite.refused:
        refused = (chip("grey", f"✗ {proposal}") for proposal in rewrite.refused)
        parts.append(node("div", "chips", node("span", "muted small", words("Refused, tried before")), *refused))
    if not rewrite.initial:
        # Nothing was searched before an initial one: there is nothing to measure it against.
        parts.append(_measures(score, record, words))
    if rewrite.rewritten_query != rewrite.query:
        parts += _terms(score, words)
    return node("section", "card", *parts)


def issues_answered(rewrite: Rewrite, record: RunRecord, words: Words) -> tuple[str, ...]:
    """List what a rewrite was meant to fix: issues of its round's quality check, or suggestions about the answer."""
    if rewrite.initial:
        return ()
    before = next((item for item in record.rounds if item.index == rewrite.round), None)
    if before is not None and before.quality is not None:
        # History that the collection does not have is not asked for again.
        lacks = before.routing is not None and "temporal" in before.routing.missing
        codes = (issue.code for issue in before.quality.issues if not (lacks and issue.code == "low_coverage"))
        return tuple(words(ISSUE_NAMES[code]) for code in codes)
    draft = _rejected(rewrite, record)
    if draft is None or draft.evaluation is None:
        return ()
    return tuple(suggestion_said(item, words) for item in draft.evaluation.suggestions)


def _rejected(rewrite: Rewrite, record: RunRecord) -> Draft | None:
    """The answer whose evaluation led to a corrective rewrite: corrections are counted as answers are rejected."""
    corrections = [item for item in record.rewrites if not item.initial]
    rejected = [item for item in record.drafts if item.evaluation is not None and not item.evaluation.passed]
    place = corrections.index(rewrite)
    return rejected[place] if _corrects(record) and place < len(rejected) else None


def _corrects(record: RunRecord) -> bool:
    """Return whether queries are rewritten because an answer was rejected."""
    return workflow(record.workflow).flow.mended_by == "rewrite"


def _title(place: int, rewrite: Rewrite, record: RunRecord, words: Words) -> tuple[Node, Node]:
    if rewrite.initial:
        named, between = words("Initial rewrite"), words("before the first search")
    else:
        named = words("Corrective rewrite {n}" if _corrects(record) else "Rewrite {n}", n=place)
        between = words("before the first search")
        if rewrite.round >= 0:
            between = " → ".join(round_text(at, words) for at in (rewrite.round, rewrite.round + 1))
    return node("strong", "heading", named), node("span", "muted small", between)


def rewrite_why(rewrite: Rewrite, record: RunRecord, words: Words) -> str:
    """Explain a rewrite: a built-in rewriter's reason in the language of the page, a model's reason verbatim."""
    if rewrite.failed:
        return words("The old query stands. {fact}", fact=rewrite.reason)
    if rewrite.repeated:
        return words("Every query that it proposed had been tried already.")
    if not record.config.models.rewriter.built_in and rewrite.by != BUILTIN:
        return rewrite.reason or words("The model gave no reason.")
    # The keywords are those of the whole query: what is said of some of them stands in the reason alone.
    named = words(", ").join(named_in(rewrite.reason))
    if rewrite.initial:
        return _initial_why(rewrite, named, words)
    codes = rewrite.strategy.split("+")
    if all(code in WISH_NAMES for code in codes):
        keywords = words(", ").join(rewrite.keywords)
        said = (words(WISH_NAMES[code], keywords=keywords) for code in codes)
        return words("The query now {wishes}.", wishes=words("; ").join(said))
    missed = rewrite.reason.startswith(MISSED.partition("{")[0])
    why = "missed" if missed else rewrite.strategy
    return words(_WHY[why], named=named) if named and why in _WHY else rewrite.reason


def _initial_why(rewrite: Rewrite, named: str, words: Words) -> str:
    """Describe the changes before the first search: small talk removed, other names added, or none."""
    asked = rewrite.query.strip()
    searched = rewrite.rewritten_query.removesuffix(" ".join(named_in(rewrite.reason))).strip()
    if searched not in asked:
        return rewrite.reason
    cleared = (
        ""
        if searched == asked
        else words("Greetings and thanks were taken out, so that only the question is searched.")
    )
    added = (
        words("Sources may use other words for the same, so these are searched too: {named}.", named=named)
        if named
        else ""
    )
    if cleared and added:
        return words("{first} {second}", first=cleared, second=added)
    return cleared or added or words("The question is searched as it was asked.")


def _effect(score: RewriteScore, record: RunRecord, words: Words) -> Node | None:
    if score.rewrite.failed or score.rewrite.repeated:
        return None
    scores = _quality(score.rewrite, record)
    if scores is not None:
        effect: Effect | None = EFFECTS[direction_of(*scores)]
        rule = words("Helped: the quality score that decides rose with the next round; harmed: it fell.")
    else:
        effect = score.effect
        rule = words(
            "Helped: a passage passes that had passed in no round before, or the pass rate rose. Harmed: neither, and "
            "the pass rate fell."
        )
    if effect is None:
        return None
    look, sign = _LOOKS[effect]
    return chip(look, f"{sign} {words(EFFECT_NAMES[effect])}", rule)


def _measures(score: RewriteScore, record: RunRecord, words: Words) -> Node:
    """Pass rate, best similarity, passages gained and lost, distance: label and value, side by side."""
    places = {
        item.passage.id: place_text(item.passage.source, item.passage.section, words)
        for current in record.rounds
        for item in current.candidates
    }
    measures = (
        *(((N_("Quality score"), _course(_quality(score.rewrite, record)), ""),) if record.quality_scores else ()),
        (N_("Pass rate"), _course(score.pass_rate), ""),
        (N_("Best similarity"), _course(score.similarity), ""),
        (N_("Passages gained"), _counted(score.gained, score.gained_passing, words), _named(score.gained, places)),
        (N_("Passages lost"), _counted(score.lost, score.lost_passing, words), _named(score.lost, places)),
        (
            N_("Distance from the question"),
            probability_text(score.distance),
            words(
                "Share of character pairs that the new query and the original question do not have in common: 0 is "
                "the same wording, 1 nothing in common."
            ),
        ),
    )
    cells = (
        node("div", "measure", node("span", "muted small", words(label)), node("strong", "num", value), title=title)
        for label, value, title in measures
    )
    return node("div", "measures", *cells)


def _quality(rewrite: Rewrite, record: RunRecord) -> tuple[float, float] | None:
    """The score that routes, before and after; None where one of the two rounds was not checked."""
    scores = record.quality_scores
    before, after = scores.get(rewrite.round), scores.get(rewrite.round + 1)
    return None if before is None or after is None else (before, after)


def _terms(score: RewriteScore, words: Words) -> list[Node]:
    groups = (
        (N_("Terms kept"), "pass", "✓", score.terms_kept),
        (N_("Terms lost"), "warn", "−", score.terms_lost),
        (N_("Terms added"), "accent", "+", score.terms_added),
    )
    return [
        node(
            "div", "chips", node("span", "muted small", words(label)), *(chip(look, f"{sign} {term}") for term in found)
        )
        for label, look, sign, found in groups
        if found
    ]


def _course(values: tuple[float, float] | None) -> str:
    if values is None:
        return "–"
    change = change_of(*values)
    return f"{change.course}  {moved_text(change)}"


def _counted(moved: tuple[PassageId, ...], passing: int, words: Words) -> str:
    return words("{n} ({passed} pass)", n=len(moved), passed=passing) if moved else "0"


def _named(moved: tuple[PassageId, ...], places: dict[PassageId, str]) -> str:
    return "\n".join(places.get(item, item) for item in moved)


def _change(change: Change) -> Node:
    if change.kind == "same":
        return node("span", "", change.text)
    sign = node("span", "sign", _SIGNS[change.kind], aria_hidden="true")
    return node("ins" if change.kind == "added" else "del", "", sign, change.text)
