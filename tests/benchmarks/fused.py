"""Search by vectors, by words and by both: how often the right passage comes first, and how long it takes.

On XQuAD where its files are at hand, and on the labelled sample questions. For comparison words as a store's own
analyzer finds them, and the fusion with the constants that are usual for long lists.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

from engine.builtin import full_text
from engine.builtin.embedder import HashingEmbedder, builtin_embedder
from engine.knowledge import milvus_words
from engine.knowledge.embedders import SharedQueries
from engine.knowledge.milvus_store import MilvusStore
from engine.knowledge.samples import ensure_samples
from engine.model.config import SearchMethod
from engine.model.values import SAMPLE_COLLECTION, Passage, PassageId
from engine.retrieval import reciprocal
from engine.retrieval.reciprocal import by_reciprocal_rank
from engine.retrieval.search import CollectionRetriever
from engine.retrieval.shipped import calibration_of
from engine.roles import CollectionInfo, Embedder, StoredPassage, Vector
from engine.samples import sample_questions
from tests.benchmarks.harness import Bench, Row, in_turn_async
from tests.benchmarks.retrieval import random_vectors, stored_passages

_LIMIT = 20
_LANGUAGES = ("zh", "en")
_METHODS: tuple[SearchMethod, ...] = ("vector", "full_text", "fused")
_COLLECTION = "bench_fused"
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class Quality:
    """How well one way of searching finds the right passages of a set of questions."""

    first: float
    in_five: float
    reciprocal: float
    """Mean of 1 / rank of the right passage, 0 where it is not among the first twenty."""

    @classmethod
    def of(cls, ranks: Sequence[int | None]) -> Quality:
        return cls(
            fmean(rank == 1 for rank in ranks),
            fmean(rank is not None and rank <= 5 for rank in ranks),
            fmean(1.0 / rank if rank else 0.0 for rank in ranks),
        )


Asked = Sequence[tuple[str, frozenset[PassageId]]]
Ways = Mapping[str, Quality]


def fused(bench: Bench) -> Iterator[Row]:
    """Quality on every set as a table for the README, what fusion gains, and the times of the three methods."""
    sets = asyncio.run(_qualities(bench))
    print(_markdown(sets), flush=True)
    for name, ways in sets.items():
        found = [ways["vector"], ways["full_text"]]
        for measure, unit in (("in_five", "hit@5"), ("reciprocal", "MRR")):
            better = max(getattr(item, measure) for item in found)
            gain = getattr(ways["fused"], measure) - better
            yield Row(f"{name}: {unit} of fused against the better of the two", "", (gain,), "≥ 0")
    yield from asyncio.run(_times(bench))


async def _qualities(bench: Bench) -> dict[str, Ways]:
    sets: dict[str, Ways] = {}
    if bench.data is not None and (bench.data / "xquad-dev.zh.json").is_file():
        for language in _LANGUAGES:
            sets[f"XQuAD {language}"] = await _xquad(bench, bench.data, language)
    else:
        print("XQuAD left out: no folder with xquad-dev.en.json and xquad-dev.zh.json (--data)")
    store = MilvusStore(str(bench.folder / "samples.db"))
    embedder = SharedQueries(builtin_embedder())
    await ensure_samples(store, embedder)
    for language in _LANGUAGES:
        asked = [
            (item.question, frozenset(item.expected))
            for item in sample_questions()
            if item.expected and item.language == language
        ]
        sets[f"samples {language}"] = await _ways(bench, store, SAMPLE_COLLECTION, embedder, asked)
    await store.close()
    return sets


async def _xquad(bench: Bench, data: Path, language: str) -> Ways:
    # The fitting script needs scikit-learn, and the model where a text was never embedded.
    import numpy as np

    from tests.fitting.fit_grader import Vectors, read_xquad

    vectors = Vectors(bench.vectors or bench.folder / "vectors")
    paragraphs, questions = read_xquad(data / f"xquad-dev.{language}.json")
    embedder = _Kept(builtin_embedder(), {item.question: vectors.query(item.question) for item in questions})
    stored = [_paragraph(place, text) for place, (_, text) in enumerate(paragraphs)]
    matrix = np.stack([vectors.passage(text) for _, text in paragraphs])
    asked = [(item.question, frozenset([stored[item.paragraph].id])) for item in questions]
    ways: dict[str, Quality] = {}
    with patch.object(full_text, "words", _default_words), patch.object(milvus_words, "words", _default_words):
        store = await _filled(bench.folder / f"own-{language}.db", embedder, stored, matrix)
        retriever = await _retriever(bench, store, _COLLECTION, embedder, "full_text")
        found = [_place((await retriever.search(question, _LIMIT)).passages, right) for question, right in asked]
        ways["full_text, default analyzer"] = Quality.of(found)
        await store.close()
    store = await _filled(bench.folder / f"xquad-{language}.db", embedder, stored, matrix)
    ways |= await _ways(bench, store, _COLLECTION, embedder, asked)
    await store.close()
    return ways


async def _ways(bench: Bench, store: MilvusStore, collection: str, embedder: Embedder, asked: Asked) -> Ways:
    by_vector, by_words = [
        await _retriever(bench, store, collection, embedder, method) for method in ("vector", "full_text")
    ]
    ranks: dict[str, list[int | None]] = {}
    for question, right in asked:
        near = (await by_vector.search(question, _LIMIT)).passages
        found = (await by_words.search(question, _LIMIT)).passages
        # As a fused search of so many does.
        lists = {"vector": near, "full_text": found, "fused": by_reciprocal_rank(near, found, _LIMIT)}
        with patch.object(reciprocal, "RANK_CONSTANT", 60), patch.object(reciprocal, "TEXT_WEIGHT", 1.0):
            lists["fused, k = 60, equal weights"] = by_reciprocal_rank(near, found, _LIMIT)
        for way, passages in lists.items():
            ranks.setdefault(way, []).append(_place(passages, right))
    return {way: Quality.of(found) for way, found in ranks.items()}


async def _times(bench: Bench) -> list[Row]:
    """Milliseconds of a search by each method, the query's vector known: at the size of the samples, and larger."""
    rows: list[Row] = []
    for size in (bench.sizes.worded // 40, bench.sizes.worded):
        embedder = HashingEmbedder()
        stored = stored_passages(size)
        store = await _filled(bench.folder / f"times-{size}.db", embedder, stored, random_vectors(size, embedder.dim))
        retrievers = [await _retriever(bench, store, _COLLECTION, embedder, method) for method in _METHODS]

        async def search(retriever: CollectionRetriever) -> None:
            await retriever.search("word31 word48 of subject word65 and word4000", _LIMIT)

        works = [lambda retriever=retriever: search(retriever) for retriever in retrievers]
        taken = await in_turn_async(*works, repeats=bench.sizes.repeats)
        rows += [
            Row(f"search, {size} passages: {method}", "ms", values)
            for method, values in zip(_METHODS, taken, strict=True)
        ]
        await store.close()
    return rows


async def _filled(folder: Path, embedder: Embedder, stored: Sequence[StoredPassage], vectors: Vector) -> MilvusStore:
    store = MilvusStore(str(folder), timeout_s=60.0)
    model = (embedder.model_id, embedder.dim, embedder.query_prefix, embedder.passage_prefix)
    await store.create(CollectionInfo(_COLLECTION, *model, "2026-01-01T00:00:00+00:00"))
    for start in range(0, len(stored), _BATCH):
        await store.insert(_COLLECTION, stored[start : start + _BATCH], vectors[start : start + _BATCH])
    return store


async def _retriever(
    bench: Bench, store: MilvusStore, collection: str, embedder: Embedder, method: SearchMethod
) -> CollectionRetriever:
    info = await store.describe(collection)
    calibration = await calibration_of(embedder, bench.folder)
    return CollectionRetriever.checked(store, embedder, info, calibration, method)


def _place(found: Sequence[Passage], right: frozenset[PassageId]) -> int | None:
    return next((place for place, item in enumerate(found, start=1) if item.id in right), None)


def _paragraph(place: int, text: str) -> StoredPassage:
    return StoredPassage(PassageId(f"xquad.md#{place}"), "xquad.md", text, ordinal=place)


def _default_words(text: str) -> list[str]:
    """Words as the standard analyzer of Milvus finds them: what stands between anything but letters and digits."""
    return re.findall(r"\w+", text.lower())


class _Kept:
    """The built-in embedder with vectors of questions that were embedded before."""

    def __init__(self, embedder: Embedder, queries: Mapping[str, Any]) -> None:
        self._embedder = embedder
        self._queries = queries
        self.model_id, self.dim = embedder.model_id, embedder.dim
        self.query_prefix, self.passage_prefix = embedder.query_prefix, embedder.passage_prefix

    async def embed_query(self, text: str) -> Vector:
        vector: Vector = self._queries[text]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return await self._embedder.embed_passages(texts)


def _markdown(sets: Mapping[str, Ways]) -> str:
    """A table with a line for each way of searching, and hit@1, hit@5 and MRR of each set."""
    names = list(dict.fromkeys(way for ways in sets.values() for way in ways))
    lines = [f"| hit@1 / hit@5 / MRR | {' | '.join(sets)} |", "|---" * (len(sets) + 1) + "|"]
    for name in names:
        cells = [_cell(ways[name]) if name in ways else "" for ways in sets.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(quality: Quality) -> str:
    return f"{quality.first:.3f} / {quality.in_five:.3f} / {quality.reciprocal:.3f}"
