"""Similarity that means the same for every model, language and store (SC-09).

Cosines of many embedding models live in a narrow band that shifts with the language. Anchors, short passages on
scattered everyday subjects, show where "unrelated" lies for one query; what lies above is stretched over [0, 1].
"""

from __future__ import annotations

import asyncio
import hashlib
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np

from engine.model.values import Language
from engine.roles import Embedder, Vector, slug

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


def anchor_texts(language: AnchorLanguage) -> tuple[str, ...]:
    """The shipped anchors of a language, one a line."""
    text = (files("engine.samples") / f"anchors.{language}.txt").read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


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

    @classmethod
    async def load(cls, embedder: Embedder, data_dir: Path) -> Calibration:
        """Anchors of a model: shipped vectors for the built-in one, else the cache, else embedded and cached.

        Embedding 200 anchors takes a built-in model about half a minute, hence the cache in ``data_dir/anchors``.
        """
        texts = {language: anchor_texts(language) for language in ANCHOR_LANGUAGES}
        versions = {language: version_of(texts[language]) for language in ANCHOR_LANGUAGES}
        every_text = [text for language in ANCHOR_LANGUAGES for text in texts[language]]
        cache = data_dir / "anchors" / f"{slug(embedder)}-{''.join(versions.values())}.npz"
        vectors = await asyncio.to_thread(_read_cache, cache, len(every_text), embedder.dim)
        if vectors is None:
            from engine.samples import embedded_with_shipped

            vectors, missing = await embedded_with_shipped(embedder, every_text)
            if missing:
                await asyncio.to_thread(_write_cache, cache, vectors)
        split = len(texts["en"])
        return cls({"en": vectors[:split], "zh": vectors[split:]}, versions)

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


def version_of(texts: tuple[str, ...]) -> str:
    """Four hexadecimal digits that change when an anchor does."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:4]


def _read_cache(path: Path, rows: int, dim: int) -> Vector | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            vectors: Vector = stored["vectors"].astype(np.float32)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    return vectors if vectors.shape == (rows, dim) and bool(np.isfinite(vectors).all()) else None


def _write_cache(path: Path, vectors: Vector) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place, so that a crash or a second process never leaves half a file under the name.
        part = path.with_suffix(f".{hashlib.sha256(vectors.tobytes()).hexdigest()[:8]}.part")
        with part.open("wb") as file:
            np.savez_compressed(file, vectors=vectors)
        part.replace(path)
    except OSError:
        # A cache only: a full or read-only disk costs the time of embedding the anchors again.
        return
