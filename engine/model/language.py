"""Small facts about text that several steps need: its language, its sentences, its comparable form."""

from __future__ import annotations

import re
import unicodedata

from engine.model.values import Language

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_CHINESE_GRAMMAR = re.compile("什么|怎|如何|为何|为什|多少|哪|吗|呢|是|的|了|有没有|请")
_FULL_STOP = re.compile(r"(?<=[。！？])|(?<=[.!?])(?=\s)|\n+")
_SENTENCE_END = re.compile(r"(?<=[。！？；])|(?<=[.!?;])(?=\s)|\n+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\uff00-\uffef\u3000-\u303f]")
CHARS_PER_TOKEN = 4
_COPIES, _REPEATED = 4, 160
"""How often, and over how many characters at least, a text repeats its end where that is a loop."""


def language_of(text: str) -> Language:
    """``zh``, ``en``, or ``other`` for other scripts.

    Mixed text is Chinese where its grammar is (什么是 Hamiltonian cycle?) or where Han characters outweigh the Latin
    words; an English sentence about a Chinese word (What does 图 mean?) is English.
    """
    if _KANA_OR_HANGUL.search(text):
        return "other"
    han, words = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    if han and (not words or _CHINESE_GRAMMAR.search(text) or han >= words):
        return "zh"
    return "en" if words else "other"


def sentences(text: str, *, whole: bool = False) -> list[str]:
    """The sentences of a text, Chinese and Latin full stops respected, blank ones left out.

    A semicolon ends one too, since what it divides is judged and cited apart, unless they are to be ``whole``.
    """
    end = _FULL_STOP if whole else _SENTENCE_END
    return [part.strip() for part in end.split(text) if part and part.strip()]


def same_wording(text: str) -> str:
    """Return the form that questions share if only case and white space differ."""
    return " ".join(text.split()).casefold()


def normalised_query(text: str) -> str:
    """A query's form for the question "has this been tried?": NFKC, case, white space and punctuation folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char)[0] not in "PZC")


def tokens(text: str) -> float:
    """Estimated tokens of a text."""
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    return wide + (len(text) - wide) / CHARS_PER_TOKEN


def before_loop(text: str) -> str | None:
    """The text without the copies of what its end repeats, as small models do until they are stopped; None elsewhere.

    Rules of tables and rows of signs are no loop.

    >>> before_loop("It is blue. " + "The sky is wide and blue. " * 8)
    'It is blue. The sky is wide and blue.'
    >>> before_loop("It is blue.") is None
    True
    """
    if len(text) < _REPEATED:
        return None
    tail = text[-_REPEATED // _COPIES :]
    former = text.rfind(tail, 0, len(text) - 1)
    period = len(text) - len(tail) - former
    unit = text[-period:]
    if former < 0 or 2 * sum(map(str.isalnum, unit)) < period:
        return None
    if not text.endswith(unit * max(_COPIES, -(-_REPEATED // period))):
        return None
    while text.endswith(unit * 3):
        text = text[:-period]
    # It may have been stopped in the middle of a sentence.
    end = max((found.end() for found in _FULL_STOP.finditer(text)), default=0)
    text = text[:end] if end > len(text) - period else text
    return text[:-period] if text.endswith(text[-period:] * 2) else text
