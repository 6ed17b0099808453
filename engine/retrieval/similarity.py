"""Similarity that means the same for every model, language and store (SC-09).

Cosines of many embedding models live in a narrow band that shifts with the language. Anchors, short passages on
scattered everyday subjects, mark the score of "unrelated" for one query; scores above it are stretched over [0, 1].
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.model.values import Language
from engine.roles import Vector

AnchorLanguage = Literal["en", "zh"]

ANCHOR_LANGUAGES: tuple[AnchorLanguage, ...] = ("en", "zh")
FLOOR_PERCENTILE = 75.0


@dataclass(frozen=True, slots=True)
class Floor:
    """The cosine that counts as similarity 0 for one query."""

    value: float
    anchors: str
    """Which anchors gave it, e.g. ``zh-100@3f2a``."""


def similarity(cosine: float, floor: float) -> float:
    """``clip((cosine - floor) / (1 - floor), 0, 1)``: never reverses an order, finite for any finite numbers.

    A floor of 1 (a query equal to the anchors) leaves nothing to stretch: then only a cosine of 1 is similar.

        >>> similarity(0.875, floor=0.75)
        0.5
    """
    room = 1.0 - floor
    if room <= 0.0:
        return 1.0 if cosine >= 1.0 else 0.0
    return min(1.0, max(0.0, (cosine - floor) / room))


def floor_of(query: Vector, anchors: Vector) -> float:
    """75th percentile of the cosines between a query, shape (dim,), and unit-length anchors, shape (n, dim)."""
    length = float(np.linalg.norm(query))
    if not length or not len(anchors):
        return 0.0
    cosines = anchors.astype(np.float64) @ (query.astype(np.float64) / length)
    return float(np.clip(np.percentile(cosines, FLOOR_PERCENTILE), -1.0, 1.0))


class Calibration:
    """Anchors as one embedding model sees them."""

    def __init__(self, anchors: Mapping[AnchorLanguage, Vector], versions: Mapping[AnchorLanguage, str]) -> None:
        """``anchors``: unit vectors of shape (n, dim) per language; ``versions``: short hashes of their texts."""
        everything = np.concatenate([anchors[language] for language in ANCHOR_LANGUAGES])
        both = hashlib.sha256("".join(versions[language] for language in ANCHOR_LANGUAGES).encode()).hexdigest()[:4]
        self._anchors: dict[Language, Vector] = {"en": anchors["en"], "zh": anchors["zh"], "other": everything}
        self._names: dict[Language, str] = {
            **{language: f"{language}-{len(anchors[language])}@{versions[language]}" for language in ANCHOR_LANGUAGES},
            "other": f"all-{len(everything)}@{both}",
        }

    @property
    def vectors(self) -> Mapping[Language, Vector]:
        """The anchors by language; those of ``other`` are all of them."""
        return self._anchors

    def floor(self, query: Vector, language: Language) -> Floor:
        """The floor of a query of shape (dim,); languages without anchors of their own use all anchors."""
        return Floor(floor_of(query, self._anchors[language]), self._names[language])

    @staticmethod
    def similarity(cosine: float, floor: float) -> float:
        return similarity(cosine, floor)
