"""Fate of each suggestion of an evaluator: read from the next answer and its evaluation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from engine.model.values import Draft, Suggestion

SuggestionState = Literal["addressed", "ignored", "open"]
"""``ignored``: the evaluator raised the same again, or the sentence that a model criticised stands as before;
``open``: no later answer was evaluated."""

_MARKER = re.compile(r"\[\d{1,3}\]")
_SIMILAR = 0.6
"""Share of characters in common from which two sentences, or two suggestions, are taken for the same one."""
_ABOUT_PASSAGES = frozenset({"marker", "better"})
"""Parameters that may differ although the same thing is criticised."""


def suggestion_states(drafts: Sequence[Draft], index: int) -> tuple[SuggestionState, ...]:
    """One state per suggestion of the draft ``index``, in their order; none where it was not evaluated."""
    draft = next((item for item in drafts if item.index == index), None)
    if draft is None or draft.evaluation is None:
        return ()
    after = next((item for item in drafts if item.index == index + 1), None)
    return tuple(_state(item, after) for item in draft.evaluation.suggestions)


def _state(item: Suggestion, after: Draft | None) -> SuggestionState:
    if after is None or after.evaluation is None:
        return "open"
    if any(_same(item, later) for later in after.evaluation.suggestions):
        return "ignored"
    # A built-in evaluator would raise the same again; a model may have lost sight of it.
    unchanged = not item.code and bool(item.quote) and item.quote in after.text
    return "ignored" if unchanged else "addressed"


def _same(item: Suggestion, later: Suggestion) -> bool:
    """Return whether a later suggestion is about the same thing, even if the sentence has changed meanwhile."""
    if (item.code, item.dimension) != (later.code, later.dimension) or bool(item.quote) != bool(later.quote):
        return False
    if item.quote:
        return _similar(_MARKER.sub("", item.quote), _MARKER.sub("", later.quote))
    if item.code:
        return _subject(item) == _subject(later)
    return _similar(item.text, later.text)


def _subject(item: Suggestion) -> dict[str, str]:
    return {name: value for name, value in item.params.items() if name not in _ABOUT_PASSAGES}


def _similar(first: str, second: str) -> bool:
    return first == second or SequenceMatcher(None, first, second, autojunk=False).ratio() >= _SIMILAR
