"""Vectors that come with the product, and the anchors of similarity: neither is embedded again where it is known."""

from __future__ import annotations

import asyncio
import hashlib
import zipfile
import zlib
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from engine.model.values import PassageContext, PassageId
from engine.retrieval.similarity import ANCHOR_LANGUAGES, AnchorLanguage, Calibration
from engine.roles import Embedder, StoredPassage, Vector, slug


async def calibration_of(embedder: Embedder, folder: Path, context: PassageContext = "none") -> Calibration:
    """Return the anchors of a model in a form of context: shipped vectors, else the cache, else embedded and cached.

    Embedding 200 anchors takes a built-in model about half a minute, hence the cache in ``folder/anchors``.
    """
    texts = [text for language in ANCHOR_LANGUAGES for text in anchor_texts(language, context)]
    cache = folder / anchor_file(embedder, context)
    vectors = await asyncio.to_thread(_read_cache, cache, len(texts), embedder.dim)
    if vectors is None:
        vectors, missing = await embedded_with_shipped(embedder, texts)
        if missing:
            await asyncio.to_thread(write_anchors, cache, vectors)
    split = len(anchor_texts("en", context))
    versions = {language: version_of(anchor_texts(language, context)) for language in ANCHOR_LANGUAGES}
    return Calibration({"en": vectors[:split], "zh": vectors[split:]}, versions)


def anchor_texts(language: AnchorLanguage, context: PassageContext = "none") -> tuple[str, ...]:
    """Return the shipped anchors of a language in a form of context: one a line, its heading path before a tab."""
    text = (files("engine.samples") / f"anchors.{language}.txt").read_text(encoding="utf-8")
    rows = (line.partition("\t") for line in text.splitlines() if line.strip())
    return tuple(
        StoredPassage(PassageId(""), "", anchor.strip(), section=heading).searched(context)
        for heading, _, anchor in rows
    )


def anchor_file(embedder: Embedder, context: PassageContext = "none") -> Path:
    """Return where the anchors of a model in a form of context are cached, within the folder of the data."""
    versions = "".join(version_of(anchor_texts(language, context)) for language in ANCHOR_LANGUAGES)
    return Path("anchors", f"{slug(embedder)}-{versions}.npz")


def version_of(texts: tuple[str, ...]) -> str:
    """Four hexadecimal digits that change when an anchor does."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:4]


async def embedded_with_shipped(embedder: Embedder, texts: Sequence[str]) -> tuple[Vector, int]:
    """Passage vectors of shape (n, dim) in the order given, and how many of them had to be embedded."""
    shipped = await asyncio.to_thread(shipped_vectors, slug(embedder))
    vectors = np.empty((len(texts), embedder.dim), dtype=np.float32)
    missing: list[int] = []
    for index, text in enumerate(texts):
        known = shipped.get(text_key(text))
        if known is None or known.shape != (embedder.dim,):
            missing.append(index)
        else:
            vectors[index] = known
    if missing:
        vectors[missing] = await embedder.embed_passages([texts[index] for index in missing])
    return vectors, len(missing)


def shipped_vectors(model_slug: str) -> dict[str, Vector]:
    """Shipped vectors of one model by the hash of their text; none for a model without a file."""
    entry = files("engine.samples") / "vectors" / f"{model_slug}.npz"
    if not entry.is_file():
        return {}
    with as_file(entry) as path, np.load(path, allow_pickle=False) as stored:
        keys = [key.decode("ascii") for key in stored["keys"]]
        vectors = stored["vectors"].astype(np.float32)
    # Stored in half precision: made unit length again, as the contract of an embedder promises.
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return dict(zip(keys, vectors, strict=True))


def text_key(text: str) -> str:
    """Return the key of a text in a vector file: half of its SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _read_cache(path: Path, rows: int, dim: int) -> Vector | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            vectors: Vector = stored["vectors"].astype(np.float32)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    return vectors if vectors.shape == (rows, dim) and bool(np.isfinite(vectors).all()) else None


def write_anchors(path: Path, vectors: Vector) -> None:
    """Cache the anchors of a model as it sees them; a folder that cannot be written costs only the cache."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place, so that a crash or a second process never leaves half a file under the name.
        part = path.with_suffix(f".{hashlib.sha256(vectors.tobytes()).hexdigest()[:8]}.part")
        with part.open("wb") as file:
            np.savez_compressed(file, vectors=vectors)
        part.replace(path)
    except OSError:
        # A full or read-only disk costs the time of embedding the anchors again.
        return
