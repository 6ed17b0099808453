"""Benefit of every rewrite of a run: pure reading of a finished or a running record."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from engine.builtin.terms import surface_terms
from engine.model.values import PassageId, Rewrite, Round, RunRecord
from engine.model.wording import direction_of

Effect = Literal["helped", "none", "harmed"]
EFFECTS: Mapping[int, Effect] = MappingProxyType({1: "helped", 0: "none", -1: "harmed"})
"""By the direction of a measure."""


@dataclass(frozen=True, slots=True)
class RewriteScore:
    """One rewrite, by the round before it and the round that it opened."""

    rewrite: Rewrite
    effect: Effect | None
    """``helped``: a passage passes that had passed in no round before, or the pass rate rose; ``harmed``: otherwise,
    where the pass rate fell. None where the new round was not decided, or none came before the rewrite."""
    pass_rate: tuple[float, float] | None
    """Before and after; None where one of the two rounds was not decided."""
    similarity: tuple[float, float] | None
    """Of the best candidate, before and after; None where a search found nothing or none was made."""
    gained: tuple[PassageId, ...]
    """Kept after and not before, best first."""
    lost: tuple[PassageId, ...]
    gained_passing: int
    """How many of the gained ones pass."""
    lost_passing: int
    distance: float
    """From the original question, in [0, 1]: see :func:`distance_between`."""
    terms_kept: tuple[str, ...]
    """Content terms of the original question that the new query has, as the question writes them."""
    terms_lost: tuple[str, ...]
    terms_added: tuple[str, ...]


def scorecard(record: RunRecord) -> tuple[RewriteScore, ...]:
    """One score per rewrite, in order."""
    return tuple(_score(record, rewrite) for rewrite in record.rewrites)


def distance_between(question: str, query: str) -> float:
    """1 minus the Jaccard overlap of the two texts' character pairs, after NFKC and without case, space and marks.

    No embedding of a query is stored, and pairs of characters treat both languages equally. 0 where both are the same.
    """
    one, other = _pairs_of(question), _pairs_of(query)
    together = one | other
    return 1.0 - len(one & other) / len(together) if together else 0.0


def _score(record: RunRecord, rewrite: Rewrite) -> RewriteScore:
    before = next((item for item in record.rounds if item.index == rewrite.round), None)
    after = next((item for item in record.rounds if item.index == rewrite.round + 1), None)
    rates = record.pass_rates
    decided = rewrite.round in rates and rewrite.round + 1 in rates
    rate = (rates[rewrite.round], rates[rewrite.round + 1]) if decided else None
    gained, lost = _moved(before, after), _moved(after, before)
    passing = _passing(record, len(record.rounds))
    # A query of the quality loop also asks the router for sources; what was searched has none of those words.
    searched = after.routing.query if after is not None and after.routing is not None else rewrite.rewritten_query
    own, new = surface_terms(record.question, question=True), surface_terms(searched)
    return RewriteScore(
        rewrite=rewrite,
        effect=_effect(record, rewrite, rate),
        pass_rate=rate,
        similarity=_best(before, after),
        gained=gained,
        lost=lost,
        gained_passing=sum(item in passing for item in gained),
        lost_passing=sum(item in passing for item in lost),
        distance=distance_between(record.question, searched),
        terms_kept=tuple(surface for term, surface in own.items() if term in new),
        terms_lost=tuple(surface for term, surface in own.items() if term not in new),
        terms_added=tuple(surface for term, surface in new.items() if term not in own),
    )


def _effect(record: RunRecord, rewrite: Rewrite, rate: tuple[float, float] | None) -> Effect | None:
    if rate is None:
        return None
    former, now = _passing(record, rewrite.round + 1), _passing(record, rewrite.round + 2)
    if now - former:
        return "helped"
    return EFFECTS[direction_of(*rate)]


def _passing(record: RunRecord, end: int) -> frozenset[PassageId]:
    """Distinct kept passages that passed in the rounds before ``end``."""
    return frozenset(
        passage.id
        for current in record.rounds[:end]
        for passage in current.kept
        if passage.id in current.verdicts and current.verdicts[passage.id].passes(record.config.min_confidence)
    )


def _moved(before: Round | None, after: Round | None) -> tuple[PassageId, ...]:
    if before is None or after is None:
        return ()
    known = {passage.id for passage in before.kept}
    return tuple(passage.id for passage in after.kept if passage.id not in known)


def _best(before: Round | None, after: Round | None) -> tuple[float, float] | None:
    if before is None or after is None or not after.searched:
        return None
    first, second = before.best_similarity, after.best_similarity
    return None if first is None or second is None else (first, second)


def _pairs_of(text: str) -> frozenset[str]:
    folded = "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
    return frozenset(folded[at : at + 2] for at in range(len(folded) - 1)) or frozenset(folded)
