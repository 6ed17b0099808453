"""Documents into a collection: duplicates skipped, changed sources replaced, bad files reported, nothing half done.

Every file is read and cut first, one at a time, so that the work ahead is known; then one source after the other is
embedded and written. A :class:`~engine.knowledge.journal.Journal` keeps what was read and embedded, so an ingestion
that begins with the journal of one that was cut off ends exactly as that one would have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from engine.errors import SourceError, TextUnembeddable
from engine.knowledge.chunk import chunk
from engine.knowledge.items import MOST_FILES, IngestItem, items_of
from engine.knowledge.journal import Entry, EntryState, Journal
from engine.knowledge.load import DEFAULT_LIMIT_MB, Document, load, load_bytes, suffixes
from engine.knowledge.parallel_ingest import Ahead, windows
from engine.knowledge.progress import IngestReport, Pace, Progress
from engine.knowledge.scans import in_thread
from engine.knowledge.source_blocks import SourceBlock
from engine.knowledge.source_writing import EMBED_BATCH, Into, make_collection, summarise_source, wholly
from engine.knowledge.written_context import WrittenContext
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions
from engine.model.values import Fault, PassageContext
from engine.roles import Embedder, PassageStore, SourceInfo, StoredPassage

__all__ = ["EMBED_BATCH", "MOST_FILES", "SUFFIXES", "IngestItem", "IngestReport", "Progress", "ingest", "items_of"]

SUFFIXES: tuple[str, ...] = suffixes()
"""Suffixes of files that can be ingested, each with its dot."""


async def ingest(
    store: PassageStore,
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
    block: int = 0,
    ahead: Ahead | None = None,
    context: PassageContext | None = None,
    written: WrittenContext | None = None,
) -> IngestReport:
    """Put documents into a collection, which is made where it is missing.

    An item whose content the collection has already is skipped, regardless of its name; one of a known name with other
    content, or cut with other options, replaces it. Each source is written at once when all its vectors are there,
    together with others up to ``block`` passages, so a cancel between batches leaves whole sources only. Summaries go
    in with their source; a skipped one that has none gets them. An unusable file is reported and stops nothing;
    ``failed`` are those known to be unusable before.
    ``journal``: the caller's, which may hold what an earlier call with the same items has done; it is not closed.
    ``ahead`` reads and embeds many files on a cluster, before their turn; it is closed.
    ``context`` is for a new collection; an existing one keeps its own. ``written`` writes sentences of context.
    ``timed`` gets estimated tokens embedded and seconds taken, at the end and where the ingestion is cut off; not where
    sentences are written, for that takes the most of it.
    Raises ``StoreError.embedding_mismatch`` before anything is read where the collection was built with another model.
    """
    form = await make_collection(store, collection, embedder, description, context)
    known_bad = tuple(failed)
    own = journal if journal is not None else await asyncio.to_thread(lambda: Journal(None))
    pace = Pace(progress, known_bad, len(items) + len(known_bad))
    into = Into(store, embedder, collection, pace, own, block, form, written)
    try:
        await _read_all(own, pace, items, limit_mb, chunks, ahead=ahead)
        await _planned(into, own, chunks)
        await _write_all(into, own, chunks, ahead)
    finally:
        if ahead is not None:
            await ahead.close()
        if timed is not None and written is None:
            timed(*pace.timed())
        if own is not journal:
            own.close()
    return pace.report()


async def _read_all(
    journal: Journal,
    pace: Pace,
    items: Sequence[IngestItem],
    limit_mb: float,
    chunks: ChunkOptions,
    *,
    ahead: Ahead | None,
) -> None:
    """Read and cut every file that the journal does not know yet; what is cut waits there."""
    known = {entry.position: entry for entry in await asyncio.to_thread(journal.entries)}
    if ahead is not None:
        unread = [(position, item) for position, item in enumerate(items) if position not in known]
        async for found, passages in ahead.read(unread, limit_mb, chunks):
            await wholly(asyncio.to_thread(journal.note, found, passages))
            known[found.position] = found
            pace.reading(found.name, len(known))
    for position, item in enumerate(items):
        entry = known.get(position)
        if entry is None:
            pace.reading(item.name)
            found, passages = await in_thread(cut, position, item, limit_mb, chunks)
            await wholly(asyncio.to_thread(journal.note, found, passages))
        pace.read(entry or found)


def cut(position: int, item: IngestItem, limit_mb: float, chunks: ChunkOptions) -> tuple[Entry, list[StoredPassage]]:
    """Return the result for a file and its passages; blocks."""
    try:
        document = read_document(item, limit_mb)
    except SourceError as error:
        return Entry(position, item.name, "failed", fault=Fault.of(error)), []
    passages = chunk(document, chunks, added_at=_now())
    known = Entry(position, document.source, "read", document.content_hash, len(passages), account=document.account)
    return known, passages


def read_document(item: IngestItem, limit_mb: float = DEFAULT_LIMIT_MB, *, recognise: bool = True) -> Document:
    """The document of an item; blocks. Raises the ``SourceError`` that fits, no matter what its loader met with.

    ``recognise``: whether the text in pages that are pictures is read, or only said how many they are.
    """
    try:
        if item.data is not None or item.member:
            return load_bytes(item.name, item.read(), limit_mb, hidden=item.hidden, recognise=recognise)
        if item.path is None:
            raise SourceError.missing(name=item.name)
        return load(item.path, item.name, limit_mb, hidden=item.hidden, recognise=recognise)
    except SourceError:
        raise
    except Exception as error:
        # A file can be broken in more ways than a loader thinks of, and must not stop the others.
        raise SourceError.unreadable(name=item.name, why=f"{type(error).__name__}: {str(error)[:150]}") from error


async def _planned(into: Into, journal: Journal, chunks: ChunkOptions) -> None:
    """Decide what is to be done with every file, unless the journal says that it was decided."""
    entries = await asyncio.to_thread(journal.entries)
    if any(entry.state == "read" for entry in entries):
        entries = plan(entries, await into.store.sources(into.collection), chunks)
        await asyncio.to_thread(journal.plan, entries)
    into.pace.planned(entries)


def plan(entries: Sequence[Entry], present: Iterable[SourceInfo], chunks: ChunkOptions) -> list[Entry]:
    """Plan the changes for the files that were read, given the collection's sources."""
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
        later = last[entry.name]
        if later is not entry:  # the same name again: the later file counts, as it would one by one
            other = later.content_hash != entry.content_hash
            fault = Fault.of(SourceError.twice(name=entry.name)) if other else None
            planned.append(replace(entry, state="superseded", fault=fault))
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


