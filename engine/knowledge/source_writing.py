"""One source for a collection: its passages and summaries embedded in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import (
    InvalidConfig,
    ModelError,
    ModelGarbled,
    ModelInterrupted,
    ModelRefused,
    StoreError,
    TextUnembeddable,
    UnknownCollection,
)
from engine.knowledge.journal import Journal
from engine.knowledge.progress import Pace
from engine.knowledge.summarise import Summary, summaries_of, to_embed, with_vectors
from engine.knowledge.written_context import WrittenContext
from engine.model.language import tokens
from engine.model.values import NEW_CONTEXT, PassageContext, PassageId
from engine.roles import CollectionInfo, Embedder, PassageStore, StoredPassage, Summaries, Vector, slug

EMBED_BATCH = 16
"""Passages embedded between two looks at progress and cancellation: about 6 s of the built-in model on two cores."""

_HARMLESS = "text"
"""A model that embeds this works, and a text at which it failed is what is wrong."""
_START = 60


@dataclass(frozen=True, slots=True)
class Into:
    """The collection that passages go into, with the embedder that makes their vectors."""

    store: PassageStore
    embedder: Embedder
    collection: str
    pace: Pace
    journal: Journal | None = None
    """What an earlier process embedded, and where vectors are kept until their source is written."""
    block: int = 0
    """Passages that are written together, of as many sources as they take; 0: every source by itself."""
    context: PassageContext = "none"
    """The form of context of the collection."""
    written: WrittenContext | None = None
    """What writes its sentences of context."""

    @property
    def model(self) -> str:
        return slug(self.embedder)


async def make_collection(
    store: PassageStore,
    name: str,
    embedder: Embedder,
    description: str,
    context: PassageContext | None = None,
    *,
    context_model: str = "",
) -> PassageContext:
    """Make a collection where it is missing, and return its form of context; ``context_model`` is for a new one.

    Raises ``StoreError`` for one built with another model, and ``InvalidConfig`` for one of another form than the one
    asked for.
    """
    try:
        info = await store.describe(name)
    except UnknownCollection:
        new = CollectionInfo.new(name, embedder, description, context or NEW_CONTEXT, context_model)
        await store.create(new)
        return new.context
    if context is not None and (context, context_model) != (info.context, info.context_model):
        raise InvalidConfig.other_context(collection=name, has=" ".join((info.context, info.context_model)).strip())
    if (info.embedding_model, info.dim) != (embedder.model_id, embedder.dim):
        raise StoreError.embedding_mismatch(
            collection=name,
            built_with=f"{info.embedding_model} ({info.dim} dimensions)",
            offered=f"{embedder.model_id} ({embedder.dim} dimensions)",
        )
    return info.context


async def summarise_source(into: Into, source: str) -> None:
    """Add summaries to a source that is there; its passages are neither embedded nor written again."""
    store = into.store
    summaries = await asyncio.to_thread(summaries_of, await store.passages(into.collection, source))
    twins = [item.twin for item in summaries if item.twin is not None]
    stored = await store.vectors(into.collection, twins)
    # A source that another process is writing to may have lost some since: what has no vector is left out.
    summaries = [item for item in summaries if item.twin is None or item.twin in stored]
    texts = to_embed(summaries, into.context)
    rows = [
        await _embedded(into.embedder, texts[start : start + EMBED_BATCH])
        for start in range(0, len(texts), EMBED_BATCH)
    ]
    await wholly(store.summarise(into.collection, _with_vectors(into, summaries, rows, stored)))


async def wholly(work: Coroutine[Any, Any, object]) -> None:
    """Do what must not be stopped half way: a cancel that arrives meanwhile waits for the end of it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def embedded_source(into: Into, source: str, passages: Sequence[StoredPassage]) -> tuple[Vector, Summaries]:
    """Vectors of a source, shape (n, dim), and its summaries with theirs, embedded in batches."""
    into.pace.embedding(source)
    summaries, texts = await asyncio.to_thread(texts_of, passages, into.context)
    rows: list[Vector] = [np.empty((0, into.embedder.dim), dtype=np.float32)]
    for start in range(0, len(texts), EMBED_BATCH):
        done = passages[start : start + EMBED_BATCH]
        rows.append(await _batch(into, texts[start : start + EMBED_BATCH], done, source))
    vectors = np.concatenate(rows)
    own, summary_vectors = vectors[: len(passages)], vectors[len(passages) :]
    by_id = {passage.id: vector for passage, vector in zip(passages, own, strict=True)}
    return own, _with_vectors(into, summaries, [summary_vectors], by_id)


def texts_of(passages: Sequence[StoredPassage], context: PassageContext) -> tuple[list[Summary], list[str]]:
    """The summaries of a source, and all its texts that are embedded: its passages first."""
    summaries = summaries_of(passages)
    return summaries, [*(passage.searched(context) for passage in passages), *to_embed(summaries, context)]


def _with_vectors(
    into: Into, summaries: Sequence[Summary], embedded: Sequence[Vector], of_passages: Mapping[PassageId, Vector]
) -> Summaries:
    dim = into.embedder.dim
    summary_vectors = np.concatenate([np.empty((0, dim), dtype=np.float32), *embedded])
    return with_vectors(summaries, summary_vectors, of_passages, dim)


async def _batch(into: Into, texts: Sequence[str], done: Sequence[StoredPassage], source: str) -> Vector:
    """Vectors of a batch, from the journal where they are there; ``done`` are the passages among the texts."""
    journal = into.journal
    if journal is not None and journal.has_vectors:
        known = await asyncio.to_thread(journal.vectors, into.model, texts, into.embedder.dim)
        if known is not None:
            # What was embedded ahead of its turn was counted then.
            if not journal.ahead:
                into.pace.reused(len(done) if into.written is None else 0, source)
            return known
    vectors = await _embedded(into.embedder, texts)
    if journal is not None and journal.durable:
        await asyncio.to_thread(journal.keep, into.model, texts, vectors)
    into.pace.advance(len(done) if into.written is None else 0, sum(map(tokens, texts[: len(done)])), source)
    return vectors


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> Vector:
    """Vectors of a batch, which is halved where it fails until one text is left.

    Raises ``TextUnembeddable`` for that text, and the model's own error where it fails at any text.
    """
    try:
        vectors = await embedder.embed_passages(texts)
        if np.isfinite(vectors).all():
            return vectors
        failure: ModelError = ModelGarbled(model=embedder.model_id)
    except (ModelGarbled, ModelInterrupted, ModelRefused) as error:
        failure = error
    if len(texts) > 1:
        half = len(texts) // 2
        return np.concatenate([await _embedded(embedder, texts[:half]), await _embedded(embedder, texts[half:])])
    await embedder.embed_passages([_HARMLESS])
    text = " ".join(texts[0].split())
    start = text[:_START] + ("…" if len(text) > _START else "")
    message = failure.params.get("message")
    if message:
        raise TextUnembeddable.refused(model=embedder.model_id, start=start, message=message) from failure
    raise TextUnembeddable.garbled(model=embedder.model_id, start=start) from failure
