"""How ingestion and search grow with a collection, on Milvus Lite and on a server; embedding is left out.

Vectors are drawn so that their cosines lie as those of a real model do: in a narrow band above 0.7, nearer within a
subject. Texts are words drawn as often as words of a language are, so that search by words has lists of real lengths.
"""

from __future__ import annotations

import asyncio
import os
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.knowledge.milvus_store import MilvusStore
from engine.model.config import SearchMethod
from engine.model.values import SOURCE_KINDS, PassageId
from engine.retrieval.search import CollectionRetriever
from engine.retrieval.shipped import calibration_of
from engine.retrieval.similarity import Calibration
from engine.roles import CollectionInfo, StoredPassage, Vector
from tests.benchmarks.harness import Bench, Row, prefixed, shown
from tests.support import milvus_server

_COLLECTION = "bench_growth"
_DIM = 384
_PER_SOURCE = 50
_SUBJECTS = 40
_VOCABULARY = 20_000
_WORDS = 80
"""Words of a passage: about 500 characters, as a section of a text."""
_LIMIT = 20
_QUERIES = 8
_TIMEOUT_S = 120.0
_SETTLED_S = 11.0
"""After a write, reads of a server wait for everything written; the store stops asking for that after 10 s."""


def growth(bench: Bench) -> Iterator[Row]:
    """Both stores; with ``--out`` the table is also written as Markdown."""
    lite = bench.folder / "lite"
    lite.mkdir()
    rows = list(prefixed("Milvus Lite", asyncio.run(_grown(bench, str(lite / "knowledge.db"), lite, 0.0))))
    yield from rows
    why_not = milvus_server.missing()
    if why_not:
        print(f"left out: {why_not}")
    else:
        place = bench.folder / "server"
        place.mkdir()
        with milvus_server.running(place) as uri:
            on_server = list(prefixed("Milvus server", asyncio.run(_grown(bench, uri, place, _SETTLED_S))))
        rows += on_server
        yield from on_server
    if bench.out is not None:
        bench.out.mkdir(parents=True, exist_ok=True)
        (bench.out / "growth.md").write_text(markdown(rows, bench.sizes.growth), encoding="utf-8")


