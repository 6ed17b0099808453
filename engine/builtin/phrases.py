"""Built-in roles' own phrases in an answer: in Chinese, and in English for every other language."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from engine.model.language import language_of
from engine.model.values import Language

Section = Literal["answer", "revision", "direct", "unsearched", "abstain", "fallback", "table"]


@cache
def all_phrases() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Every phrase by section, name and language, as ``phrases.json`` has them."""
    loaded: dict[str, dict[str, dict[str, str]]] = json.loads(
        Path(__file__).with_name("phrases.json").read_text(encoding="utf-8")
    )
    return loaded


class Phrases:
    """The phrases of one role in the language of a question."""

    def __init__(self, section: Section, language: Language) -> None:
        self.written: Literal["zh", "en"] = "zh" if language == "zh" else "en"
        self.gap = "" if language == "zh" else " "
        """What stands between two sentences."""
        self._comma = "、" if language == "zh" else ", "
        self._phrases = all_phrases()[section]

    @classmethod
    def to(cls, section: Section, question: str) -> Phrases:
        """The phrases for a reader who asked ``question``."""
        return cls(section, language_of(question))

    def __call__(self, name: str, **values: object) -> str:
        return self._phrases[name][self.written].format(**values)

    def listed(self, names: Iterable[str]) -> str:
        """Names one after the other."""
        return self._comma.join(names)
