"""What built-in roles say of their own is there in both languages, with the same places to fill in."""

from __future__ import annotations

from string import Formatter

import pytest

from engine.builtin.phrases import Phrases, all_phrases

NAMED = [(section, name) for section, phrases in all_phrases().items() for name in phrases]


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize(("section", "name"), NAMED)
def test_a_phrase_has_both_languages_and_fills_no_place_that_only_one_of_them_has(section: str, name: str) -> None:
    phrase = all_phrases()[section][name]
    assert set(phrase) == {"en", "zh"} and all(phrase.values())
    assert places(phrase["zh"]) == places(phrase["en"])


def test_a_language_without_phrases_is_answered_in_english() -> None:
    say = Phrases.to("direct", "Что такое граф?")
    assert say("unsourced") == "No sources were kept with that answer." and say.listed(["a", "b"]) == "a, b"
    assert Phrases("direct", "zh").listed(["甲", "乙"]) == "甲、乙"
