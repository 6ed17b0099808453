"""The messages of the pages in the reader's language: English stands in the code, other languages in a catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from gettext import NullTranslations
from typing import Literal

from components.common.catalogue import catalogue
from engine.messages import CONTEXT_END

UiLanguage = Literal["en", "zh"]


class English(NullTranslations):
    """The messages as they stand in the code, without their contexts."""

    def gettext(self, message: str) -> str:
        return message.rpartition(CONTEXT_END)[2]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language: ``words("Passages")``, ``words.count("1 passage", "{n} passages", 5)``.

    A message that the catalogue lacks raises ``KeyError``, so that a page cannot show a half-translated sentence.
    """

    language: UiLanguage
    translations: NullTranslations = field(repr=False, compare=False)

    def __call__(self, message: str, /, **params: object) -> str:
        text = self.translations.gettext(message)
        return text.format(**params) if params else text

    def count(self, one: str, many: str, number: int, /, **params: object) -> str:
        """The words for ``number`` things; ``{n}`` is that number unless the parameters say how it is written."""
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
    return Words(language, English() if language == "en" else catalogue(language))
