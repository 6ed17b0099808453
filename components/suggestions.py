"""Suggestions of an evaluator: in the language of the page, and what became of each in the answer after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from components.i18n import Words
from engine.suggestion_wording import suggestion_text
from engine.values import Draft, Suggestion

SuggestionState = Literal["addressed", "ignored", "open"]
"""``ignored``: the next answer left the sentence as it was, or the evaluator raised the same again."""


def suggestion_said(item: Suggestion, words: Words) -> str:
    """A suggestion in the language of the page where it is a built-in one, else in its model's own words."""
    key = f"suggestion.said.{item.code}"
    return words(key) if key in words else suggestion_text(item, words.language)


def suggestion_states(drafts: Sequence[Draft], index: int) -> tuple[SuggestionState, ...]:
    """One state per suggestion of the draft ``index``; ``open`` where no later answer was evaluated."""
    draft = next((item for item in drafts if item.index == index), None)
    if draft is None or draft.evaluation is None:
        return ()
    after = next((item for item in drafts if item.index > index), None)
    return tuple(_state(item, after) for item in draft.evaluation.suggestions)


def _state(item: Suggestion, after: Draft | None) -> SuggestionState:
    if after is None or after.evaluation is None:
        return "open"
    if item.quote and item.quote in after.text:
        return "ignored"
    return "ignored" if any(_same(item, later) for later in after.evaluation.suggestions) else "addressed"


def _same(item: Suggestion, later: Suggestion) -> bool:
    """Whether the evaluator raises the same again; built-in ones by code and sentence, a model's by its words."""
    if item.code or later.code:
        return (item.code, item.quote, dict(item.params)) == (later.code, later.quote, dict(later.params))
    return item.text == later.text
