"""Sources that were embedded and wait to be written together, which a server takes several times as quickly.

Sources of 50 passages went in at 591 passages a second one by one, and at 1 613 in blocks of a thousand (Milvus 2.3.5,
``python -m tests.benchmarks loading``). In an embedded store every source is written by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from engine.errors import FieldTooLong, TextTooLong, TextUnembeddable, WorkbenchError
from engine.knowledge.journal import Entry, EntryState
from engine.knowledge.source_writing import Into, embedded_source, wholly
from engine.model.values import Fault
from engine.roles import StoredPassage, Summaries, Vector

LONGEST_WAIT_S = 2.0
"""A source waits no longer for others: with a slow model each is there as soon as it can be."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """One source with all its vectors."""

    entry: Entry
    """As it will be noted when it is written."""
    passages: Sequence[StoredPassage]
    vectors: Vector
    summaries: Summaries
    replaces: bool


class SourceBlock:
    """Embeds sources one after the other and writes them in blocks of ``Into.block`` passages.

    To be used as a context: at its end, also where the work is stopped, what waits is written, so that a stop between
    batches loses no source that was whole. A write that fails leaves sources that are not complete, which the next
    ingestion with the same journal replaces.
    """

    def __init__(self, into: Into) -> None:
        self._into = into
        self._ready: list[_Ready] = []
        self._since = 0.0

    async def __aenter__(self) -> SourceBlock:
        if self._into.written is not None:
            self._into.pace.described(0, self._into.written.unreadable)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self.write()
            return
        ready, self._ready = self._ready, []
        with suppress(WorkbenchError):  # the caller gets what ended the work, and its followers hear no more
            for entry in await self._written(ready) if ready else ():
                await self._note(entry)

    async def add(self, entry: Entry, passages: Sequence[StoredPassage], state: EntryState, *, replaces: bool) -> None:
        """Write the context of a source, embed it, and write the block where it is full; it then is ``state``."""
        into = self._into
        if into.written is not None:
            passages = await into.written.of(passages, into.pace)
        try:
            vectors, summaries = await embedded_source(into, entry.name, passages)
        except (FieldTooLong, TextTooLong, TextUnembeddable) as error:
            # What waits is written first: ending a source lets the journal forget every vector.
            await self.write()
            await self.end(replace(entry, state="failed", fault=Fault.of(error)))
            return
        if not self._ready:
            self._since = time.monotonic()
        self._ready.append(_Ready(replace(entry, state=state), passages, vectors, summaries, replaces))
        waiting = sum(len(item.passages) for item in self._ready)
        if waiting >= into.block or time.monotonic() - self._since >= LONGEST_WAIT_S:
            await self.write()

    async def write(self) -> None:
        """Write what waits; a source that the store cannot hold fails alone."""
        ready, self._ready = self._ready, []
        if not ready:
            return
        self._into.pace.writing(ready[-1].entry.name)
        for entry in await self._written(ready):
            await self.end(entry)

    async def end(self, entry: Entry) -> None:
        """Note what became of a source."""
        await self._note(entry)
        self._into.pace.ended(entry)

    async def _note(self, entry: Entry) -> None:
        journal = self._into.journal
        if journal is not None:
            await wholly(asyncio.to_thread(journal.finish, entry))

    async def _written(self, ready: Sequence[_Ready]) -> list[Entry]:
        try:
            await self._put(ready)
        except FieldTooLong:
            # Nothing of the block is in: rows are made before any of them is sent.
            return [await self._alone(item) for item in ready]
        return [item.entry for item in ready]

    async def _alone(self, item: _Ready) -> Entry:
        try:
            await self._put([item])
        except FieldTooLong as error:
            return replace(item.entry, state="failed", fault=Fault.of(error))
        return item.entry

    async def _put(self, ready: Sequence[_Ready]) -> None:
        """Write sources with one call, or not at all where a stop came before."""
        store, collection = self._into.store, self._into.collection

        async def write() -> None:
            # Replacing deletes first, because the new version may have fewer passages.
            for item in ready:
                if item.replaces:
                    await store.delete_source(collection, item.entry.name)
            passages = [passage for item in ready for passage in item.passages]
            vectors = np.concatenate([item.vectors for item in ready])
            summaries = _together([item.summaries for item in ready])
            accounts = {item.entry.name: item.entry.account for item in ready if item.entry.account is not None}
            await store.insert(collection, passages, vectors, summaries, accounts)

        # Stopping in between would lose a source.
        await wholly(write())


def _together(parts: Sequence[Summaries]) -> Summaries:
    vectors = [part.vectors for part in parts if part.vectors is not None]
    rows = tuple(row for part in parts if part.vectors is not None for row in part.rows)
    return Summaries(rows, np.concatenate(vectors) if vectors else None)
