"""What a rewrite changed in the query, why, and what it was to mend."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.phrases import suggestion_said
from engine.builtin.dual_rewriter import MISSED
from engine.flow import workflow
from engine.messages import N_, NC_
from engine.model.config import BUILTIN
from engine.model.values import Draft, Rewrite, RunRecord
from engine.model.wording import named_in

ISSUE_NAMES = {
    "low_coverage": N_("too little from the study log"),
    "low_relevance": N_("not relevant enough"),
    "single_source": N_("one kind of source only"),
    "too_few": N_("too few passages"),
    "no_passages": N_("no passage was similar enough"),
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
    "qualify": N_("The query was narrowed with: {named}."),
    "by_hand": NC_("rewrite", "Written by hand"),
}

_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W\u3400-\u9fff\uf900-\ufaff]+|\s+|.", re.DOTALL)


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
    return rejected[place] if corrects(record) and place < len(rejected) else None


def corrects(record: RunRecord) -> bool:
    """Return whether queries are rewritten because an answer was rejected."""
    return workflow(record.workflow).flow.mended_by == "rewrite"


def rewrite_why(rewrite: Rewrite, record: RunRecord, words: Words) -> str:
    """Explain a rewrite: a built-in rewriter's reason in the language of the page, a model's reason verbatim."""
    if rewrite.failed:
        return words("The old query stands. {fact}", fact=rewrite.reason)
    if rewrite.repeated:
        return words("Every query that it proposed had been tried already.")
    if rewrite.part and rewrite.rewritten_query == rewrite.part:
        return words("This part of the question is still open, so it is searched as it is.")
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
        return words.joined((cleared, added))
    return cleared or added or words("The question is searched as it was asked.")
