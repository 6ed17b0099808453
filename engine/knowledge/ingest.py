"""Documents into a collection: duplicates skipped, changed sources replaced, bad files reported, nothing half done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.errors import EmbeddingMismatch, SourceError, SourceMissing, SourceUnreadable, UnknownCollection
from engine.knowledge.chunk import chunk
from engine.knowledge.load import DEFAULT_LIMIT_MB, Document, load, load_bytes, suffixes
from engine.knowledge.summarise import summaries_of, to_embed, with_vectors
from engine.roles import CollectionInfo, Embedder, SourceInfo, StoredPassage, Summaries, Vector
from engine.values import PassageId

SUFFIXES: tuple[str, ...] = suffixes()
"""Suffixes of files that can be ingested, each with its dot."""

EMBED_BATCH = 16
"""Passages embedded between two looks at progress and cancellation: about 6 s of the built-in model on two cores."""


@dataclass(frozen=True, slots=True)
class IngestItem:
    """One file to ingest: on disk (``path``) or in memory (``data``)."""

    name: str
    """Name of the source in the collection; with ``/`` between folders."""
    path: Path | None = None
    data: bytes | None = None

    def read(self) -> bytes:
        """The file's bytes; raises ``SourceMissing`` or ``SourceUnreadable``."""
        if self.data is not None:
            return self.data
        if self.path is None:
            raise SourceMissing.at(self.name)
        try:
            return self.path.read_bytes()
        except FileNotFoundError as error:
            raise SourceMissing.at(str(self.path)) from error
        except OSError as error:
            raise SourceUnreadable.named(self.name, error.strerror or type(error).__name__) from error


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingestion has come."""

    done: int
    total: int
    """Passages to embed, duplicates and unusable files left out."""
    per_second: float
    remaining_s: float | None
    """None before the first batch."""
    source: str
    """The source being worked on."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of every item of one ingestion."""

    added: tuple[str, ...]
    skipped_duplicates: tuple[tuple[str, str], ...]
    """Item and the source that has the same content."""
    replaced: tuple[str, ...]
    failed: tuple[tuple[str, SourceError], ...]
    passages: int
    """Passages written."""
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: names of sources, and for each failed item its code, fact and remedy."""
        return {
            "added": list(self.added),
            "skipped": [{"name": name, "same_as": same} for name, same in self.skipped_duplicates],
            "replaced": list(self.replaced),
            "failed": [
                {"name": name, "code": error.code, "fact": error.fact, "remedy": error.remedy}
                for name, error in self.failed
            ],
            "passages": self.passages,
            "seconds": round(self.seconds, 3),
        }


class IngestStore(Protocol):
    """What of a passage store ingestion needs."""

    async def describe(self, collection: str) -> CollectionInfo: ...

    async def create(self, info: CollectionInfo) -> None: ...

    async def insert(
        self, collection: str, passages: Sequence[StoredPassage], vectors: Vector, summaries: Summaries
    ) -> None: ...

    async def summarise(self, collection: str, summaries: Summaries) -> None: ...

    async def sources(self, collection: str) -> list[SourceInfo]: ...

    async def passages(self, collection: str, source: str) -> list[StoredPassage]: ...

    async def vectors(self, collection: str, ids: Sequence[PassageId]) -> dict[PassageId, Vector]: ...

    async def delete_source(self, collection: str, source: str) -> int: ...


@dataclass(frozen=True, slots=True)
class _Plan:
    """What reading the items showed, before anything is embedded."""

    new: tuple[Document, ...]
    duplicates: tuple[tuple[str, str], ...]
    replaces: frozenset[str]
    untold: tuple[str, ...]
    """Sources met again that have no summaries, as those of earlier versions: these are added, and nothing else."""
    failed: tuple[tuple[str, SourceError], ...]


def items_of(paths: Iterable[Path]) -> tuple[list[IngestItem], list[tuple[str, SourceError]]]:
    """Items for files and whole folders, and what cannot be read; blocks.

    A folder gives every file below it that can be loaded, named by its path relative to that folder with ``/``;
    hidden ones are left out, and links that lead outside the folder are not followed. A file named directly is always
    an item, so that an unusable one is reported.
    """
    items: list[IngestItem] = []
    failed: list[tuple[str, SourceError]] = []
    for path in paths:
        try:
            if path.is_dir():
                items += _in_folder(path)
            elif path.exists():
                items.append(IngestItem(path.name, path=path))
            else:
                failed.append((str(path), SourceMissing.at(str(path))))
        except OSError as error:
            why = error.strerror or type(error).__name__
            failed.append((str(path), SourceUnreadable.named(str(path), why)))
    return items, failed


async def ingest(
    store: IngestStore,
    embedder: Embedder,
    collection: str,
    items: Sequence[IngestItem],
    progress: Callable[[Progress], None] | None = None,
    *,
    limit_mb: float = DEFAULT_LIMIT_MB,
) -> IngestReport:
    """Put documents into a collection, which is made where it is missing.

    An item whose content the collection has already is skipped, whatever its name; one of a known name with other
    content replaces it. Each source is written at once when all its vectors are there, so a cancel between batches
    leaves whole sources only. Summaries go in with their source; a skipped one that has none gets them. An unusable
    file is reported and stops nothing. Raises ``EmbeddingMismatch`` before anything is read where the collection was
    built with another model.
    """
    started = time.monotonic()
    await _prepare(store, embedder, collection)
    plan = await _plan(store, collection, items, limit_mb)
    pace = _Pace(progress)
    sources = [(document, chunk(document, added_at=_now())) for document in plan.new]
    pace.total = sum(len(passages) for _, passages in sources)
    for document, passages in sources:
        vectors, summaries = await _embedded(embedder, document.source, passages, pace)
        await _write(store, collection, passages, vectors, summaries, replace=document.source in plan.replaces)
    for source in plan.untold:
        await _summarise(store, embedder, collection, source)
    return IngestReport(
        added=tuple(document.source for document in plan.new if document.source not in plan.replaces),
        skipped_duplicates=plan.duplicates,
        replaced=tuple(document.source for document in plan.new if document.source in plan.replaces),
        failed=plan.failed,
        passages=pace.done,
        seconds=time.monotonic() - started,
    )


async def _prepare(store: IngestStore, embedder: Embedder, collection: str) -> None:
    try:
        info = await store.describe(collection)
    except UnknownCollection:
        await store.create(
            CollectionInfo(
                name=collection,
                embedding_model=embedder.model_id,
                dim=embedder.dim,
                query_prefix=embedder.query_prefix,
                passage_prefix=embedder.passage_prefix,
                created_at=_now(),
            )
        )
        return
    if (info.embedding_model, info.dim) != (embedder.model_id, embedder.dim):
        raise EmbeddingMismatch.between(
            collection,
            f"{info.embedding_model} ({info.dim} dimensions)",
            f"{embedder.model_id} ({embedder.dim} dimensions)",
        )


async def _plan(store: IngestStore, collection: str, items: Sequence[IngestItem], limit_mb: float) -> _Plan:
    present = await store.sources(collection)
    by_hash = {info.content_hash: info.source for info in present if info.content_hash}
    without = {info.source for info in present if info.passages and not info.summaries}
    names = {info.source for info in present}
    new: dict[str, Document] = {}
    duplicates: list[tuple[str, str]] = []
    failed: list[tuple[str, SourceError]] = []
    for item in items:
        try:
            document = await asyncio.to_thread(_read, item, limit_mb)
        except SourceError as error:
            failed.append((item.name, error))
            continue
        same = by_hash.get(document.content_hash)
        if same is not None:
            duplicates.append((document.source, same))
            continue
        earlier = new.get(document.source)
        if earlier is not None:  # the same name twice in one batch: the later file counts, as it would one by one
            del by_hash[earlier.content_hash]
        new[document.source] = document
        by_hash[document.content_hash] = document.source
    untold = sorted(without.intersection(same for _, same in duplicates) - new.keys())
    return _Plan(tuple(new.values()), tuple(duplicates), frozenset(names & new.keys()), tuple(untold), tuple(failed))


def _read(item: IngestItem, limit_mb: float) -> Document:
    if item.data is not None:
        return load_bytes(item.name, item.data, limit_mb)
    if item.path is None:
        raise SourceMissing.at(item.name)
    return load(item.path, item.name, limit_mb)


class _Pace:
    """Counts passages and reports progress."""

    def __init__(self, report: Callable[[Progress], None] | None) -> None:
        self.done = 0
        self.total = 0
        self._report = report
        self._began = time.monotonic()

    def advance(self, count: int, source: str) -> None:
        self.done += count
        if self._report is None:
            return
        rate = self.done / max(time.monotonic() - self._began, 1e-6)
        remaining = (self.total - self.done) / rate if self.done else None
        self._report(Progress(self.done, self.total, rate if self.done else 0.0, remaining, source))


async def _embedded(
    embedder: Embedder, source: str, passages: Sequence[StoredPassage], pace: _Pace
) -> tuple[Vector, Summaries]:
    """Vectors of a source, shape (n, dim), and its summaries with theirs, embedded in batches."""
    pace.advance(0, source)
    summaries = await asyncio.to_thread(summaries_of, passages)
    texts = [*(passage.text for passage in passages), *to_embed(summaries)]
    rows: list[Vector] = [np.empty((0, embedder.dim), dtype=np.float32)]
    for start in range(0, len(texts), EMBED_BATCH):
        rows.append(await embedder.embed_passages(texts[start : start + EMBED_BATCH]))
        pace.advance(len(passages[start : start + EMBED_BATCH]), source)
    vectors = np.concatenate(rows)
    own, told = vectors[: len(passages)], vectors[len(passages) :]
    by_id = {passage.id: vector for passage, vector in zip(passages, own, strict=True)}
    return own, with_vectors(summaries, told, by_id, embedder.dim)


async def _summarise(store: IngestStore, embedder: Embedder, collection: str, source: str) -> None:
    """Add summaries to a source that is there; its passages are neither embedded nor written again."""
    summaries = await asyncio.to_thread(summaries_of, await store.passages(collection, source))
    twins = [item.twin for item in summaries if item.twin is not None]
    stored = await store.vectors(collection, twins)
    # A source that is being written to by somebody else may have lost some since: what has no vector is left out.
    summaries = [item for item in summaries if item.twin is None or item.twin in stored]
    texts = to_embed(summaries)
    rows = [
        await embedder.embed_passages(texts[start : start + EMBED_BATCH]) for start in range(0, len(texts), EMBED_BATCH)
    ]
    told = np.concatenate([np.empty((0, embedder.dim), dtype=np.float32), *rows])
    await _wholly(store.summarise(collection, with_vectors(summaries, told, stored, embedder.dim)))


async def _write(
    store: IngestStore,
    collection: str,
    passages: Sequence[StoredPassage],
    vectors: Vector,
    summaries: Summaries,
    *,
    replace: bool,
) -> None:
    """Write one source wholly.

    Replacing deletes first, because the new version may have fewer passages: stopping in between would lose a source.
    """

    async def work() -> None:
        if replace:
            await store.delete_source(collection, passages[0].source)
        await store.insert(collection, passages, vectors, summaries)

    await _wholly(work())


async def _wholly(work: Coroutine[Any, Any, None]) -> None:
    """Do what must not be stopped half way: a cancel that arrives meanwhile waits for the end of it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _in_folder(folder: Path) -> list[IngestItem]:
    root = folder.resolve()
    items = []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in relative.parts)
        if hidden or path.suffix.lower() not in suffixes() or not path.is_file():
            continue
        if path.resolve().is_relative_to(root):
            items.append(IngestItem(relative.as_posix(), path=path))
    return items


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
