"""Small facts about text that several steps need: its language, its sentences, its comparable form."""

from __future__ import annotations

import re
import unicodedata

from engine.values import Language

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile(r"[A-Za-z]")
_SENTENCE_END = re.compile(r"(?<=[。！？；])|(?<=[.!?;])(?=\s)|\n+")


def language_of(text: str) -> Language:
    """``zh`` for text with Han characters and neither kana nor hangul, ``en`` for Latin letters, else ``other``."""
    if _KANA_OR_HANGUL.search(text):
        return "other"
    if _HAN.search(text):
        return "zh"
    return "en" if _LATIN.search(text) else "other"


def sentences(text: str) -> list[str]:
    """The sentences of a text, Chinese and Latin full stops respected, blank ones left out."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


def normalised_query(text: str) -> str:
    """A query's form for the question "has this been tried?": NFKC, case, white space and punctuation folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char)[0] not in "PZC")
