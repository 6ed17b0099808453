"""Suggestions of an evaluator in the language of the page."""

from __future__ import annotations

from components.common.i18n import Words
from engine.model.suggestion_wording import filled, template_of
from engine.model.values import Suggestion


def suggestion_said(item: Suggestion, words: Words) -> str:
    """A suggestion in the language of the page where it is a built-in one, else in its model's own words."""
    if item.code == "off":
        return words("The answer does not solve the question.")
    template = template_of(item)
    return filled(words(template), item.params, words.language) if template else item.text
