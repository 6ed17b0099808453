"""The messages of the pages in the reader's language: English stands in the code, others in gettext catalogues."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from struct import pack
from typing import Literal

from engine.messages import CONTEXT_END

UiLanguage = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Declared:
    """All that is to be known of a language apart from its catalogue ``locale/CODE/LC_MESSAGES/workbench.po``."""

    name: str
    """On the switch of languages."""
    html: str
    """Value of a ``lang`` attribute: it decides which shapes of a Han character a browser draws."""
    between: str = " "
    """What stands between two sentences."""
    closest: Literal["en", "zh"] = "en"
    """Whose sample questions, demos and kinds of things it shows."""


LANGUAGES: Mapping[UiLanguage, Declared] = {
    "zh": Declared("中文", "zh-CN", between="", closest="zh"),
    "en": Declared("EN", "en"),
}
_FOLDER = Path(__file__).parents[1] / "locale"
_MAGIC = 0x950412DE
_HEADER_BYTES = 28


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
        """Sentences as one text."""
        return self.declared.between.join(sentences)

    @property
    def declared(self) -> Declared:
        return LANGUAGES[self.language]


def ui_language(code: object) -> UiLanguage:
    """The language of this code, English for any other."""
    return next((language for language in LANGUAGES if language == code), "en")


@cache
def words_for(language: UiLanguage) -> Words:
    """Return the words of one language; English loads no catalogue."""
    return Words(language, English() if language == "en" else catalogue(language))


class Untranslated(NullTranslations):
    """The answer of a catalogue that lacks a message: its English, or an error where tests look for such messages."""

    strict = False

    def gettext(self, message: str) -> str:
        if self.strict:
            raise KeyError(message)
        return super().gettext(message.rpartition(CONTEXT_END)[2])

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        if self.strict:
            raise KeyError(msgid1)
        return super().ngettext(msgid1, msgid2, n)


def catalogue(language: str) -> NullTranslations:
    """Read ``locale/LANGUAGE/LC_MESSAGES/workbench.po``."""
    text = (_FOLDER / language / "LC_MESSAGES" / "workbench.po").read_text(encoding="utf-8")
    translations = GNUTranslations(BytesIO(_compiled(_entries(text))))
    translations.add_fallback(Untranslated())
    return translations


def _entries(text: str) -> dict[str, str]:
    """Return each message of a .po file as the compiled form names it, and its translation."""
    found = {}
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if line and not line.startswith("#"):
                keyword, _, quoted = line.partition('"')
                name = keyword.strip() or name
                fields[name] = fields.get(name, "") + json.loads(f'"{quoted}')
        if fields:
            message = "\x04".join(fields[part] for part in ("msgctxt", "msgid") if part in fields)
            plural = fields.get("msgid_plural")
            forms = [value for part, value in fields.items() if part.startswith("msgstr")]
            found[message if plural is None else f"{message}\0{plural}"] = "\0".join(forms)
    return found


def _compiled(entries: dict[str, str]) -> bytes:
    """Return a catalogue as the bytes of a .mo file, the form that Python's gettext reads."""
    pairs = sorted((message.encode(), translation.encode()) for message, translation in entries.items())
    texts = [message for message, _ in pairs] + [translation for _, translation in pairs]
    table_bytes = 8 * len(texts)
    starts = accumulate((len(text) + 1 for text in texts), initial=_HEADER_BYTES + table_bytes)
    table = b"".join(pack("<II", len(text), start) for text, start in zip(texts, starts, strict=False))
    middle = _HEADER_BYTES + table_bytes // 2
    header = pack("<7I", _MAGIC, 0, len(pairs), _HEADER_BYTES, middle, 0, 0)
    return header + table + b"".join(text + b"\0" for text in texts)
