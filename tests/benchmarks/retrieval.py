"""Retrieval through the product's own layers against the bare client call on the same collection."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from engine.builtin.embedder import HashingEmbedder
from engine.knowledge.milvus_connection import connect, disconnect
from engine.knowledge.milvus_schema import own_layout
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.retrieval.search import CollectionRetriever
from engine.retrieval.shipped import calibration_of
from engine.roles import CollectionInfo, StoredPassage, Vector
from tests.benchmarks.harness import Bench, Row, in_turn_async, prefixed, ratio
from tests.support import milvus_server

_COLLECTION = "bench_retrieval"
_LIMIT = 20
_TIMEOUT_S = 60.0
_QUERIES = 8
_SETTLED_S = 11.0
"""After a write, reads of a server wait for everything written; the store stops asking for that after 10 s."""


def embedded_retrieval(bench: Bench) -> Iterator[Row]:
    """Milvus Lite, in a folder."""
    uri = str(bench.folder / "knowledge.db")
    yield from prefixed("Milvus Lite", asyncio.run(_measured(bench, uri, bench.sizes.passages, 0.0)))


def server_retrieval(bench: Bench) -> Iterator[Row]:
    """A Milvus server, where this machine has one."""
    why_not = milvus_server.missing()
    if why_not:
        print(f"left out: {why_not}")
        return
    with milvus_server.running(bench.folder) as uri:
        yield from prefixed(
            "Milvus server", asyncio.run(_measured(bench, uri, bench.sizes.server_passages, _SETTLED_S))
        )


async def _measured(bench: Bench, uri: str, rows: int, settled_s: float) -> list[Row]:
    embedder = HashingEmbedder()
    store = MilvusStore(uri, timeout_s=_TIMEOUT_S)
    await store.open()
    client = await asyncio.to_thread(connect, uri, "", _TIMEOUT_S)
    try:
        await _filled(store, embedder, rows)
        await asyncio.sleep(settled_s)
        retriever = CollectionRetriever.checked(
            store, embedder, await store.describe(_COLLECTION), await calibration_of(embedder, bench.folder)
        )
        return await _compared(bench, retriever, client, embedder, rows)
    finally:
        await store.drop(_COLLECTION)
        await asyncio.to_thread(disconnect, client, uri)
        await store.close()


async def _compared(
    bench: Bench, retriever: CollectionRetriever, client: Any, embedder: HashingEmbedder, rows: int
) -> list[Row]:
    queries = [f"question {place} about subject {place * 7}" for place in range(_QUERIES)]
    vectors = [(await embedder.embed_query(query)).tolist() for query in queries]
    fields = own_layout("", embedder.dim).output
    for query in queries:  # the retriever keeps a question's vector, so embedding is not measured
        await retriever.search(query, _LIMIT)

    async def ours() -> None:
        for query in queries:
            await retriever.search(query, _LIMIT)

    async def bare() -> None:
        # In a thread, as any server that must not block would call it.
        for vector in vectors:
            await asyncio.to_thread(_search, client, vector, fields)

    ours_ms, bare_ms = await in_turn_async(ours, bare, repeats=bench.sizes.repeats)
    name = f"retrieval, {rows} passages, top {_LIMIT}"
    return [
        Row(name, "ms", tuple(value / _QUERIES for value in ours_ms)),
        ratio(f"{name} / bare MilvusClient.search", ours_ms, bare_ms, "< 1.15 ×"),
    ]


def _search(client: Any, vector: list[float], fields: list[str]) -> None:
    (found,) = client.search(
        _COLLECTION,
        data=[vector],
        anns_field="vector",
        limit=_LIMIT,
        output_fields=fields,
        consistency_level="Bounded",
        timeout=_TIMEOUT_S,
    )
    # The client parses a hit when it is first read.
    texts = [hit["entity"]["text"] for hit in found]
    assert all(texts), "the bare search found nothing"


async def _filled(store: MilvusStore, embedder: HashingEmbedder, rows: int) -> None:
    info = CollectionInfo(_COLLECTION, embedder.model_id, embedder.dim, "", "", "2026-01-01T00:00:00+00:00")
    await store.create(info)
    passages = stored_passages(rows)
    await store.insert(_COLLECTION, passages, random_vectors(rows, embedder.dim))


def stored_passages(count: int, words: int = 120) -> Sequence[StoredPassage]:
    """Passages of about 700 characters, ten to a source."""
    return [
        StoredPassage(
            PassageId(f"source-{place // 10}.md#{place % 10 + 1}"),
            f"source-{place // 10}.md",
            " ".join(f"word{(place * 31 + step * 17) % 4096}" for step in range(words)),
            f"Section {place % 10}",
            f"Source {place // 10}",
            place % 10 + 1,
        )
        for place in range(count)
    ]


def random_vectors(rows: int, dim: int) -> Vector:
    """Unit vectors of shape (rows, dim), the same every time."""
    drawn = np.random.default_rng(7).standard_normal((rows, dim)).astype(np.float32)
    unit: Vector = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit
