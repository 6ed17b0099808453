"""Reading and embedding many files by other processes that a plug-in has, ahead of the ingestion that writes them.

What these found goes into the journal of the job under the same keys as what is found here: a file under its place, a
vector under its text. A part that was done twice counts once, and what is missing is done here when its turn comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from engine.distributed import Block, Executor, Performed, Recipe
from engine.errors import SourceError
from engine.knowledge.items import IngestItem
from engine.knowledge.journal import Entry, Journal
from engine.knowledge.source_writing import EMBED_BATCH, Into, texts_of
from engine.library.values import ChunkOptions
from engine.model.language import tokens
from engine.plugins import executor_of
from engine.roles import StoredPassage
from engine.settings import Settings

WINDOW = 20_000
"""Passages that are embedded ahead before they are written: 30 MB of vectors of 384 numbers in the journal."""
_AT_ONCE = 1
"""Reading and embedding keep a processor busy."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """Texts that are embedded together, as :func:`~engine.knowledge.source_writing.embedded_source` does."""

    key: str
    source: str
    texts: Sequence[str]
    passages: int
    tokens: float


class Ahead:
    """One ingestion's use of other processes, if it is large and there are any; to be closed at its end."""

    def __init__(self, settings: Settings, collection: str) -> None:
        self._settings = settings
        self._collection = collection
        self._executor: Executor | None = None

    async def read(
        self, items: Sequence[tuple[int, IngestItem]], limit_mb: float, chunks: ChunkOptions
    ) -> AsyncIterator[tuple[Entry, list[StoredPassage]]]:
        """Files by their places, read and cut in any order; nothing where they are few, or could not be sent.

        Raises what ``Plugin.executor`` does.
        """
        if not self._able(len(items)):
            return
        async for done in self._performed(_files(items, limit_mb, chunks)):
            if done.fault is None:
                entry, passages = _read_adapter().validate_python((done.value["entry"], done.value["passages"]))
                yield entry, passages

    async def embed(self, into: Into, journal: Journal, entries: Sequence[Entry]) -> None:
        """Put the vectors of files that were read into the journal, where they are many."""
        if not journal.durable or not self._able(sum(-(-entry.passages // EMBED_BATCH) for entry in entries)):
            return
        journal.ahead = True
        todo, there = await asyncio.to_thread(_batches, into, journal, entries)
        for source, passages in there:
            into.pace.reused(passages, source)
        by_key = {batch.key: batch for batch in todo}
        blocks = (Block(batch.key, {"do": "embed", "texts": list(batch.texts)}) for batch in todo)
        async for done in self._performed(blocks):
            batch = by_key.pop(done.key)
            if done.fault is None:
                vectors = np.frombuffer(done.data, dtype=np.float32).reshape(len(batch.texts), -1)
                await asyncio.to_thread(journal.keep, into.model, batch.texts, vectors)
                into.pace.advance(batch.passages, batch.tokens, batch.source)

    async def close(self) -> None:
        if self._executor is not None:
            await asyncio.to_thread(self._executor.close)

    def _able(self, parts: int) -> bool:
        """Return whether others do so many parts; they are kept from the first part to the last."""
        if self._executor is None:
            recipe = Recipe("engine.knowledge.ahead_worker:AheadParts", {"collection": self._collection})
            self._executor = executor_of(self._settings, recipe, parts, _AT_ONCE)
        return self._executor is not None

    async def _performed(self, blocks: Iterable[Block]) -> AsyncIterator[Performed]:
        """The iteration of the executor, waited for on threads."""
        assert self._executor is not None
        iteration = self._executor.perform(blocks)
        while True:
            step = asyncio.ensure_future(asyncio.to_thread(next, iteration, None))
            try:
                done = await asyncio.shield(step)
            except asyncio.CancelledError:
                self._executor.stop()
                await asyncio.wait([step])
                raise
            if done is None:
                return
            yield done


def windows(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Files in the order in which they are written, so many together as are embedded ahead."""
    window: list[Entry] = []
    passages = 0
    for entry in entries:
        if window and passages + entry.passages > WINDOW:
            yield window
            window, passages = [], 0
        window.append(entry)
        passages += entry.passages
    if window:
        yield window


def _files(items: Sequence[tuple[int, IngestItem]], limit_mb: float, chunks: ChunkOptions) -> Iterator[Block]:
    for place, item in items:
        try:
            if item.path is not None and item.path.stat().st_size > limit_mb * 1e6:
                continue
            data = item.read()
        except (OSError, SourceError):
            continue  # said where it is read here
        work = {"do": "read", "place": place, "name": item.name, "hidden": item.hidden}
        work |= {"limit_mb": limit_mb, "chunks": asdict(chunks)}
        yield Block(str(place), work, data)


def _batches(into: Into, journal: Journal, entries: Sequence[Entry]) -> tuple[list[_Batch], list[tuple[str, int]]]:
    """Collect the texts to embed, and the sources and passages already in the journal."""
    todo: list[_Batch] = []
    there: list[tuple[str, int]] = []
    for entry in entries:
        passages = journal.passages(entry.position)
        _, texts = texts_of(passages, into.context)
        for start in range(0, len(texts), EMBED_BATCH):
            part, done = texts[start : start + EMBED_BATCH], passages[start : start + EMBED_BATCH]
            if journal.vectors(into.model, part, into.embedder.dim) is not None:
                there.append((entry.name, len(done)))
            else:
                spent = sum(map(tokens, part[: len(done)]))
                todo.append(_Batch(f"{entry.position}/{start}", entry.name, part, len(done), spent))
    return todo, there


@cache
def _read_adapter() -> TypeAdapter[Any]:
    return TypeAdapter(tuple[Entry, list[StoredPassage]])
