"""Scripts in which one word is written in several ways, or without spaces between words."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
PAIRED = r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
"""Kana and Hangul: words run into each other, or into their particles; two characters say about as much as a word."""
TRIPLED = r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ede\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
"""Thai, Lao, Burmese and Khmer, alphabets without spaces between words: it takes three letters."""
_UNCUT = re.compile(rf"[{PAIRED}{TRIPLED}\u0900-\u0fff]")
_TRIPLED = re.compile(f"[{TRIPLED}]")


def folded(text: str) -> str:
    """A text in one form for comparing: NFKC, lower case, without accents that stand alone, Chinese simplified."""
    return one_script(without_marks(unicodedata.normalize("NFKC", text).casefold()))


def one_script(text: str) -> str:
    """Traditional Chinese as simplified, character by character, so that places in the text stay."""
    return text if text.isascii() else text.translate(_simplified())


def without_marks(text: str) -> str:
    """A text without combining characters: vowel signs and tones that an analyzer takes for the end of a word."""
    return text if text.isascii() else "".join(char for char in text if unicodedata.category(char)[0] != "M")


def is_uncut(text: str) -> bool:
    """Return whether a text has words that nothing here can split: Japanese, Korean, Thai, scripts of India."""
    return _UNCUT.search(text) is not None


def pieces(run: str) -> list[str]:
    """Overlapping pieces of a run without spaces: three letters of an alphabet, else two characters."""
    size = 3 if _TRIPLED.match(run) else 2
    return [run[start : start + size] for start in range(max(len(run) - size, 0) + 1)]


@cache
def _simplified() -> dict[int, str]:
    _, traditional, simplified = (
        Path(__file__).with_name("simplified.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    )
    return dict(zip(map(ord, traditional), simplified, strict=True))
