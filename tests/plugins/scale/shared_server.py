"""What a server that several teams share takes, and how quickly passages with their vectors go into one."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from engine.knowledge.milvus_connection import connect
from engine.knowledge.milvus_database import data_types
from engine.knowledge.milvus_store import MilvusStore
from engine.roles import CollectionInfo, StoredPassage, Vector
from plugins.scale.bulk import ImportFolder
from plugins.scale.indexes import Indexes
from tests.benchmarks.growth import _memory_mb, _resident_mb, _texts
from tests.benchmarks.harness import Bench, Row
from tests.plugins.scale.index_benchmark import _passage, clustered, mixture
from tests.support import milvus_server

_DIM = 384
_SEARCHES = 40
_TIMEOUT_S = 120.0
_BLOCKS: Sequence[tuple[str, int]] = (("source by source", 50), ("in blocks of 1 000", 1_000))
_INFO = CollectionInfo("docs", "drawn", _DIM, "", "", "2026-01-01")


def teams(bench: Bench) -> Iterator[Row]:
    """A database for each team, against one collection that a partition key divides."""
    if why_not := milvus_server.missing():
        print(f"left out: {why_not}")
        return
    with milvus_server.running(bench.folder) as uri:
        before = _server_mb()
        yield from asyncio.run(_in_databases(uri, bench.sizes.teams, before))
        before = _server_mb()
        yield from _in_partitions(uri, bench.sizes.teams, before)


def loading(bench: Bench) -> Iterator[Row]:
    """Passages a second by requests of one source, of a block, and by bulk import."""
    if why_not := milvus_server.missing():
        print(f"left out: {why_not}")
        return
    with milvus_server.running(bench.folder) as uri:
        yield from asyncio.run(_loaded(uri, bench.sizes.loaded, bench.folder / "bulk"))


async def _in_databases(uri: str, count: int, before: float) -> list[Row]:
    opened, searched = [], []
    for number in range(count):
        store = MilvusStore(uri, timeout_s=_TIMEOUT_S, database=f"team_{number}")
        began = time.perf_counter()
        await store.open()
        await store.create(_INFO)
        opened.append(time.perf_counter() - began)
        passages, vectors = _drawn(number, 1_000)
        await store.insert("docs", passages, vectors)
        for place in range(_SEARCHES // count + 1):
            began = time.perf_counter()
            await Indexes(store).nearest("docs", vectors[place], 10, {})
            searched.append((time.perf_counter() - began) * 1000.0)
        await store.close()
    return [
        Row(f"a database each of {count} teams: made with its first collection", "s", tuple(opened)),
        Row("memory of a team, 1 000 passages", "MB", ((_server_mb() - before) / count,)),
        Row("search", "ms", tuple(searched)),
    ]


def _in_partitions(uri: str, count: int, before: float) -> list[Row]:
    client, types = connect(uri, "", _TIMEOUT_S), data_types()
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", types.VARCHAR, max_length=200, is_primary=True)
    schema.add_field("team", types.VARCHAR, max_length=64, is_partition_key=True)
    schema.add_field("text", types.VARCHAR, max_length=65_535)
    schema.add_field("vector", types.FLOAT_VECTOR, dim=_DIM)
    index = client.prepare_index_params()
    index.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
    began = time.perf_counter()
    client.create_collection("shared", schema=schema, index_params=index)
    made = time.perf_counter() - began
    searched = []
    for number in range(count):
        passages, vectors = _drawn(number, 1_000)
        for start in range(0, 1_000, 500):
            client.upsert("shared", _rows(number, passages[start : start + 500], vectors[start : start + 500]))
        for place in range(_SEARCHES // count + 1):
            began = time.perf_counter()
            client.search(
                "shared",
                [vectors[place].tolist()],
                filter=f'team == "team_{number}"',
                limit=10,
                output_fields=["text"],
                consistency_level="Bounded",
            )
            searched.append((time.perf_counter() - began) * 1000.0)
    client.close()
    return [
        Row(f"one collection with a partition key for {count} teams: made", "s", (made,)),
        Row("memory of a team, 1 000 passages, by partition key", "MB", ((_server_mb() - before) / count,)),
        Row("search, by partition key", "ms", tuple(searched)),
    ]


def _rows(team: int, passages: Sequence[StoredPassage], vectors: Vector) -> list[dict[str, Any]]:
    pairs = zip(passages, vectors, strict=True)
    return [
        {"id": f"{team}-{item.id}", "team": f"team_{team}", "text": item.text, "vector": row.tolist()}
        for item, row in pairs
    ]


async def _loaded(uri: str, count: int, folder: Path) -> list[Row]:
    passages, vectors = _drawn(0, count)
    store = MilvusStore(uri, timeout_s=_TIMEOUT_S)
    rows = []
    for name, block in _BLOCKS:
        collection = f"by_{block}"
        await store.create(CollectionInfo(collection, "drawn", _DIM, "", "", "2026-01-01"))
        few = min(count, 40 * block)
        began = time.perf_counter()
        for start in range(0, few, block):
            await store.insert(collection, passages[start : start + block], vectors[start : start + block])
        rows.append(Row(f"put in {name}", "/s", (few / (time.perf_counter() - began),)))
        await store.drop(collection)
    await store.create(CollectionInfo("by_import", "drawn", _DIM, "", "", "2026-01-01"))
    began = time.perf_counter()
    await Indexes(store).bulk_insert("by_import", passages, vectors, ImportFolder(folder))
    rows.append(Row(f"put in by bulk import of {count}", "/s", (count / (time.perf_counter() - began),)))
    await store.close()
    return rows


def _drawn(number: int, count: int) -> tuple[list[StoredPassage], Vector]:
    draw = np.random.default_rng(number)
    topics, basis = mixture()
    texts = _texts(draw, count)
    return [_passage(place, text) for place, text in enumerate(texts)], clustered(draw, count, topics, basis)


def _server_mb() -> float:
    return median([_memory_mb() - _resident_mb(os.getpid()) for _ in range(3)])
