"""The order of graph + vector retrieval: lists made one, duplicates and freshness seen to, reranked (GH-04).

Pure, and the same for the engine and every what-if. Order of the stages: :func:`order` fuses the lists of a mode, ranks
results and gates; where a mode calls for it, :func:`rescored` takes the scores of a reranker for the passages
that :func:`rerank_window` names, and gates again.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from types import MappingProxyType

from engine.model.config import Mode, RunConfig
from engine.model.decide import gate_in
from engine.model.values import RETRIEVAL_LISTS, Candidate, Passage, PassageId, RetrievalList, Stage
from engine.retrieval.graph_options import graph_options

RANK_CONSTANT = 1
"""``k`` of 1 / (k + rank). On the 96 answerable sample questions recall of the first five, before any reranking,
is 0.76 with 1 and 0.64 with the usual 60, which is for lists of a thousand: a place in all lists of twenty then
counts for more than the first place in one. After reranking it is 0.87 and 0.84; 0.5 to 3 make no difference."""
SLOPE = 10
"""Places after which relevance is half of the first one's: the default freshness then outweighs one place at the top
and three among the tenth."""
RERANKED_MODES: tuple[Mode, ...] = ("hybrid", "mix")
_GRAPH_LISTS: tuple[RetrievalList, ...] = ("local", "global")
_DIGITS = 12
"""Sums of other fractions are equal from here on."""
_SHORT = re.compile(r"(\d{4})(?:-(\d{2}))?")
"""A year, or a year and a month: counted from their beginning."""
SHINGLE = 5
"""Characters that are compared at a time: a changed word leaves nearly all of a passage's shingles as they were."""
LEAST_SHARE = 0.5
"""Shares below this are not reported: no ``duplicate_threshold`` can be lower."""

Shares = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Found:
    """A passage as one list has it."""

    passage: Passage
    graph_score: float | None = None
    """In [0, 1]; None in a list that is not of the graph."""
    via: tuple[str, ...] = ()
    """Ids of the entities, relationships or communities that led to it, the strongest first."""


Lists = Mapping[RetrievalList, Sequence[Found]]


def reranks(mode: Mode, config: RunConfig) -> bool:
    """Return whether passages are reranked in this mode."""
    wanted = graph_options(config).rerank
    return wanted == "always" or (wanted == "by_mode" and mode in RERANKED_MODES)


def order(lists: Lists, config: RunConfig) -> tuple[Candidate, ...]:
    """Every passage of the lists once, in the order before anything is reranked, gated; none is lost.

    Of each list that was searched the first ``fetch_k`` count. A passage of two lists adds its weighted reciprocal
    ranks.
    """
    return _placed(rank_results(fused(lists, config), config), "ranked", config)


def fused(lists: Lists, config: RunConfig) -> tuple[Candidate, ...]:
    """The lists made one by weighted reciprocal rank; equal ones by graph score, similarity, id. Not gated yet."""
    weights = _weights(lists, config)
    places: dict[PassageId, dict[RetrievalList, tuple[int, Found]]] = {}
    for name in RETRIEVAL_LISTS:
        for rank, item in enumerate(_unique(lists.get(name, ()), _depth(name, config)), start=1):
            places.setdefault(item.passage.id, {})[name] = (rank, item)
    merged = sorted((_merged(found, weights) for found in places.values()), key=_fused_order)
    return tuple(replace(item, rank=rank, places={"fused": rank}) for rank, item in enumerate(merged, start=1))


def rank_results(candidates: Sequence[Candidate], config: RunConfig) -> tuple[Candidate, ...]:
    """Rank by relevance and a part of freshness, with what nearly repeats a passage above it below all the others.

    Relevance is the place among the fused, 1 for the first: reciprocal ranks lie so far apart at the top that
    nothing could ever be "about as relevant" as the first passage.
    """
    options = graph_options(config)
    fresh = freshness_of([item.passage for item in candidates])

    def score(placed: tuple[int, Candidate]) -> float:
        place, item = placed
        newer = options.freshness_weight * fresh.get(item.passage.id, 0.0)
        return -round(SLOPE / (SLOPE + place) + newer, _DIGITS)

    # The sort is stable: equal scores keep their order among the fused.
    ranked = [
        replace(item, freshness=fresh.get(item.passage.id), duplicate_of=None)
        for _, item in sorted(enumerate(candidates), key=score)
    ]
    return _duplicates_last(ranked, options.duplicate_threshold)


