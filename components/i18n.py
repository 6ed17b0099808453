"""The words of the pages in both languages: plain tables, one lookup, no fallback for a missing key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Literal

from components.words import AREAS

UiLanguage = Literal["en", "zh"]

Table = Mapping[str, tuple[str, str]]
"""Key → (English, Chinese); parameters are ``str.format`` fields and the same in both."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language: ``words("passages.title")``, ``words("gate.beyond", rank=7, top_k=5)``.

    A key that does not exist raises ``KeyError``, so that a page cannot show a half-translated sentence.
    """

    language: UiLanguage
    table: Mapping[str, str] = field(repr=False, compare=False)

    def __call__(self, key: str, /, **params: object) -> str:
        text = self.table[key]
        return text.format(**params) if params else text

    def __contains__(self, key: str) -> bool:
        return key in self.table

    def count(self, key: str, number: int, /, **params: object) -> str:
        """The words for ``number`` things: ``key.one`` for exactly one of them, where it exists; fills ``{n}``."""
        single = f"{key}.one"
        return self(single if number == 1 and single in self.table else key, n=number, **params)

    def joined(self, sentences: Iterable[str]) -> str:
        """Sentences as one text: nothing stands between Chinese ones."""
        return ("" if self.language == "zh" else " ").join(sentences)

    @property
    def html_language(self) -> str:
        """Value of a ``lang`` attribute: it decides which shapes of a Han character a browser draws."""
        return "zh-CN" if self.language == "zh" else "en"


@cache
def words_for(language: UiLanguage) -> Words:
    """All areas of ``components.words`` in one language."""
    column = 1 if language == "zh" else 0
    return Words(language, MappingProxyType({key: pair[column] for area in AREAS for key, pair in area.items()}))
