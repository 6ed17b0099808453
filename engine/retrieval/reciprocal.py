"""One order out of two: hits by vectors and hits by words, by weighted reciprocal rank. Pure.

The constants were chosen on XQuAD and on the labelled sample questions (``python -m tests.benchmarks fused``). With
the usual 60, which is for lists of a thousand, a place in both lists of twenty counts for more than the first place in
one: short English questions then lost right passages that the vectors had found (hit@5 0.91 instead of 1.00).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from engine.model.config import SearchMethod
from engine.model.values import Language, Passage, PassageId, QueryKind

RANK_CONSTANT = 1
"""``k`` of 1 / (k + rank). Everything from 1 to 5 with weights of 0.5 to 0.8 was as good as the better list alone."""
TEXT_WEIGHT = 0.7
"""What a place among the hits by words counts for, against 1 for one among those by vectors."""
FOREIGN_TEXT_WEIGHT: Mapping[Language, float] = MappingProxyType({"zh": 1.5, "en": 0.3})
"""The same by the language of a query whose passages are in another one. Only names and code of a Chinese query can be
among English words, and those are sure: the right source came first for 54 % instead of 30 %, and among the first five
for 77 %. The plain words of an English query are found in code between Chinese sentences, and say little: among the
first five for 81 % instead of 73 %."""
LEAST_DEPTH = 20
"""Hits of either list that are looked at, at least: so that the first five do not depend on how many are asked for."""


def search_depth(limit: int) -> int:
    """Return the length of a list that words contribute to when ``limit`` hits are requested."""
    return max(limit, LEAST_DEPTH)


def most_similar_below(last: Passage, method: SearchMethod) -> float:
    """The highest similarity that a passage after the last one of a list can have: words order by other things."""
    return last.similarity if method == "vector" else 1.0


def by_reciprocal_rank(
    by_vector: Sequence[Passage], by_words: Sequence[Passage], limit: int, text_weight: float = TEXT_WEIGHT
) -> tuple[Passage, ...]:
    """Fuse two lists into at most ``limit`` passages, each once, best first, with its place in either.

    Equal ones go by similarity, then by id.
    """
    ranks = _ranks(by_vector)
    text_ranks = _ranks(by_words)
    scores = {item.id: item.text_score for item in by_words}
    passages = {item.id: item for item in (*by_words, *by_vector)}
    merged = [
        replace(item, vector_rank=ranks.get(key), text_rank=text_ranks.get(key), text_score=scores.get(key))
        for key, item in passages.items()
    ]

    def order(passage: Passage) -> tuple[float, float, str]:
        fused = _share(passage.vector_rank) + text_weight * _share(passage.text_rank)
        # Rounded, so that equal sums of other fractions are equal.
        return -round(fused, 12), -passage.similarity, passage.id

    return tuple(sorted(merged, key=order)[:limit])


def by_both_queries(
    asked: Sequence[Passage], translated: Sequence[Passage], limit: int, main: QueryKind = "translated"
) -> tuple[tuple[Passage, Mapping[QueryKind, int]], ...]:
    """Fuse what a query and its translation found, best first, each passage once with its ranks.

    The one in the ``main`` language of the collection counts fully, the other as much as words do next to vectors: on
    pages of another language that gave the right source first for 84 % of the questions, equal weights for 77 %.
    """
    lists: dict[QueryKind, Sequence[Passage]] = {"asked": asked, "translated": translated}
    ranks = {kind: _ranks(found) for kind, found in lists.items()}
    passages = {item.id: item for found in lists.values() for item in found}

    def order(item: Passage) -> tuple[float, float, str]:
        fused = sum((1.0 if kind == main else TEXT_WEIGHT) * _share(own.get(item.id)) for kind, own in ranks.items())
        return -round(fused, 12), -item.similarity, item.id

    chosen = sorted(passages.values(), key=order)[:limit]
    return tuple((item, {kind: own[item.id] for kind, own in ranks.items() if item.id in own}) for item in chosen)


def _share(rank: int | None) -> float:
    return 0.0 if rank is None else 1.0 / (RANK_CONSTANT + rank)


def _ranks(passages: Sequence[Passage]) -> dict[PassageId, int]:
    """Places from 1; the first where a passage stands twice."""
    found: dict[PassageId, int] = {}
    for item in passages:
        found.setdefault(item.id, len(found) + 1)
    return found