def rerank_window(candidates: Sequence[Candidate], config: RunConfig) -> tuple[Candidate, ...]:
    """The candidates that are worth a new score: the best ``rerank_k`` that repeat no better one, in their order.

    What is only there to fill places stays below all that the mode found.
    """
    distinct = [item for item in candidates if item.duplicate_of is None and item.found_in.keys() != {"near"}]
    return tuple(distinct[: graph_options(config).rerank_k])


def rescored(
    candidates: Sequence[Candidate], scores: Mapping[PassageId, float], config: RunConfig
) -> tuple[Candidate, ...]:
    """The candidates of :func:`order` by their new scores, gated; those without one follow in the order they had.

    Scores of passages outside the window are not looked at; without a score for any in it nothing changes.
    """
    window = {item.passage.id for item in rerank_window(candidates, config)} & scores.keys()
    if not window:
        return tuple(candidates)
    scored = [replace(item, rerank_score=scores[item.passage.id]) for item in candidates if item.passage.id in window]
    scored.sort(key=lambda item: (-scores[item.passage.id], item.rank))
    others = [item for item in candidates if item.passage.id not in window]
    return _placed([*scored, *others], "reranked", config)


def lists_of(candidates: Iterable[Candidate]) -> dict[RetrievalList, tuple[Found, ...]]:
    """The lists that candidates came from, best first: ordering them again gives the same candidates.

    A passage of two lists of the graph has the better graph score, and all that led to it, in both.
    """
    found: dict[RetrievalList, list[tuple[int, Found]]] = {}
    for item in candidates:
        for name, rank in item.found_in.items():
            of_graph = name in _GRAPH_LISTS
            entry = Found(item.passage, item.graph_score, item.via) if of_graph else Found(item.passage)
            found.setdefault(name, []).append((rank, entry))
    return {
        name: tuple(entry for _, entry in sorted(found[name], key=lambda pair: pair[0]))
        for name in RETRIEVAL_LISTS
        if name in found
    }


def _weights(lists: Lists, config: RunConfig) -> dict[RetrievalList, float]:
    """The graph's share counts against vectors; where only one of them found anything, it has all of the weight.

    What came with the question counts as much as the stronger of the two; what fills places stays below the others.
    """
    both = bool(lists.get("vector")) and any(lists.get(name) for name in _GRAPH_LISTS)
    share = graph_options(config).graph_weight
    vectors, graph = (1.0 - share, share) if both else (1.0, 1.0)
    return {"vector": vectors, "local": graph, "global": graph, "near": 0.0, "attachment": max(vectors, graph)}


def _depth(name: RetrievalList, config: RunConfig) -> int | None:
    """Return how many of a list count; None for all, since attachments are always graded (GH-05)."""
    return None if name == "attachment" else config.fetch_k


def _unique(found: Sequence[Found], depth: int | None) -> list[Found]:
    first: dict[PassageId, Found] = {}
    for item in found[:depth]:
        first.setdefault(item.passage.id, item)
    return list(first.values())


def _merged(found: Mapping[RetrievalList, tuple[int, Found]], weights: Mapping[RetrievalList, float]) -> Candidate:
    by_score = sorted((item for _, item in found.values()), key=lambda item: -(item.graph_score or 0.0))
    scores = [item.graph_score for _, item in found.values() if item.graph_score is not None]
    return Candidate(
        # That of the vectors, where they have it, knows its places among vectors and words.
        passage=next(iter(found.values()))[1].passage,
        rank=0,
        gate="kept",
        margin=0.0,
        found_in={name: rank for name, (rank, _) in found.items()},
        fused=round(math.fsum(weights[name] / (RANK_CONSTANT + rank) for name, (rank, _) in found.items()), _DIGITS),
        graph_score=max(scores, default=None),
        via=tuple(dict.fromkeys(name for item in by_score for name in item.via)),
    )


