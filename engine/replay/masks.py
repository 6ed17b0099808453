"""Sets of passages as bit masks: one bit a passage, 64 to a word, shaped [words] or [words, choices]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_WORD = 64


def words_for(passages: int) -> int:
    """Return the length in words of a mask of so many passages; at least one."""
    return max(1, -(-passages // _WORD))


def words_of(mask: int, words: int) -> Words:
    """A number's bits as a mask [words]."""
    return np.frombuffer(mask.to_bytes(words * 8, "little"), dtype="<u8").astype(np.uint64)


def mask_of(places_: Iterable[int], words: int) -> Words:
    """A mask [words] of these passages."""
    return words_of(sum(1 << place for place in set(places_)), words)


def places(mask: Words) -> list[int]:
    """The passages of a mask [words]."""
    bits = np.unpackbits(np.ascontiguousarray(mask, dtype="<u8").view(np.uint8), bitorder="little")
    return [int(index) for index in np.flatnonzero(bits)]


def by_level(values: FloatArray, present: Sequence[int]) -> tuple[FloatArray, Words]:
    """Return ascending distinct values, and masks [words, levels + 1] of the passages at level i or above."""
    levels: list[float] = []
    masks, mask = [0], 0
    for place in sorted(present, key=lambda place: -values[place]):
        mask |= 1 << place
        if levels and levels[-1] == values[place]:
            masks[-1] = mask
            continue
        levels.append(float(values[place]))
        masks.append(mask)
    words = words_for(len(values))
    return np.array(levels[::-1]), np.stack([words_of(item, words) for item in masks[::-1]], axis=1)


def counted(masks: Words) -> IntArray:
    """Passages of each mask: [S] of [words, S]."""
    counts: NDArray[np.uint8] = np.bitwise_count(masks)
    total: IntArray = counts[0].astype(np.int64) if len(counts) == 1 else counts.sum(axis=0, dtype=np.int64)
    return total


def any_of(masks: Words) -> BoolArray:
    """Return whether a mask has any passage: [S] of [words, S]."""
    found: BoolArray = np.any(masks, axis=0)
    return found


def column(mask: Words) -> Words:
    """A mask [words] shaped to combine with masks [words, S]."""
    return mask[:, None]