def markdown(rows: Sequence[Row], sizes: Sequence[int]) -> str:
    """One line a measure, one column a size; rows are named ``store: measure at size``."""
    lines: dict[str, dict[str, str]] = {}
    for item in rows:
        measure, _, size = item.name.rpartition(" at ")
        lines.setdefault(measure, {})[size] = shown(item.median, item.unit)
    columns = [f"{size:,}".replace(",", " ") for size in sizes]
    head = [f"| | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    body = [f"| {name} | {' | '.join(found.get(size, '–') for size in columns)} |" for name, found in lines.items()]
    return "\n".join([*head, *body]) + "\n"


@dataclass(frozen=True, slots=True)
class _Drawn:
    """An ``Embedder`` whose vectors are drawn, the same ones for the same text."""

    model_id: str = "drawn"
    dim: int = _DIM
    query_prefix: str = ""
    passage_prefix: str = ""

    async def embed_query(self, text: str) -> Vector:
        drawn: Vector = _vectors(np.random.default_rng(zlib.crc32(text.encode())), 1)[0]
        return drawn

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([await self.embed_query(text) for text in texts]) if texts else np.empty((0, _DIM), np.float32)


async def _grown(bench: Bench, uri: str, place: Path, settled_s: float) -> list[Row]:
    """All measures at all sizes; ``place`` is the folder whose growth on disk is the store's."""
    rows: list[Row] = []
    embedder = _Drawn()
    calibration = await calibration_of(embedder, bench.folder)
    before_mb = _memory_mb()
    made = 0
    for size in bench.sizes.growth:
        async with _opened(uri) as store:
            if not made:
                await store.create(CollectionInfo(_COLLECTION, embedder.model_id, _DIM, "", "", "2026-01-01"))
            began = time.perf_counter()
            await _fill(store, made, size)
            per_second = (size - made) / (time.perf_counter() - began)
        made = size
        began = time.perf_counter()
        async with _opened(uri) as store:
            await store.search(_COLLECTION, _vectors(np.random.default_rng(1), 1)[0], _LIMIT)
            first_ms = (time.perf_counter() - began) * 1000.0
            await asyncio.sleep(settled_s)
            measured = [
                Row("passages put in", "/s", (per_second,)),
                Row("opening and first search", "ms", (first_ms,)),
                *[row async for row in _searched(store, embedder, calibration)],
                *[row async for row in _listed(store)],
                Row("memory added", "MB", (_memory_mb() - before_mb,)),
                Row("disk", "MB", (_disk_mb(place),)),
            ]
        name = f"{size:,}".replace(",", " ")
        rows += [Row(f"{row.name} at {name}", row.unit, row.values) for row in measured]
        print(f"{uri}: {name} measured", flush=True)
    async with _opened(uri) as store:
        await store.drop(_COLLECTION)
    return rows


@asynccontextmanager
async def _opened(uri: str) -> AsyncIterator[MilvusStore]:
    store = MilvusStore(uri, timeout_s=_TIMEOUT_S)
    try:
        await store.open()
        yield store
    finally:
        await store.close()


async def _fill(store: MilvusStore, made: int, size: int) -> None:
    for start in range(made, size, _PER_SOURCE):
        place = start // _PER_SOURCE
        count = min(_PER_SOURCE, size - start)
        draw = np.random.default_rng(place)
        source = f"source-{place:05d}.md"
        meta = {
            "kind": SOURCE_KINDS[place % len(SOURCE_KINDS)],
            "content_hash": f"hash-{place}",
            "added_at": "2026-01-01",
        }
        passages = [
            StoredPassage(
                PassageId(f"{source}#{ordinal}"), source, text, f"Section {ordinal // 5}", "Title", ordinal, meta
            )
            for ordinal, text in enumerate(_texts(draw, count), start=1)
        ]
        await store.insert(_COLLECTION, passages, _vectors(draw, count, place % _SUBJECTS))


async def _searched(store: MilvusStore, embedder: _Drawn, calibration: Calibration) -> AsyncIterator[Row]:
    info = await store.describe(_COLLECTION)
    draw = np.random.default_rng(7)
    queries = [" ".join(text.split()[:8]) for text in _texts(draw, _QUERIES)]
    methods: tuple[tuple[SearchMethod, str], ...] = (("vector", "search by vectors"), ("full_text", "search by words"))
    for method, name in (*methods, ("fused", "search by both")):
        if method != "vector" and not info.full_text:
            continue
        retriever = CollectionRetriever.checked(store, embedder, info, calibration, method)
        yield Row(name, "ms", await _timed([_call(retriever.search, query) for query in queries]))
        if method == "vector":
            within = [_within(retriever, query) for query in queries]
            yield Row("search within one kind of source", "ms", await _timed(within))


async def _listed(store: MilvusStore) -> AsyncIterator[Row]:
    yield Row("list of collections", "ms", await _timed([store.collections] * 3))
    yield Row("list of sources", "ms", await _timed([lambda: store.sources(_COLLECTION)] * 3))
    yield Row("passages of a source", "ms", await _timed([lambda: store.passages(_COLLECTION, "source-00003.md")] * 3))


async def _timed(works: Sequence[Callable[[], Awaitable[object]]]) -> tuple[float, ...]:
    """Milliseconds of each, after one that warms up."""
    await works[0]()
    taken: list[float] = []
    for work in works:
        began = time.perf_counter()
        await work()
        taken.append((time.perf_counter() - began) * 1000.0)
    return tuple(taken)


def _call(search: Callable[[str, int], Awaitable[object]], query: str) -> Callable[[], Awaitable[object]]:
    return lambda: search(query, _LIMIT)


def _within(retriever: CollectionRetriever, query: str) -> Callable[[], Awaitable[object]]:
    return lambda: retriever.search_kind(query, "vector", _LIMIT)


def _vectors(draw: np.random.Generator, count: int, subject: int = 0) -> Vector:
    """Unit vectors that share a large part with all others and a smaller one with their subject."""
    fixed = np.random.default_rng(99).normal(size=(_SUBJECTS + 1, _DIM))
    fixed /= np.linalg.norm(fixed, axis=1, keepdims=True)
    own = draw.normal(size=(count, _DIM))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    mixed = 0.85 * fixed[-1] + 0.35 * fixed[subject] + 0.4 * own
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), dtype=np.float32)


def _texts(draw: np.random.Generator, count: int) -> list[str]:
    """Texts whose words are as frequent as their rank says, by Zipf's law; a third of them Chinese."""
    ranks = np.minimum(draw.zipf(1.3, size=(count, _WORDS)), _VOCABULARY)
    return [" ".join(_word(int(rank)) for rank in row) for row in ranks]


def _word(rank: int) -> str:
    if rank % 3 == 0:
        return chr(0x4E00 + rank % 5000) + chr(0x4E00 + rank * 7 % 5000)
    return f"w{rank:x}ord"


def _memory_mb() -> float:
    """Resident memory of this process and of all that it started, which is where a server runs."""
    parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
    wanted = {os.getpid()}
    while grown := {pid for pid, parent in parents.items() if parent in wanted} - wanted:
        wanted |= grown
    return sum(map(_resident_mb, wanted))


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _disk_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