def _fused_order(item: Candidate) -> tuple[float, float, float, str]:
    return -item.fused, -(item.graph_score or 0.0), -item.passage.similarity, item.passage.id


def _duplicates_last(ranked: Sequence[Candidate], threshold: float) -> tuple[Candidate, ...]:
    # By id, so that another order of the same passages asks for the same likenesses.
    by_id = sorted(ranked, key=lambda item: item.passage.id)
    places = {item.passage.id: place for place, item in enumerate(by_id)}
    shares = repeated_shares(tuple(item.passage.text for item in by_id))
    others: dict[int, list[tuple[int, float]]] = {}
    for (place, other), share in shares.items():
        others.setdefault(place, []).append((other, share))
    above: dict[int, PassageId] = {}
    repeating: list[Candidate] = []
    distinct: list[Candidate] = []
    for item in ranked:
        place = places[item.passage.id]
        repeated = [(share, -other) for other, share in others.get(place, ()) if other in above and share >= threshold]
        if repeated:
            repeating.append(replace(item, duplicate_of=above[-max(repeated)[1]]))
        else:
            above[place] = item.passage.id
            distinct.append(item)
    return (*distinct, *repeating)


def _placed(candidates: Sequence[Candidate], stage: Stage, config: RunConfig) -> tuple[Candidate, ...]:
    """Give candidates the place that they have here, and the gates of ``config``."""
    placed = []
    for rank, item in enumerate(candidates, start=1):
        margin = round(item.passage.similarity - config.similarity_threshold, 6)
        moved = replace(item, rank=rank, places={**item.places, stage: rank}, margin=margin)
        placed.append(replace(moved, gate=gate_in(moved, config)))
    return tuple(placed)


def freshness_of(passages: Sequence[Passage]) -> dict[PassageId, float]:
    """Map the id of every dated passage to 1 for the newest, 0 for the oldest, and the others between by their time.

    All of one date are equally new. A passage without a date, or with one that cannot be read, has no entry.
    """
    times = {item.id: moment for item in passages if (moment := _moment(item.dated)) is not None}
    return _scaled(times)


def _scaled(times: Mapping[PassageId, float]) -> dict[PassageId, float]:
    if not times:
        return {}
    oldest, newest = min(times.values()), max(times.values())
    span = newest - oldest
    return {name: round((moment - oldest) / span, 6) if span else 1.0 for name, moment in times.items()}


def _moment(dated: str) -> float | None:
    """Seconds since 1970; without a time zone it is UTC."""
    text = dated.strip()
    short = _SHORT.fullmatch(text)
    try:
        read = datetime(int(short[1]), int(short[2] or 1), 1) if short else datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=4096)
def shingles(text: str) -> frozenset[str]:
    """The distinct pieces of :data:`SHINGLE` letters and digits of a text; never empty."""
    letters = "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
    if len(letters) <= SHINGLE:
        # A shorter text repeats another one only where it is the same.
        return frozenset((letters or text,))
    return frozenset(letters[start : start + SHINGLE] for start in range(len(letters) - SHINGLE + 1))


@lru_cache(maxsize=128)
def repeated_shares(texts: tuple[str, ...]) -> Shares:
    """Map pairs of places to the share of the first text that the second repeats, from ``LEAST_SHARE`` on.

    Case, white space and punctuation do not count. One-sided: what is wholly contained in a longer passage brings
    nothing new, and the longer one does.
    Remembered: a what-if asks it of the same passages at every move of a slider.
    """
    pieces = [shingles(text) for text in texts]
    held = Counter(chain.from_iterable(pieces))
    shared = frozenset(piece for piece, count in held.items() if count > 1)
    common = [own & shared for own in pieces]
    found: dict[tuple[int, int], float] = {}
    for place, own in enumerate(pieces):
        # Most texts have too little in common with all others together.
        if len(common[place]) / len(own) < LEAST_SHARE:
            continue
        for other, theirs in enumerate(common):
            share = len(common[place] & theirs) / len(own)
            if other != place and share >= LEAST_SHARE:
                found[place, other] = share
    return MappingProxyType(found)
