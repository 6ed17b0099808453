"""Figures as text, with the digits that make them true, and what a built-in evaluator's suggestions say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engine.messages import N_
from engine.model.values import EvaluationDimension, Suggestion

_Written = Literal["en", "zh"]

DIMENSION_OF: Mapping[str, EvaluationDimension] = {
    "no_answer": "reasonableness",
    "off_topic": "reasonableness",
    "other_pole": "reasonableness",
    "not_denied": "reasonableness",
    "off_point": "reasonableness",
    "part_open": "reasonableness",
    "kind_missing": "reasonableness",
    "contradiction": "reasonableness",
    "repeated": "reasonableness",
    "no_structure": "reasonableness",
    "invented": "reasonableness",
    "uncited": "evidence_marking",
    "unsupported": "evidence_marking",
    "not_shown": "evidence_marking",
    "dead_marker": "evidence_marking",
    "part_unsaid": "evidence_marking",
    "kind_unsaid": "evidence_marking",
    "terms_unsaid": "evidence_marking",
}
"""Every code with its dimension (AE-02); ``not_denied`` and ``repeated`` stand in older records alone."""

SUGGESTIONS: Mapping[str, str] = {
    "no_answer": N_("Answer the question: so far the text makes no statement about it."),
    "off_topic": N_("Answer what was asked: nothing is said about {terms}."),
    "other_pole": N_("Answer what was asked: the question is about “{terms}”, and the answer tells of “{other}”."),
    "not_denied": N_("Answer what was asked: the question is about what is not so, and the answer tells what is."),
    "off_point": N_("Leave this sentence out, or say what it has to do with the question."),
    "part_open": N_("Answer this part of the question too: {part}"),
    "part_open+marker": N_("Answer this part of the question too: {part} Passage [{marker}] speaks of it."),
    "kind_missing": N_("Give the {kind} that the question asks for."),
    "kind_missing+marker": N_("Give the {kind} that the question asks for; passage [{marker}] has one."),
    "contradiction": N_("Say that the sources differ here, or keep one of the two; the other sentence is: {other}"),
    "repeated": N_("Leave this sentence out: it repeats what was said before: {other}"),
    "no_structure": N_("Break the answer into paragraphs or a list: {sentences} sentences stand in one block."),
    "invented": N_("Leave this sentence out: no passage says it."),
    "uncited": N_("Name the source of this sentence; if no passage says it, leave it out."),
    "uncited+marker": N_("Name the source of this sentence; passage [{marker}] says it."),
    "unsupported": N_("Passage [{marker}] does not say this; cite the right one, or leave the sentence out."),
    "unsupported+better": N_("Passage [{marker}] does not say this; cite [{better}], which does."),
    "not_shown": N_("Leave this sentence out: what is shown of passage [{marker}] does not say it, nor does it help."),
    "dead_marker": N_("Correct {markers}: no passage has that number."),
    "part_unsaid": N_("Say plainly that the passages leave this part of the question open: {part}"),
    "kind_unsaid": N_("Say plainly that the passages do not give the {kind} that the question asks for."),
    "terms_unsaid": N_("Say plainly that the passages do not mention {terms}."),
}
"""A sentence by code; one with ``+`` is used where the suggestion has that parameter."""

KINDS: Mapping[_Written, Mapping[str, str]] = {
    "en": {"date": "date", "number": "number", "person": "name of the person", "place": "place"},
    "zh": {"date": "时间", "number": "数字", "person": "人名", "place": "地点"},
}
_MOST_DIGITS = 12
NOTICEABLE = 0.0005
"""A score, rate or similarity that moved by less has not moved."""


def suggested(code: str, quote: str = "", **params: str) -> Suggestion:
    """A suggestion with its English text; the quote must stand in the answer word for word."""
    text = filled(_template(code, params), params, "en")
    return Suggestion(DIMENSION_OF[code], text, code=code, params=params, quote=quote)


def template_of(suggestion: Suggestion) -> str:
    """Return the message of a built-in suggestion with its places unfilled; empty for a model's own words."""
    return _template(suggestion.code, suggestion.params) if suggestion.code in SUGGESTIONS else ""


def filled(template: str, params: Mapping[str, str], language: _Written) -> str:
    """Fill the places of a message; the kind of thing that is asked for is named in the message's language."""
    kind = KINDS[language].get(params.get("kind", ""), params.get("kind", ""))
    try:
        return template.format_map({**params, "kind": kind})
    except KeyError:
        # A record may have come from a version with other parameters.
        return template


def _template(code: str, params: Mapping[str, str]) -> str:
    return next(
        (SUGGESTIONS[f"{code}+{name}"] for name in params if f"{code}+{name}" in SUGGESTIONS), SUGGESTIONS[code]
    )


@dataclass(frozen=True, slots=True)
class Change:
    """Two values and the sign between them as text, with the digits that make it true: never ``0.70 → 0.69, 0.00``."""

    before: str
    after: str
    size: str
    """Without a sign."""
    direction: Literal[-1, 0, 1]

    @property
    def course(self) -> str:
        return f"{self.before} → {self.after}"


def direction_of(before: float, after: float) -> Literal[-1, 0, 1]:
    """Return whether a value rose (1), fell (-1) or stayed: the one rule for figures, chips and scorecards."""
    moved = round(after - before, 9)
    return 0 if abs(moved) < NOTICEABLE else 1 if moved > 0 else -1


def change_of(before: float, after: float) -> Change:
    """The fewest decimals, two at least, in which both ends look as different as they are, and so does the size."""
    direction = direction_of(before, after)
    for digits in range(2, _MOST_DIGITS):
        old, new = f"{before:.{digits}f}", f"{after:.{digits}f}"
        size = f"{abs(after - before) if direction else 0:.{digits}f}"
        if (old != new and float(size) > 0) if direction else old == new:
            return Change(old, new, size, direction)
    return Change(f"{before:.2f}", f"{before:.2f}", "0.00", 0)


def distinct_texts(value: float, bound: float) -> tuple[str, str]:
    """Format two numbers with as many decimals as it takes to tell them apart, two at least."""
    for digits in range(2, _MOST_DIGITS):
        left, right = f"{value:.{digits}f}", f"{bound:.{digits}f}"
        if left != right or round(value - bound, 9) == 0:
            break
    return left, right


def named_in(reason: str) -> tuple[str, ...]:
    """The terms that the reason of a built-in rewrite names, ``… were added: glucose, fasting.``; none in others."""
    before, _, named = reason.rpartition(": ")
    return tuple(named.removesuffix(".").split(", ")) if before else ()