async def _write_all(into: Into, journal: Journal, chunks: ChunkOptions, ahead: Ahead | None) -> None:
    """Embed and write what is planned, then give summaries to sources met again that have none."""
    entries = await asyncio.to_thread(journal.entries)
    present = {info.source: info for info in await into.store.sources(into.collection)}

    def written(entry: Entry) -> bool:
        """Return whether a process that was cut off wrote it before it could note so."""
        there = present.get(entry.name)
        return there is not None and (there.content_hash, there.chunks) == (entry.content_hash, chunks.key)

    for window in windows(entry for entry in entries if entry.state in ("new", "replaces")):
        # With sentences that are not written yet, texts are not known ahead.
        if ahead is not None and into.written is None:
            await ahead.embed(into, journal, [entry for entry in window if not written(entry)])
        async with SourceBlock(into) as block:
            for entry in window:
                state: EntryState = "added" if entry.state == "new" else "replaced"
                if written(entry):
                    await block.write()
                    into.pace.reused(entry.passages)
                    await block.end(replace(entry, state=state))
                else:
                    passages = await asyncio.to_thread(journal.passages, entry.position)
                    await block.add(entry, passages, state, replaces=entry.name in present)
        if journal.ahead:
            await asyncio.to_thread(journal.forget_vectors)
    await _record_read_again(into, entries, present)
    met = {entry.same_as for entry in entries if entry.state == "duplicate"}
    own = {entry.name for entry in entries if entry.state not in ("duplicate", "failed")}
    for source in sorted(name for name in met - own if _lacks_summaries(present.get(name))):
        # Its passages are there, and found without a summary.
        with suppress(TextUnembeddable):
            await summarise_source(into, source)


async def _record_read_again(into: Into, entries: Sequence[Entry], present: Mapping[str, SourceInfo]) -> None:
    """Record what was read of sources that came again as they are: earlier versions recorded nothing, or less."""
    changed = {entry.name: entry.account for entry in entries if entry.account and to_record(entry, present)}
    if changed:
        await wholly(into.store.record_accounts(into.collection, changed))


def to_record(entry: Entry, present: Mapping[str, SourceInfo]) -> bool:
    """Return whether a source that is there as it is has another account, or none."""
    there = present.get(entry.name)
    again = entry.state == "duplicate" and entry.same_as == entry.name
    return again and there is not None and entry.account is not None and entry.account != there.account


def _lacks_summaries(info: SourceInfo | None) -> bool:
    """Return whether a source has no summaries, as those of earlier versions."""
    return info is not None and info.passages > 0 and not info.summaries


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
