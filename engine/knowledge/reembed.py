"""A collection's passages into another with another embedding model or form of context, source by source."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.errors import StoreError, UnknownCollection
from engine.knowledge.journal import Entry, Journal
from engine.knowledge.progress import IngestReport, Pace, Progress
from engine.knowledge.source_blocks import SourceBlock
from engine.knowledge.source_writing import Into, make_collection, wholly
from engine.knowledge.written_context import WrittenContext, without_sentence
from engine.model.values import SAMPLE_COLLECTION, Fault, PassageContext, PassageId
from engine.roles import UNKNOWN_MODEL, CollectionInfo, Embedder, PassageStore, SourceInfo, StoredPassage

_STEM = 48
"""Characters of a name that are kept in front of ``_before_2``: a name has 60 at most."""
_PASSES = 20
"""Times that sources which changed meanwhile are looked for before a switch; who writes all the time has to pause."""
_PAGE = 500
"""Passages read at once while they are sorted by source."""


class ReadsPassages(Protocol):
    """Interface of a collection whose passages are re-embedded: ours, or any readable one."""

    async def describe(self, collection: str) -> CollectionInfo: ...

    async def sources(self, collection: str) -> list[SourceInfo]: ...

    async def passages(self, collection: str, source: str) -> list[StoredPassage]: ...

    async def ids(self, collection: str) -> list[PassageId]: ...

    async def get(self, collection: str, ids: Sequence[PassageId]) -> list[StoredPassage]: ...


class TakesPassages(PassageStore, Protocol):
    """The store that the copy goes into."""

    @property
    def block(self) -> int: ...

    async def settle(self, collection: str, written: int) -> None: ...

    async def take_place(self, collection: str, copy: str, before: str) -> CollectionInfo: ...


class Knowledge(ReadsPassages, Protocol):
    """The knowledge base: reads anything that can be chosen, and has the store of the settings."""

    async def embedder_into(self, collection: str, embedding_model: str = "") -> Embedder: ...

    async def own_store(self) -> TakesPassages: ...


@dataclass(frozen=True, slots=True)
class _Source:
    """One source of the collection that is read."""

    entry: Entry
    ids: tuple[PassageId, ...] = ()
    """Of another program's collection, which keeps no list of its sources; empty for our own."""


async def reembed(
    knowledge: Knowledge,
    collection: str,
    target: str,
    model: str,
    progress: Callable[[Progress], None] | None = None,
    *,
    switch: bool = False,
    journal: Journal | None = None,
    context: PassageContext | None = None,
    context_model: str = "",
    writing: Callable[[str], WrittenContext | None] = lambda _: None,
) -> IngestReport:
    """Embed every passage of ``collection`` with ``model`` into ``target``, which is made where it is missing.

    ``context`` is the form of the target, that of ``collection`` where it is None; sentences in it are those of
    ``context_model``, which ``writing`` makes ready, or stay where it has written those of ``collection``.
    Ids, sections and what else is known of passages stay; prefixes are those known for the model, summaries are made
    again. Sources are written whole, and those that the target has whole already are left out, so that what was cut off
    is resumed by calling again; with a ``journal`` no vector of a source that was not whole is made twice. A source
    that the new model or the store cannot hold is reported and stops nothing.
    With ``switch`` the target then takes the collection's name and aliases, and the old one is called NAME_before.
    What was put into the collection or changed in it meanwhile is embedded first, for it would be lost otherwise.
    Raises ``StoreError.collection_exists`` where the target is the collection itself, ``StoreError.embedding_mismatch``
    where the target was built with another model, ``InvalidConfig`` where it has another form of context,
    ``UnknownCollection``; for a switch ``StoreError.foreign_collection``
    and ``StoreError.samples_stay`` before anything is done, and ``StoreError.nothing_to_switch`` at the end where
    sources are missing.
    """
    origin = await knowledge.describe(collection)
    store = await knowledge.own_store()
    if target in (origin.name, *origin.aliases):
        raise StoreError.collection_exists(name=target)
    if switch:
        _check_own(origin)
    form = context or origin.context
    writer = (context_model or origin.context_model) if form == "written" else ""
    embedder = await knowledge.embedder_into(target, model)
    await embedder.embed_passages(())
    if switch and _built_with(origin, embedder, form, writer) and not await _there(store, target):
        # An earlier call was cut off after the switch: the target has the name already.
        return Pace(progress, ()).report()
    await make_collection(store, target, embedder, origin.description, form, context_model=writer)
    pace = Pace(progress, ())
    written = writing(writer) if writer else None
    into = Into(store, embedder, target, pace, journal, store.block, form, written)
    # The first pass does it all; without a switch nothing depends on what changes while it is under way.
    for _ in range(_PASSES if switch else 1):
        if not await _pass(knowledge, origin, into):
            break
    await store.settle(target, pace.report().passages)
    if switch:
        await _switch(store, origin.name, target)
    return pace.report()


