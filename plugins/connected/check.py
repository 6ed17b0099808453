"""Whether a model is the one that a collection's vectors come from, and whether questions find sensible passages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from engine.errors import TextTooLong
from engine.library.values import FoundPassage
from engine.llm.embedder import known_prefixes
from engine.model.config import RunConfig
from engine.model.language import language_of
from engine.model.values import PassageContext
from engine.retrieval.similarity import Calibration
from engine.roles import Embedder, StoredPassage, Vector
from plugins.connected.store import ForeignStore
from plugins.connected.values import PrefixTrial, ProbedQuestion, SelfSearch

_MOST = 20
_FOR_PREFIXES = 6
"""Passages that every other pair of prefixes is tried on."""
_LEAST = 5
_LONGEST_S = 10.0
_BEGINNING = 200
"""Characters of a passage that it is asked for with."""
_CLEARLY = 0.01
"""A pair of prefixes is proposed where the mean cosine is higher by so much."""
_HITS = 5
_SENSIBLE_FROM = RunConfig().similarity_threshold
"""A best hit below the default threshold would not even be graded."""

Prefixed = Callable[[str, str], Embedder]
"""The same model with another query and passage prefix."""


async def self_search(store: ForeignStore, embedder: Embedder, other: Prefixed | None) -> SelfSearch:
    """Re-embed stored passages and compare with their vectors, then ask for each with its own beginning.

    ``other`` makes the model with other prefixes, None where its prefixes are fixed. Raises what the store and the
    model raise. An empty collection gives ``asked`` 0.
    """
    pairs, without_vector = await store.some(_MOST)
    form = (await store.describe(store.connection.name)).context
    pairs, made = await _embedded(embedder, pairs, form)
    if not pairs:
        return SelfSearch(0, 0, 0.0, without_vector=without_vector)
    mean = _mean_cosine(made, pairs)
    first = 0
    for stored, _ in pairs:
        hits = await store.search(store.connection.name, await embedder.embed_query(_beginning(stored.text)), 1)
        # The same text may be stored twice.
        first += bool(hits) and (hits[0].passage.id == stored.id or hits[0].passage.text == stored.text)
    few = pairs[:_FOR_PREFIXES]
    better = await _better_prefixes(embedder, other, few, made[:_FOR_PREFIXES], form) if other else None
    return SelfSearch(len(pairs), first, mean, better, without_vector)


async def probed(store: ForeignStore, embedder: Embedder, calibration: Calibration, question: str) -> ProbedQuestion:
    """The best five passages for a question; sensible where the best would pass the default similarity threshold."""
    vector = await embedder.embed_query(question)
    floor = calibration.floor(vector, language_of(question)).value
    hits = await store.search(store.connection.name, vector, _HITS)
    found = tuple(
        FoundPassage(hit.passage, calibration.similarity(hit.cosine, floor), hit.cosine, vector_rank=rank)
        for rank, hit in enumerate(hits, start=1)
    )
    return ProbedQuestion(question, found, bool(found) and found[0].similarity >= _SENSIBLE_FROM)


async def _embedded(
    embedder: Embedder, pairs: Sequence[tuple[StoredPassage, Vector]], form: PassageContext
) -> tuple[list[tuple[StoredPassage, Vector]], Vector]:
    """Passages with the model's vectors of them, shape (n, dim).

    Those that are too long for it are left out, and after five those that it does not get to within ten seconds.
    """
    kept: list[tuple[StoredPassage, Vector]] = []
    rows: list[Vector] = []
    until = time.monotonic() + _LONGEST_S
    for pair in pairs:
        if len(kept) >= _LEAST and time.monotonic() > until:
            break
        try:
            rows.append((await embedder.embed_passages([pair[0].searched(form)]))[0])
        except TextTooLong:
            continue
        kept.append(pair)
    return kept, np.array(rows, dtype=np.float32)


async def _better_prefixes(
    embedder: Embedder,
    other: Prefixed,
    pairs: Sequence[tuple[StoredPassage, Vector]],
    made: Vector,
    form: PassageContext,
) -> PrefixTrial | None:
    """The pair of prefixes with which the stored vectors come nearest, if clearly nearer than with those chosen."""
    best = _mean_cosine(made, pairs)
    chosen = (embedder.query_prefix, embedder.passage_prefix)
    known = known_prefixes(embedder.model_id)
    better: PrefixTrial | None = None
    # Other programs often leave the prefixes out, or put the query's before everything.
    for query, passage in dict.fromkeys((known, ("", ""), (known[0], ""), (known[0], known[0]))):
        if passage == chosen[1]:
            continue
        rows = await other(query, passage).embed_passages([stored.searched(form) for stored, _ in pairs])
        mean = _mean_cosine(rows, pairs)
        if mean > best + _CLEARLY:
            best, better = mean, PrefixTrial(query, passage, mean)
    return better


def _mean_cosine(made: Vector, pairs: Sequence[tuple[StoredPassage, Vector]]) -> float:
    stored = np.array([vector for _, vector in pairs], dtype=np.float64)
    return float(np.mean(np.einsum("ij,ij->i", made.astype(np.float64), stored)))


def _beginning(text: str) -> str:
    """The first sentences of a passage, cut at a space where there is one."""
    if len(text) <= _BEGINNING:
        return text
    cut = text[:_BEGINNING]
    return cut.rpartition(" ")[0] or cut
