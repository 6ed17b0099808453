"""The catalogues of translated messages: one gettext file for each language other than English."""

from __future__ import annotations

import json
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from struct import pack

from engine.messages import CONTEXT_END

_FOLDER = Path(__file__).parents[1] / "locale"
_MAGIC = 0x950412DE
_HEADER_BYTES = 28


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
