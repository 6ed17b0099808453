"""Anchors and calibration (SC-09)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.values import CONTEXTS, PassageContext
from engine.retrieval.shipped import anchor_texts, calibration_of, version_of
from engine.retrieval.similarity import Floor, floor_of, similarity
from engine.roles import Vector, slug

cosines = st.floats(-1.0, 1.0, allow_nan=False)
floors = st.floats(-1.0, 1.5, allow_nan=False)


class CountingEmbedder:
    """Deterministic unit vectors from the bytes of a text; counts what it embeds."""

    query_prefix = ""
    passage_prefix = ""
    dim = 16

    def __init__(self, model_id: str = "test:counting") -> None:
        self.model_id = model_id
        self.embedded = 0

    async def embed_query(self, text: str) -> Vector:
        row: Vector = (await self.embed_passages([text]))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.embedded += len(texts)
        rows = np.empty((len(texts), self.dim), dtype=np.float32)
        for index, text in enumerate(texts):
            rows[index] = np.random.default_rng(sum(text.encode()) + len(text)).normal(size=self.dim)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


@given(cosine=cosines, floor=floors)
def test_similarity_is_a_finite_number_from_0_to_1(cosine: float, floor: float) -> None:
    """SC-09: also where the floor is 1 or more."""
    value = similarity(cosine, floor)
    assert math.isfinite(value)
    assert 0.0 <= value <= 1.0


@given(one=cosines, other=cosines, floor=floors)
def test_similarity_never_reverses_an_order(one: float, other: float, floor: float) -> None:
    """SC-09: the order within a query never changes."""
    low, high = sorted((one, other))
    assert similarity(low, floor) <= similarity(high, floor)


@given(floor=st.floats(-1.0, 0.999))
def test_the_floor_is_0_and_a_cosine_of_1_is_1(floor: float) -> None:
    assert similarity(floor, floor) == 0.0
    assert similarity(1.0, floor) == 1.0


def test_the_slider_range_covers_where_right_passages_lie() -> None:
    """SC-09: for the built-in model unrelated Chinese pairs lie near 0.82, right ones near 0.90."""
    assert similarity(0.90, 0.82) == pytest.approx(0.444, abs=1e-3)


def test_the_floor_is_the_75th_percentile_whatever_the_length_of_the_query() -> None:
    anchors = np.array([[math.cos(a), math.sin(a)] for a in np.linspace(0, math.pi / 2, 5)], dtype=np.float32)
    query = np.array([3.0, 0.0], dtype=np.float32)
    assert floor_of(query, anchors) == pytest.approx(math.cos(math.pi / 8), abs=1e-6)
    assert floor_of(np.zeros(2, dtype=np.float32), anchors) == 0.0
    assert floor_of(query, anchors[:0]) == 0.0


def test_a_hundred_anchors_are_shipped_in_each_language_without_repeats() -> None:
    """SC-09."""
    for language in ("en", "zh"):
        texts = anchor_texts(language)
        assert len(set(texts)) == len(texts) == 100
        assert all(40 <= len(text) <= 400 for text in texts)


def test_each_language_has_its_own_floor_and_others_use_all_anchors(tmp_path: Path) -> None:
    async def check() -> None:
        embedder = CountingEmbedder()
        calibration = await calibration_of(embedder, tmp_path)
        query = await embedder.embed_query("anything")
        en, zh, other = (calibration.floor(query, language) for language in ("en", "zh", "other"))
        assert en.anchors == f"en-100@{version_of(anchor_texts('en'))}"
        assert zh.anchors == f"zh-100@{version_of(anchor_texts('zh'))}"
        assert other.anchors.startswith("all-200@")
        vectors = await embedder.embed_passages(anchor_texts("zh"))
        assert zh.value == pytest.approx(floor_of(query, vectors), abs=1e-6)
        assert min(en.value, zh.value) <= other.value <= max(en.value, zh.value)
        assert calibration.similarity(zh.value, zh.value) == 0.0

    asyncio.run(check())


def test_anchors_are_embedded_once_for_a_model_and_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    async def load() -> tuple[int, float]:
        embedder = CountingEmbedder()
        calibration = await calibration_of(embedder, tmp_path)
        spent = embedder.embedded
        return spent, calibration.floor(await embedder.embed_query("x"), "en").value

    first = asyncio.run(load())
    assert first[0] == 200
    assert asyncio.run(load()) == (0, first[1])
    (cache,) = (tmp_path / "anchors").iterdir()
    cache.write_bytes(cache.read_bytes()[:100])
    assert asyncio.run(load()) == first


def test_anchors_take_the_form_of_context_and_no_model_writes_about_them(tmp_path: Path) -> None:
    """SC-09: their names in a record say which they were; with sentences they are those with paths."""

    async def floors() -> dict[PassageContext, tuple[Floor, int]]:
        embedder = CountingEmbedder()
        query = await embedder.embed_query("anything")
        found = {}
        for context in CONTEXTS:
            before = embedder.embedded
            calibration = await calibration_of(embedder, tmp_path, context)
            found[context] = (calibration.floor(query, "en"), embedder.embedded - before)
        return found

    first, again = asyncio.run(floors()), asyncio.run(floors())
    assert {form: floor for form, (floor, _) in first.items()} == {form: floor for form, (floor, _) in again.items()}
    assert ([spent for _, spent in first.values()], [spent for _, spent in again.values()]) == (
        [200, 200, 0],
        [0, 0, 0],
    )
    assert first["none"][0].anchors == "en-100@ba73" != first["path"][0].anchors
    for bare, headed in zip(anchor_texts("zh"), anchor_texts("zh", "path"), strict=True):
        heading, _, text = headed.partition("\n")
        assert text == bare and " > " in heading and len(heading) <= 60


def test_a_folder_that_cannot_be_written_costs_only_the_cache(tmp_path: Path) -> None:
    (tmp_path / "anchors").write_text("in the way")
    calibration = asyncio.run(calibration_of(CountingEmbedder(), tmp_path))
    assert calibration.floor(np.ones(16, dtype=np.float32), "en").anchors.startswith("en-100@")


def test_models_and_prefixes_never_share_a_cache_or_a_vector_file() -> None:
    one, other = CountingEmbedder("ollama:bge-m3"), CountingEmbedder("ollama:bge/m3")
    prefixed = CountingEmbedder("ollama:bge-m3")
    prefixed.passage_prefix = "passage: "
    assert len({slug(one), slug(other), slug(prefixed)}) == 3
    assert all(set(slug(item)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for item in (one, other, prefixed))
