"""Pieces, token counts and words: the stand-in's only idea of language."""

from __future__ import annotations

import re

# Scripts written without spaces stream one character at a time, as real tokenizers roughly do.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_PIECE = re.compile(rf"\s*[{_UNSPACED}]|\s*[^\s{_UNSPACED}]+|\s+")
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def pieces(text: str) -> list[str]:
    """Cut a text into what one stream line carries each; joined again they are the text, to the last blank."""
    return _PIECE.findall(text)


def token_count(text: str) -> int:
    return sum(1 for _ in _TOKEN.finditer(text))


def first_tokens(text: str, limit: int) -> str:
    """The text up to and with its token number ``limit``."""
    for position, found in enumerate(_TOKEN.finditer(text), start=1):
        if position == limit:
            return text[: found.end()]
    return text


def words(text: str) -> list[str]:
    """Words in lower case; a character counts as a word where the script has no spaces."""
    return [word.lower() for word in _WORD.findall(text)]
