"""A collection's knowledge graph, read passage by passage: what was read stays, and is not read again.

Passages are known by id and hash of their text, so a building that continues, or that is started once more after the
collection grew, reads only what is new or changed; what the collection has no longer is forgotten.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from engine.builtin.extractor import summary_of
from engine.errors import JobError
from engine.knowledge.graph.communities import communities_of
from engine.knowledge.kept_replies import KeptReplies
from engine.knowledge.progress import NOTHING, GraphCounts, IngestReport, Progress, Rate
from engine.knowledge.source_writing import wholly
from engine.model.config import BUILTIN
from engine.model.values import Community, Entity, PassageId, Relationship
from engine.roles import CollectionInfo, StoredPassage
from engine.roles.graph import Extractor, GraphInfo, GraphStore, PassageGraph, text_hash

MOST_ENTITIES = 200_000
"""Looked at for communities; a graph of more would not fit in memory with its relationships."""
MOST_ASKED = 200
"""Communities that a chat model summarises, the largest first; the others get extracts of their passages."""
SUMMARISED_FROM = 8
"""Passages of a community that its summary is made from, the most telling first."""
_BATCH = 8
"""Passages read between two looks at progress and cancellation; all that a killed process reads once more."""
_BUILTIN_BATCH = 64
_PAGE = 512


class GraphSource(Protocol):
    """Knowledge base interface for building a graph."""

    async def describe(self, collection: str) -> CollectionInfo: ...

    async def ids(self, collection: str) -> list[PassageId]: ...

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]: ...


async def build_graph(
    store: GraphStore,
    source: GraphSource,
    extractor: Extractor,
    collection: str,
    progress: Callable[[Progress], None] | None = None,
    *,
    kept: KeptReplies | None = None,
) -> GraphInfo:
    """Read what of a collection was not read yet, find communities, and complete its graph.

    A cancel between batches leaves what was read. Passages with unreadable replies are left out, so that
    another building tries them again. Raises ``JobError`` where no reply could be read, and what
    store and extractor raise.
    """
    info = await source.describe(collection)
    name = info.name
    ids = await source.ids(name)
    if not ids:
        raise JobError.nothing_to_read(collection=name)
    before = await store.describe(name)
    if before is not None and _complete(before, extractor, info, len(ids)):
        return before
    await store.begin(name, extractor.name)
    reading = _Reading(store, source, extractor, name, _Pace(progress, len(ids)))
    await reading.forget_gone(ids)
    await reading.read_all(ids)
    communities = await reading.communities(kept or KeptReplies())
    # The fingerprint of the beginning: what was put in meanwhile was not read, and makes the graph stale.
    return await store.finish(name, communities, info.fingerprint, _now())


def _complete(graph: GraphInfo, extractor: Extractor, info: CollectionInfo, passages: int) -> bool:
    """Return whether there is nothing to do; a collection without a fingerprint may have changed."""
    same = graph.finished and graph.extractor == extractor.name and graph.fingerprint == info.fingerprint
    return same and bool(graph.fingerprint) and graph.passages == passages


@dataclass(frozen=True, slots=True)
class _Whole:
    """A graph as it is summarised."""

    entities: Mapping[str, Entity]
    relationships: Sequence[Relationship]
    hashes: Mapping[PassageId, str]
    kept: KeptReplies


class _Reading:
    """One building."""

    def __init__(
        self, store: GraphStore, source: GraphSource, extractor: Extractor, collection: str, pace: _Pace
    ) -> None:
        self._store = store
        self._source = source
        self._extractor = extractor
        self._collection = collection
        self._pace = pace

    async def forget_gone(self, ids: Sequence[PassageId]) -> None:
        gone = set(await self._store.done(self._collection)) - set(ids)
        if gone:
            await wholly(self._store.forget(self._collection, sorted(gone)))

    async def read_all(self, ids: Sequence[PassageId]) -> None:
        done = await self._store.done(self._collection)
        await self._count()
        size = _BUILTIN_BATCH if self._extractor.name == BUILTIN else _BATCH
        for start in range(0, len(ids), _PAGE):
            page = await self._source.get(self._collection, ids[start : start + _PAGE])
            todo = [item for item in page if done.get(item.id) != text_hash(item.text)]
            # What vanished since the ids were listed counts as dealt with.
            self._pace.known(len(ids[start : start + _PAGE]) - len(todo))
            for first in range(0, len(todo), size):
                await self._batch(todo[first : first + size])
        unreadable = len(self._extractor.unreadable)
        if unreadable and not await self._store.done(self._collection):
            raise JobError.extractor_failed(model=self._extractor.name, passages=unreadable)

    async def _batch(self, passages: Sequence[StoredPassage]) -> None:
        self._pace.reading(passages[0].source)
        read = await self._extractor.extract(passages)
        unreadable = frozenset(self._extractor.unreadable)
        usable: list[PassageGraph] = [item for item in read if item.passage not in unreadable]
        changed = [item.passage for item in read if item.passage in unreadable]
        await wholly(self._store.add(self._collection, usable))
        if changed:  # what was read of an earlier text must not stand for the new one
            await wholly(self._store.forget(self._collection, changed))
        await self._count()
        self._pace.advance(len(passages))

    async def _count(self) -> None:
        info = await self._store.describe(self._collection)
        if info is not None:
            unreadable = len(self._extractor.unreadable)
            self._pace.counts = GraphCounts(info.entities, info.relationships, 0, unreadable)

    async def communities(self, kept: KeptReplies) -> list[Community]:
        entities = await self._store.most_central(self._collection, MOST_ENTITIES)
        around = await self._store.neighbourhood(self._collection, [item.id for item in entities], 0, len(entities))
        found = await asyncio.to_thread(communities_of, around.entities, around.relationships)
        hashes = await self._store.done(self._collection)
        whole = _Whole({item.id: item for item in around.entities}, around.relationships, hashes, kept)
        summarised: list[Community] = []
        for place, community in enumerate(found):
            self._pace.summarising(place, len(found))
            by_model = self._extractor.name != BUILTIN and place < MOST_ASKED
            summarised.append(await (self._asked(community, whole) if by_model else self._extracted(community, whole)))
        self._pace.summarising(len(found), len(found))
        return summarised

    async def _extracted(self, community: Community, whole: _Whole) -> Community:
        members, passages = await self._members(community, whole)
        title, summary = await asyncio.to_thread(summary_of, members, passages)
        return replace(community, title=title, summary=summary, summarised_by=BUILTIN)

    async def _asked(self, community: Community, whole: _Whole) -> Community:
        key = community_key(community, [whole.hashes.get(item, "") for item in community.passages])
        made = whole.kept.find(key)
        if made is None:
            members, passages = await self._members(community, whole)
            inside = frozenset(community.entities)
            ties = [item for item in whole.relationships if item.source in inside and item.target in inside]
            made = await self._extractor.summarise(members, ties, passages)
            await asyncio.to_thread(whole.kept.keep, key, *made)
        return replace(community, title=made[0], summary=made[1], summarised_by=self._extractor.name)

    async def _members(self, community: Community, whole: _Whole) -> tuple[list[Entity], list[StoredPassage]]:
        passages = await self._source.get(self._collection, community.passages[:SUMMARISED_FROM])
        return [whole.entities[name] for name in community.entities if name in whole.entities], passages


def community_key(community: Community, hashes: Sequence[str]) -> str:
    """Tells a community by its members and its passages, of which these are the hashes."""
    key = json.dumps([sorted(community.entities), *zip(community.passages, hashes, strict=True)])
    return hashlib.sha256(key.encode()).hexdigest()


class _Pace:
    """Progress of building a graph, in the form of an ingestion."""

    def __init__(self, report: Callable[[Progress], None] | None, total: int) -> None:
        self._report = report
        self._now = Progress(0, total, 0.0, None, "", state="extracting")
        self._fresh = 0
        self._rate = Rate()
        self._rate.mark(time.monotonic(), 0)
        self.counts = GraphCounts()

    def known(self, count: int) -> None:
        """Note how many passages need not be read."""
        self._tell(replace(self._now, done=self._now.done + count))

    def reading(self, source: str) -> None:
        self._tell(replace(self._now, source=source))

    def advance(self, count: int) -> None:
        self._fresh += count
        self._rate.mark(time.monotonic(), self._fresh)
        self._tell(replace(self._now, done=self._now.done + count))

    def summarising(self, done: int, total: int) -> None:
        self.counts = replace(self.counts, communities=done)
        self._tell(replace(self._now, state="summarising", source="", files_done=done, files=total))

    def _tell(self, progress: Progress) -> None:
        per_second, left = self._rate.of(progress.total - progress.done)
        self._now = replace(
            progress, per_second=per_second, remaining_s=left, graph=self.counts, report=_passages(progress.done)
        )
        if self._report is not None:
            self._report(self._now)


def _passages(count: int) -> IngestReport:
    return replace(NOTHING, passages=count)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
