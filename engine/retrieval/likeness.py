"""How much of one text another one repeats, by which near-duplicates are found. Pure, without a model."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from types import MappingProxyType

SHINGLE = 5
"""Characters that are compared at a time: a changed word leaves nearly all of a passage's shingles as they were."""
LEAST_SHARE = 0.5
"""Shares below this are not reported: no ``duplicate_threshold`` can be lower."""

Shares = Mapping[tuple[int, int], float]


@lru_cache(maxsize=4096)
def shingles(text: str) -> frozenset[str]:
    """The distinct pieces of :data:`SHINGLE` letters and digits of a text; never empty."""
    letters = "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
    if len(letters) <= SHINGLE:
        # A shorter text repeats another one only where it is the same.
        return frozenset((letters or text,))
    return frozenset(letters[start : start + SHINGLE] for start in range(len(letters) - SHINGLE + 1))


@lru_cache(maxsize=128)
def repeated_shares(texts: tuple[str, ...]) -> Shares:
    """Map pairs of places to the share of the first text that the second repeats, from ``LEAST_SHARE`` on.

    Case, white space and punctuation do not count. One-sided: what is wholly contained in a longer passage brings
    nothing new, and the longer one does.
    Remembered: a what-if asks it of the same passages at every move of a slider.
    """
    pieces = [shingles(text) for text in texts]
    held = Counter(chain.from_iterable(pieces))
    shared = frozenset(piece for piece, count in held.items() if count > 1)
    common = [own & shared for own in pieces]
    found: dict[tuple[int, int], float] = {}
    for place, own in enumerate(pieces):
        # Most texts have too little in common with all others together.
        if len(common[place]) / len(own) < LEAST_SHARE:
            continue
        for other, theirs in enumerate(common):
            share = len(common[place] & theirs) / len(own)
            if other != place and share >= LEAST_SHARE:
                found[place, other] = share
    return MappingProxyType(found)