async def _pass(knowledge: Knowledge, origin: CollectionInfo, into: Into) -> bool:
    """Embed every source that the target does not have as it is now; whether another pass may find more.

    One that failed is not tried again by further passes: the switch says that it is missing.
    """
    before = await into.store.sources(into.collection)
    whole = {info.source: info for info in before if info.content_hash}
    failed = dict(into.pace.report().failed)
    sources = [_failed(_known(item, whole), failed) for item in await _sources(knowledge, origin)]
    missing = [item for item in sources if item.entry.state == "new"]
    kept = [item.entry for item in sources if item.entry.state == "added" and item.entry.name in whole]
    recorded = {
        entry.name: entry.account for entry in kept if entry.account and entry.account != whole[entry.name].account
    }
    if recorded:  # since an earlier call copied the source
        await wholly(into.store.record_accounts(into.collection, recorded))
    into.pace.planned([item.entry for item in sources])
    # What an earlier call left of a source, or a version with more passages, must not stay among the new ones.
    present = {info.source for info in before}
    gone = present & await _planned(into, [item.entry for item in sources])
    for source in sorted(gone):
        await wholly(into.store.delete_source(into.collection, source))
    async with SourceBlock(into) as block:
        for item in missing:
            passages = [_plain(passage, item.entry) for passage in await _passages(knowledge, origin.name, item)]
            if into.written is None or into.written.name != origin.context_model:
                passages = [without_sentence(passage) for passage in passages]
            if passages:
                await block.add(item.entry, passages, "added", replaces=item.entry.name in present)
            else:
                await block.write()
                await block.end(replace(item.entry, state="added"))
    return bool(missing or gone)


async def _planned(into: Into, entries: Sequence[Entry]) -> set[str]:
    """Note what is to be done; returns sources that an earlier pass put in and that the collection has lost since."""
    journal = into.journal
    if journal is None:
        return set()
    known = {entry.name for entry in await asyncio.to_thread(journal.entries) if entry.state == "added"}
    await asyncio.to_thread(journal.plan, entries)
    return known - {entry.name for entry in entries}


def _failed(item: _Source, faults: Mapping[str, Fault]) -> _Source:
    """The source, as failed where an earlier pass could not put it in."""
    fault = faults.get(item.entry.name)
    if fault is None or item.entry.state != "new":
        return item
    return replace(item, entry=replace(item.entry, state="failed", fault=fault))


def _check_own(origin: CollectionInfo) -> None:
    if origin.name == SAMPLE_COLLECTION:
        raise StoreError.samples_stay(collection=origin.name)
    if origin.read_only or origin.embedding_model == UNKNOWN_MODEL:
        raise StoreError.foreign_collection(name=origin.name)


def _built_with(info: CollectionInfo, embedder: Embedder, context: PassageContext, context_model: str) -> bool:
    recorded = (info.embedding_model, info.dim, info.passage_prefix, info.context, info.context_model)
    return recorded == (embedder.model_id, embedder.dim, embedder.passage_prefix, context, context_model)


async def _there(store: TakesPassages, name: str) -> bool:
    try:
        await store.describe(name)
    except UnknownCollection:
        return False
    return True


async def _switch(store: TakesPassages, name: str, copy: str) -> None:
    """Give the name to the copy, if it has all that the collection has by now."""
    there = {info.source: info for info in await store.sources(copy) if info.content_hash}
    wanted = [info for info in await store.sources(name) if info.passages]
    if any(not _same(info.content_hash, info.passages, there.get(info.source)) for info in wanted):
        raise StoreError.nothing_to_switch(collection=name, copy=copy)
    taken = 1
    before = f"{name[:_STEM]}_before"
    while await _there(store, before):
        taken += 1
        before = f"{name[:_STEM]}_before_{taken}"
    await wholly(store.take_place(name, copy, before))


async def _sources(knowledge: ReadsPassages, origin: CollectionInfo) -> list[_Source]:
    """Every source with how many passages it has, by name."""
    # A connected collection shows the first passages of a source only, no matter who made it.
    if origin.sources and not origin.read_only:
        listed = await knowledge.sources(origin.name)
        return [
            _Source(Entry(position, info.source, "new", info.content_hash, info.passages, account=info.account))
            for position, info in enumerate(listed)
            if info.passages
        ]
    # Another program's collection: any row may belong to any source, so all are looked at, and only ids are kept.
    by_source: dict[str, list[PassageId]] = {}
    ids = await knowledge.ids(origin.name)
    for start in range(0, len(ids), _PAGE):
        for passage in await knowledge.get(origin.name, ids[start : start + _PAGE]):
            by_source.setdefault(passage.source, []).append(passage.id)
    return [
        _Source(Entry(position, source, "new", "", len(members)), tuple(members))
        for position, (source, members) in enumerate(sorted(by_source.items()))
    ]


def _known(item: _Source, whole: Mapping[str, SourceInfo]) -> _Source:
    """The source, as added where the target has it whole."""
    same = _same(item.entry.content_hash, item.entry.passages, whole.get(item.entry.name))
    return replace(item, entry=replace(item.entry, state="added")) if same else item


def _same(content_hash: str, passages: int, there: SourceInfo | None) -> bool:
    """Return whether the copy has a source as it is; one of another program, or half a file, has no hash to compare."""
    if there is None or there.passages != passages:
        return False
    return not content_hash or there.content_hash == content_hash


async def _passages(origin: ReadsPassages, collection: str, item: _Source) -> list[StoredPassage]:
    if not item.ids:
        return await origin.passages(collection, item.entry.name)
    found: list[StoredPassage] = []
    for start in range(0, len(item.ids), _PAGE):
        found += await origin.get(collection, item.ids[start : start + _PAGE])
    return found


def _plain(passage: StoredPassage, entry: Entry) -> StoredPassage:
    """The passage without the hash of a file that its source does not hold whole.

    With it the half that is there would pass for the file, and the file would be skipped as known ever after.
    """
    if entry.content_hash or "content_hash" not in passage.meta:
        return passage
    return replace(passage, meta={key: value for key, value in passage.meta.items() if key != "content_hash"})
