"""How a Milvus server grows with the passages of one collection, by the kind of index; embedding is left out.

Vectors are a mixture of Gaussians of 384 dimensions, since recall on uniform noise says nothing: 1 000 topics whose
centres share a common direction, and around each a Gaussian whose variances fall as 1/rank, so that it fills about 26
dimensions. Texts are words drawn as often as words of a language are. The sizes are given by ``--sizes``; a million
passages take hours on two cores, and 8 GB of memory.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import CollectionInfo, StoredPassage, Vector
from plugins.scale.choice import build_of
from plugins.scale.indexes import Indexes
from plugins.scale.recall import Exact, exact_nearest, recall_of
from plugins.scale.values import IndexKind, IndexState, RecallFigures
from tests.benchmarks.growth import _disk_mb, _memory_mb, _resident_mb, _texts
from tests.benchmarks.harness import Bench, Row, prefixed
from tests.support import milvus_server

_COLLECTION = "bench_scale"
_DIM = 384
_PER_SOURCE = 50
_BLOCK = 2_500
"""Passages of one call of the store."""
_TOPICS = 1_000
_TIMEOUT_S = 120.0
_BUILT_WITHIN_S = 5_400.0
_LOOK_S = 0.5
_MEASURED: tuple[IndexKind, ...] = ("FLAT", "IVF_FLAT", "IVF_SQ8", "HNSW")
"""DISKANN is left out: the server of the tests takes the order to build one and never begins."""


def scale(bench: Bench) -> Iterator[Row]:
    """Every size with every index; with ``--out`` also as ``scale.json``, which grows while it is measured."""
    why_not = milvus_server.missing()
    if why_not:
        print(f"left out: {why_not}")
        return
    with milvus_server.running(bench.folder) as uri:
        yield from asyncio.run(_grown(bench, uri))


def clustered(draw: np.random.Generator, count: int, topics: Vector, basis: Vector) -> Vector:
    """Unit vectors of a mixture of Gaussians; ``topics`` are the centres, ``basis`` scales and turns the noise."""
    members = draw.integers(len(topics), size=count)
    rows = topics[members] + draw.normal(size=(count, _DIM)).astype(np.float32) @ basis
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def mixture() -> tuple[Vector, Vector]:
    """Centres and noise, the same ones at every call."""
    draw = np.random.default_rng(99)
    common = _unit(draw.normal(size=(1, _DIM)))
    topics = 0.85 * common + 0.4 * _unit(draw.normal(size=(_TOPICS, _DIM)))
    turned, _ = np.linalg.qr(draw.normal(size=(_DIM, _DIM)))
    spread = 1.0 / np.sqrt(np.arange(1, _DIM + 1))
    basis = turned * (0.35 * spread / np.linalg.norm(spread))[:, np.newaxis]
    return topics.astype(np.float32), basis.astype(np.float32)


async def _grown(bench: Bench, uri: str) -> list[Row]:
    rows: list[Row] = []
    made = 0
    store = MilvusStore(uri, timeout_s=_TIMEOUT_S)
    try:
        await store.create(CollectionInfo(_COLLECTION, "drawn", _DIM, "", "", "2026-01-01"))
        for size in bench.sizes.scale:
            name = f"{size:,}".replace(",", " ")
            began = time.perf_counter()
            await _fill(store, made, size)
            per_second = (size - made) / (time.perf_counter() - began)
            made = size
            rows += _noted(bench, name, [Row("passages put in", "/s", (per_second,))])
            began = time.perf_counter()
            exact = await exact_nearest(Indexes(store), _COLLECTION)
            rows += _noted(bench, name, [Row("exact pass of a recall", "s", (time.perf_counter() - began,))])
            rows += _noted(bench, name, await _listed(store))
            fresh = await recall_of(Indexes(store), _COLLECTION, exact)
            rows += _noted(bench, name, prefixed("as put in", _searches(fresh)))
            for kind in _MEASURED:
                rows += _noted(bench, name, await _indexed(store, kind, size, exact, bench.folder))
    finally:
        await store.close()
    return rows


async def _fill(store: MilvusStore, made: int, size: int) -> None:
    topics, basis = mixture()
    for start in range(made, size, _BLOCK):
        count = min(_BLOCK, size - start)
        draw = np.random.default_rng(start)
        texts = _texts(draw, count)
        passages = [_passage(start + place, text) for place, text in enumerate(texts)]
        await store.insert(_COLLECTION, passages, clustered(draw, count, topics, basis))


def _passage(number: int, text: str) -> StoredPassage:
    source = f"source-{number // _PER_SOURCE:06d}.md"
    ordinal = number % _PER_SOURCE + 1
    meta = {"kind": "vector", "content_hash": f"hash-{number // _PER_SOURCE}", "added_at": "2026-01-01"}
    return StoredPassage(PassageId(f"{source}#{ordinal}"), source, text, f"Section {ordinal // 5}", "T", ordinal, meta)


async def _listed(store: MilvusStore) -> list[Row]:
    """What a run and the page Knowledge ask before and during a search."""
    found = []
    for name, work in (
        ("describe", lambda: store.describe(_COLLECTION)),
        ("list of collections", store.collections),
        ("list of sources", lambda: store.sources(_COLLECTION)),
    ):
        taken = []
        for _ in range(3):
            began = time.perf_counter()
            await work()
            taken.append((time.perf_counter() - began) * 1000.0)
        found.append(Row(name, "ms", tuple(taken)))
    return found


async def _indexed(store: MilvusStore, kind: IndexKind, size: int, exact: Exact, place: Path) -> list[Row]:
    """One kind of index, from the order to build it to what its searches find."""
    began = time.perf_counter()
    await Indexes(store).change(_COLLECTION, kind, build_of(kind, size))
    away = time.perf_counter() - began
    state = await _built(store, began)
    took = time.perf_counter() - began
    if state.indexed < state.rows:
        return list(prefixed(kind, [Row("not built in time, seconds", "s", (took,))]))
    makeshift = (await recall_of(Indexes(store), _COLLECTION, exact)).rows[-1]
    began = time.perf_counter()
    await Indexes(store).use(_COLLECTION)
    loaded = time.perf_counter() - began
    figures = await recall_of(Indexes(store), _COLLECTION, exact)
    rows = [
        Row("order, flush and loading", "s", (away,)),
        Row("until built", "s", (took,)),
        Row("recall@10 of the makeshift index until then", "%", (makeshift.recall,)),
        Row("loading with it", "s", (loaded,)),
        Row("memory of the server", "MB", (_memory_mb() - _resident_mb(os.getpid()),)),
        Row("disk of the server", "MB", (_disk_mb(place),)),
        *_searches(figures),
    ]
    return list(prefixed(kind, rows))


async def _built(store: MilvusStore, began: float) -> IndexState:
    while True:
        state = await Indexes(store).state(_COLLECTION)
        if state.indexed >= state.rows or time.perf_counter() - began > _BUILT_WITHIN_S:
            return state
        await asyncio.sleep(_LOOK_S)


def _searches(figures: RecallFigures) -> Iterator[Row]:
    for item in figures.rows:
        breadth = f" at {item.breadth}" if item.breadth else ""
        yield Row(f"recall@{figures.limit}{breadth}", "%", (item.recall,))
        yield Row(f"search{breadth}, median", "ms", (item.median_ms,))
        yield Row(f"search{breadth}, 95th percentile", "ms", (item.p95_ms,))


def _noted(bench: Bench, size: str, rows: Iterable[Row]) -> list[Row]:
    named = list(prefixed(size, rows))
    for row in named:
        print(f"{row.name}: {row.median:.4g} {row.unit}", flush=True)
    if bench.out is not None:
        bench.out.mkdir(parents=True, exist_ok=True)
        with (bench.out / "scale.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps([row.name, row.unit, row.median]) + "\n" for row in named)
    return named


def _unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
