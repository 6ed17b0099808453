"""The sample collection: what the shipped sources hold, and how they are put into a store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Protocol

from engine.errors import FullTextMissing, UnknownCollection
from engine.knowledge.chunk import chunk
from engine.knowledge.load import load_bytes
from engine.knowledge.stored_samples import noted
from engine.knowledge.summarise import summaries_of, to_embed, with_vectors
from engine.model.values import NEW_CONTEXT, SAMPLE_COLLECTION, Account, PassageContext
from engine.retrieval.shipped import embedded_with_shipped
from engine.roles import UNKNOWN_MODEL, CollectionInfo, Embedder, SourceInfo, StoredPassage, Summaries, Vector

_log = logging.getLogger(__name__)

SAMPLES_CREATED_AT = "2026-01-01T00:00:00+00:00"
"""A fixed date: the sample collection is the same wherever and whenever it is made."""
SAMPLES_CONTEXT = NEW_CONTEXT
_MOST_COPIED = 1000
"""Passages that the start may copy, which takes a second; with more of the user's own among them the user decides."""


@dataclass(frozen=True, slots=True)
class SampleSource:
    name: str
    title: str
    content_hash: str
    passages: tuple[StoredPassage, ...]
    account: Account


class SampleStore(Protocol):
    """Passage store interface for adding the samples."""

    async def describe(self, collection: str) -> CollectionInfo: ...

    async def create(self, info: CollectionInfo) -> None: ...

    async def drop(self, collection: str) -> None: ...

    async def set_alias(self, alias: str, collection: str) -> CollectionInfo: ...

    async def insert(
        self,
        collection: str,
        passages: Sequence[StoredPassage],
        vectors: Vector,
        summaries: Summaries,
        accounts: Mapping[str, Account],
    ) -> None: ...

    async def record_accounts(self, collection: str, accounts: Mapping[str, Account]) -> None: ...

    async def summarise(self, collection: str, summaries: Summaries) -> None: ...

    async def sources(self, collection: str) -> list[SourceInfo]: ...

    async def delete_source(self, collection: str, source: str) -> int: ...

    async def add_full_text(self, collection: str) -> CollectionInfo: ...


@lru_cache(maxsize=1)
def sample_sources() -> tuple[SampleSource, ...]:
    """Every shipped source with its passages, by name."""
    folder = files("engine.samples") / "sources"
    found = []
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".md"):
            document = load_bytes(entry.name, entry.read_bytes())
            passages = tuple(chunk(document, added_at=SAMPLES_CREATED_AT))
            found.append(SampleSource(entry.name, document.title, document.content_hash, passages, document.account))
    return tuple(found)


def content_hashes() -> Mapping[str, str]:
    """Content hash of every shipped source, by name."""
    known = noted()
    return known.sources if known else {source.name: source.content_hash for source in sample_sources()}


async def ensure_samples(store: SampleStore, embedder: Embedder) -> bool:
    """Make the sample collection, or bring it up to what is shipped; where they agree nothing is written.

    Whether it holds the samples; it does not where another user has that name for passages of their own.

    Sources that a user added stay. A collection of another model or form of context is made again where it holds
    nothing but samples. Where a user added to it, it keeps its form, and with another model it is left alone: this
    model cannot search its vectors, and must not add others to them.
    Vectors of the built-in model are shipped; only what is missing is embedded.
    """
    shipped = await asyncio.to_thread(content_hashes)
    found = await _present(store, embedder)
    if found is None:
        return False
    present, context = found
    # Other sources than ours have a later date; a shipped one that is gone or changed goes.
    for info in present:
        if info.added_at == SAMPLES_CREATED_AT and shipped.get(info.source) != info.content_hash:
            await store.delete_source(SAMPLE_COLLECTION, info.source)
    there = {(info.source, info.content_hash): info.summaries for info in present}
    missing = shipped.items() - there.keys()
    if missing:
        sources = await _named(missing)
        passages, vectors, summaries = await _with_vectors(embedder, sources, context)
        await store.insert(SAMPLE_COLLECTION, passages, vectors, summaries, _accounts(sources))
    # Samples of a version that made no summaries: these are added, and the passages stay as they are.
    lacking = {item for item in shipped.items() if there.get(item) == 0}
    if lacking:
        _, _, summaries = await _with_vectors(embedder, await _named(lacking), context)
        await store.summarise(SAMPLE_COLLECTION, summaries)
    unaccounted = {(item.source, item.content_hash) for item in present if item.account is None} & shipped.items()
    if unaccounted:  # samples of a version that recorded nothing
        await store.record_accounts(SAMPLE_COLLECTION, _accounts(await _named(unaccounted)))
    collection = await store.describe(SAMPLE_COLLECTION)
    if not collection.full_text and collection.passages <= _MOST_COPIED:
        with suppress(FullTextMissing):  # the store has none
            await store.add_full_text(SAMPLE_COLLECTION)
    return True


async def _named(wanted: Set[tuple[str, str]]) -> list[SampleSource]:
    """The shipped sources of these names and content hashes, in their order."""
    sources = await asyncio.to_thread(sample_sources)
    return [source for source in sources if (source.name, source.content_hash) in wanted]


def _accounts(sources: Sequence[SampleSource]) -> dict[str, Account]:
    return {source.name: source.account for source in sources}


async def _with_vectors(
    embedder: Embedder, sources: Sequence[SampleSource], context: PassageContext
) -> tuple[list[StoredPassage], Vector, Summaries]:
    """Passages of some sources with their vectors, shape (n, dim), and their summaries with theirs."""
    passages = [passage for source in sources for passage in source.passages]
    summaries = [summary for source in sources for summary in summaries_of(source.passages)]
    texts = [*(passage.searched(context) for passage in passages), *to_embed(summaries, context)]
    vectors, _ = await embedded_with_shipped(embedder, texts)
    own, summary_vectors = vectors[: len(passages)], vectors[len(passages) :]
    by_id = {passage.id: vector for passage, vector in zip(passages, own, strict=True)}
    return passages, own, with_vectors(summaries, summary_vectors, by_id, embedder.dim)


async def _present(store: SampleStore, embedder: Embedder) -> tuple[list[SourceInfo], PassageContext] | None:
    """Sources of the sample collection and its form of context; None where nothing may be put in.

    It is made first where it is missing.
    """
    ours = CollectionInfo.new(SAMPLE_COLLECTION, embedder, context=SAMPLES_CONTEXT)
    aliases: tuple[str, ...] = ()
    try:
        info = await store.describe(SAMPLE_COLLECTION)
        if info.embedding_model == UNKNOWN_MODEL:
            _log.warning("the collection %r was made by another program and gets no samples", SAMPLE_COLLECTION)
            return None
        present = await store.sources(SAMPLE_COLLECTION)
        own = any(item.added_at != SAMPLES_CREATED_AT for item in present)
        if (info.embedding_model, info.dim) == (ours.embedding_model, ours.dim):
            if own or info.context == ours.context:
                return present, info.context
        elif own:
            _log.warning(
                "the collection %r was built with %s and holds sources of yours; it is left as it is",
                SAMPLE_COLLECTION,
                info.embedding_model,
            )
            return None
        ours, aliases = replace(ours, description=info.description), info.aliases
        await store.drop(SAMPLE_COLLECTION)
    except UnknownCollection:
        pass
    await store.create(replace(ours, created_at=SAMPLES_CREATED_AT))
    for alias in aliases:
        await store.set_alias(alias, SAMPLE_COLLECTION)
    return [], ours.context
