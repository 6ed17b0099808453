"""Documents into a collection: duplicates skipped, changed sources replaced, bad files reported, nothing half done.

Every file is read and cut first, one at a time, so that the work ahead is known; then one source after the other is
embedded and written. A :class:`~engine.knowledge.journal.Journal` keeps what was read and embedded, so an ingestion
that begins with the journal of one that was cut off ends exactly as that one would have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np

from engine.errors import (
    EmbeddingMismatch,
    FieldTooLong,
    SourceError,
    SourceMissing,
    SourceUnreadable,
    TextTooLong,
    UnknownCollection,
)
from engine.knowledge.chunk import chunk, tokens
from engine.knowledge.items import MOST_FILES, IngestItem, items_of
from engine.knowledge.journal import Entry, EntryState, Journal
from engine.knowledge.load import DEFAULT_LIMIT_MB, Document, load, load_bytes, suffixes
from engine.knowledge.pace import IngestReport, Pace, Progress
from engine.knowledge.summarise import summaries_of, to_embed, with_vectors
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions
from engine.model.values import Fault, PassageId
from engine.roles import CollectionInfo, Embedder, SourceInfo, StoredPassage, Summaries, Vector, slug

__all__ = ["EMBED_BATCH", "MOST_FILES", "SUFFIXES", "IngestItem", "IngestReport", "Progress", "ingest", "items_of"]

SUFFIXES: tuple[str, ...] = suffixes()
"""Suffixes of files that can be ingested, each with its dot."""

EMBED_BATCH = 16
"""Passages embedded between two looks at progress and cancellation: about 6 s of the built-in model on two cores."""


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
class _Into:
    """Where passages go, and what makes their vectors."""

    store: IngestStore
    embedder: Embedder
    collection: str
    journal: Journal
    pace: Pace

    @property
    def model(self) -> str:
        return slug(self.embedder)


async def ingest(
    store: IngestStore,
    embedder: Embedder,
    collection: str,
    items: Sequence[IngestItem],
    progress: Callable[[Progress], None] | None = None,
    *,
    limit_mb: float = DEFAULT_LIMIT_MB,
    chunks: ChunkOptions = DEFAULT_CHUNKS,
    journal: Journal | None = None,
    failed: Iterable[tuple[str, Fault]] = (),
    description: str = "",
    timed: Callable[[float, float], None] | None = None,
) -> IngestReport:
    """Put documents into a collection, which is made where it is missing.

    An item whose content the collection has already is skipped, regardless of its name; one of a known name with other
    content, or cut with other options, replaces it. Each source is written at once when all its vectors are there, so
    a cancel between batches leaves whole sources only. Summaries go in with their source; a skipped one that has none
    gets them. An unusable file is reported and stops nothing; ``failed`` are those known to be unusable before.
    ``journal``: the caller's, which may hold what an earlier call with the same items has done; it is not closed.
    ``timed`` is told estimated tokens embedded and seconds taken, at the end and where the ingestion is cut off.
    Raises ``EmbeddingMismatch`` before anything is read where the collection was built with another model.
    """
    await _prepare(store, embedder, collection, description)
    known_bad = tuple(failed)
    own = journal if journal is not None else await asyncio.to_thread(lambda: Journal(None))
    pace = Pace(progress, known_bad, len(items) + len(known_bad))
    into = _Into(store, embedder, collection, own, pace)
    try:
        await _read_all(into, items, limit_mb, chunks)
        await _planned(into, chunks)
        await _write_all(into, chunks)
    finally:
        if timed is not None:
            timed(*pace.timed())
        if own is not journal:
            own.close()
    return pace.report()


async def _prepare(store: IngestStore, embedder: Embedder, collection: str, description: str) -> None:
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
                description=description,
            )
        )
        return
    if (info.embedding_model, info.dim) != (embedder.model_id, embedder.dim):
        raise EmbeddingMismatch(
            collection=collection,
            built_with=f"{info.embedding_model} ({info.dim} dimensions)",
            offered=f"{embedder.model_id} ({embedder.dim} dimensions)",
        )


async def _read_all(into: _Into, items: Sequence[IngestItem], limit_mb: float, chunks: ChunkOptions) -> None:
    """Read and cut every file that the journal does not know yet; what is cut waits there."""
    known = {entry.position: entry for entry in await asyncio.to_thread(into.journal.entries)}
    for position, item in enumerate(items):
        entry = known.get(position)
        if entry is None:
            into.pace.reading(item.name)
            found, passages = await asyncio.to_thread(_cut, position, item, limit_mb, chunks)
            await wholly(asyncio.to_thread(into.journal.note, found, passages))
        into.pace.read(entry or found)


def _cut(position: int, item: IngestItem, limit_mb: float, chunks: ChunkOptions) -> tuple[Entry, list[StoredPassage]]:
    try:
        document = read_document(item, limit_mb)
    except SourceError as error:
        return Entry(position, item.name, "failed", fault=Fault.of(error)), []
    passages = chunk(document, chunks, added_at=_now())
    known = Entry(position, document.source, "read", document.content_hash, len(passages), notes=document.notes)
    return known, passages


def read_document(item: IngestItem, limit_mb: float = DEFAULT_LIMIT_MB) -> Document:
    """The document of an item; blocks. Raises the ``SourceError`` that fits, no matter what its loader met with."""
    try:
        if item.data is not None:
            return load_bytes(item.name, item.data, limit_mb)
        if item.path is None:
            raise SourceMissing(name=item.name)
        return load(item.path, item.name, limit_mb)
    except SourceError:
        raise
    except Exception as error:
        # A file can be broken in more ways than a loader thinks of, and must not stop the others.
        raise SourceUnreadable(name=item.name, why=f"{type(error).__name__}: {str(error)[:150]}") from error


async def _planned(into: _Into, chunks: ChunkOptions) -> None:
    """Decide what is to be done with every file, unless the journal says that it was decided."""
    entries = await asyncio.to_thread(into.journal.entries)
    if any(entry.state == "read" for entry in entries):
        entries = plan(entries, await into.store.sources(into.collection), chunks)
        await asyncio.to_thread(into.journal.plan, entries)
    into.pace.planned(entries)


def plan(entries: Sequence[Entry], present: Iterable[SourceInfo], chunks: ChunkOptions) -> list[Entry]:
    """What is to be done with the files that were read, given the sources that the collection has."""
    names = {info.source for info in present}
    last = {entry.name: entry for entry in entries if entry.state == "read"}
    by_hash: dict[str, SourceInfo | None] = {}
    for info in present:
        coming = last.get(info.source)
        # What a source holds now is no duplicate of anything where the batch brings it other content.
        if info.content_hash and (coming is None or coming.content_hash == info.content_hash):
            by_hash[info.content_hash] = info
    earlier: dict[str, str] = {}
    planned: list[Entry] = []
    for entry in entries:
        if entry.state != "read":
            planned.append(entry)
            continue
        if last[entry.name] is not entry:  # the same name again: the later file counts, as it would one by one
            planned.append(replace(entry, state="superseded"))
            continue
        known = by_hash.get(entry.content_hash)
        recut = known is not None and known.source == entry.name and known.chunks != chunks.key
        same_as = earlier.get(entry.content_hash) or (known.source if known is not None and not recut else "")
        if same_as:
            planned.append(replace(entry, state="duplicate", same_as=same_as))
            continue
        earlier[entry.content_hash] = entry.name
        planned.append(replace(entry, state="replaces" if entry.name in names else "new"))
    return planned


async def _write_all(into: _Into, chunks: ChunkOptions) -> None:
    """Embed and write what is planned, then give summaries to sources met again that have none."""
    entries = await asyncio.to_thread(into.journal.entries)
    present = {info.source: info for info in await into.store.sources(into.collection)}
    for entry in entries:
        if entry.state not in ("new", "replaces"):
            continue
        there = present.get(entry.name)
        fault: Fault | None = None
        if there is None or (there.content_hash, there.chunks) != (entry.content_hash, chunks.key):
            fault = await _source(into, entry, replaces=there is not None)
        else:  # written by the process that was cut off before it could note so
            into.pace.reused(entry.passages)
        state: EntryState = "failed" if fault else "added" if entry.state == "new" else "replaced"
        ended = replace(entry, state=state, fault=fault)
        await wholly(asyncio.to_thread(into.journal.finish, ended))
        into.pace.ended(ended)
    met = {entry.same_as for entry in entries if entry.state == "duplicate"}
    written = {entry.name for entry in entries if entry.state not in ("duplicate", "failed")}
    for source in sorted(name for name in met - written if _untold(present.get(name))):
        await _summarise(into, source)


def _untold(info: SourceInfo | None) -> bool:
    """Whether a source has no summaries, as those of earlier versions."""
    return info is not None and info.passages > 0 and not info.summaries


async def _source(into: _Into, entry: Entry, *, replaces: bool) -> Fault | None:
    """Embed and write one source; the fault of one that the model or the store cannot hold."""
    passages = await asyncio.to_thread(into.journal.passages, entry.position)
    try:
        vectors, summaries = await _embedded(into, entry.name, passages)
        into.pace.writing(entry.name)
        await _write(into.store, into.collection, passages, vectors, summaries, replaces=replaces)
    except (FieldTooLong, TextTooLong) as error:
        return Fault.of(error)
    return None


async def _embedded(into: _Into, source: str, passages: Sequence[StoredPassage]) -> tuple[Vector, Summaries]:
    """Vectors of a source, shape (n, dim), and its summaries with theirs, embedded in batches."""
    into.pace.embedding(source)
    summaries = await asyncio.to_thread(summaries_of, passages)
    texts = [*(passage.text for passage in passages), *to_embed(summaries)]
    rows: list[Vector] = [np.empty((0, into.embedder.dim), dtype=np.float32)]
    for start in range(0, len(texts), EMBED_BATCH):
        done = passages[start : start + EMBED_BATCH]
        rows.append(await _batch(into, texts[start : start + EMBED_BATCH], done, source))
    vectors = np.concatenate(rows)
    own, told = vectors[: len(passages)], vectors[len(passages) :]
    by_id = {passage.id: vector for passage, vector in zip(passages, own, strict=True)}
    return own, with_vectors(summaries, told, by_id, into.embedder.dim)


async def _batch(into: _Into, texts: Sequence[str], done: Sequence[StoredPassage], source: str) -> Vector:
    """Vectors of a batch, from the journal where they are there; ``done`` are the passages among the texts."""
    journal = into.journal
    if journal.has_vectors:
        known = await asyncio.to_thread(journal.vectors, into.model, texts, into.embedder.dim)
        if known is not None:
            into.pace.reused(len(done), source)
            return known
    vectors = await into.embedder.embed_passages(texts)
    if journal.durable:
        await asyncio.to_thread(journal.keep, into.model, texts, vectors)
    into.pace.advance(len(done), sum(tokens(item.text) for item in done), source)
    return vectors


async def _summarise(into: _Into, source: str) -> None:
    """Add summaries to a source that is there; its passages are neither embedded nor written again."""
    store, embedder = into.store, into.embedder
    summaries = await asyncio.to_thread(summaries_of, await store.passages(into.collection, source))
    twins = [item.twin for item in summaries if item.twin is not None]
    stored = await store.vectors(into.collection, twins)
    # A source that is being written to by somebody else may have lost some since: what has no vector is left out.
    summaries = [item for item in summaries if item.twin is None or item.twin in stored]
    texts = to_embed(summaries)
    rows = [
        await embedder.embed_passages(texts[start : start + EMBED_BATCH]) for start in range(0, len(texts), EMBED_BATCH)
    ]
    told = np.concatenate([np.empty((0, embedder.dim), dtype=np.float32), *rows])
    await wholly(store.summarise(into.collection, with_vectors(summaries, told, stored, embedder.dim)))


async def _write(
    store: IngestStore,
    collection: str,
    passages: Sequence[StoredPassage],
    vectors: Vector,
    summaries: Summaries,
    *,
    replaces: bool,
) -> None:
    """Write one source wholly.

    Replacing deletes first, because the new version may have fewer passages: stopping in between would lose a source.
    """

    async def work() -> None:
        if replaces:
            await store.delete_source(collection, passages[0].source)
        await store.insert(collection, passages, vectors, summaries)

    await wholly(work())


async def wholly(work: Coroutine[Any, Any, None]) -> None:
    """Do what must not be stopped half way: a cancel that arrives meanwhile waits for the end of it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
