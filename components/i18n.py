"""The messages of the pages in the reader's language: English stands in the code, other languages in a catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from gettext import NullTranslations
from types import MappingProxyType
from typing import Literal

from components.catalogue import catalogue
from components.words import AREAS
from engine.messages import CONTEXT_END

UiLanguage = Literal["en", "zh"]

Table = Mapping[str, tuple[str, str]]
"""Key → (English, Chinese); parameters are ``str.format`` fields and the same in both."""


class English(NullTranslations):
    """The messages as they stand in the code, without their contexts."""

    def gettext(self, message: str) -> str:
        return message.rpartition(CONTEXT_END)[2]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language: ``words("Passages")``, ``words.count("{n} passage", "{n} passages", 5)``.

    A message that the catalogue lacks raises ``KeyError``, so that a page cannot show a half-translated sentence.
    """

    language: UiLanguage
    translations: NullTranslations = field(repr=False, compare=False)
    table: Mapping[str, str] = field(repr=False, compare=False)
    """Texts by key, as long as some are left in ``components.words``."""

    def __call__(self, message: str, /, **params: object) -> str:
        text = self.table.get(message)
        if text is None:
            text = self.translations.gettext(message)
        return text.format(**params) if params else text

    def __contains__(self, key: str) -> bool:
        return key in self.table

    def count(self, one: str, many: str | int, number: int = 0, /, **params: object) -> str:
        """The words for ``number`` things; ``{n}`` is that number unless the parameters say how it is written."""
        if isinstance(many, int):
            single = f"{one}.one"
            params.setdefault("n", many)
            return self(single if many == 1 and single in self.table else one, **params)
        params.setdefault("n", number)
        return self.translations.ngettext(one, many, number).format(**params)

    def known(self, text: str) -> str:
        """Return the translation of what may be a message or the words of a system, which stay as they are."""
        try:
            return self.translations.gettext(text)
        except KeyError:
            return text

    def joined(self, sentences: Iterable[str]) -> str:
        """Sentences as one text: nothing stands between Chinese ones."""
        return ("" if self.language == "zh" else " ").join(sentences)

    @property
    def html_language(self) -> str:
        """Value of a ``lang`` attribute: it decides which shapes of a Han character a browser draws."""
        return "zh-CN" if self.language == "zh" else "en"


@cache
def words_for(language: UiLanguage) -> Words:
    """Return the words of one language; English loads no catalogue."""
    column = 1 if language == "zh" else 0
    table = MappingProxyType({key: pair[column] for area in AREAS for key, pair in area.items()})
    return Words(language, English() if language == "en" else catalogue(language), table)
