"""What one run made of each passage that it saw: pure, over its record."""

from __future__ import annotations

from dataclasses import dataclass

from engine.model.values import RETRIEVAL_LISTS, Candidate, Gate, PassageId, RetrievalList, Round, RunRecord, Verdict

_Seen = tuple[Round, Candidate]


@dataclass(frozen=True, slots=True)
class Presence:
    """What one run made of one passage."""

    first_rank: int | None
    """Rank in round 0, from 1; None where that search did not find it."""
    best_rank: int
    """Over all rounds."""
    best_round: int
    similarity: float
    """At its best rank."""
    gate: Gate
    """``kept`` where any round kept it, else what dropped it at its best rank."""
    verdict: Verdict | None
    """The newest one that could be read, else the newest."""
    passes: bool
    marker: int | None
    """Its ``[n]`` in the generator's context; None where the generator was not given it."""
    cited: bool
    found_by: tuple[RetrievalList, ...] = ()
    """Lists of a mode that found it in any round (graph + vector retrieval)."""

    @property
    def kept(self) -> bool:
        return self.gate == "kept"


def presences(record: RunRecord) -> dict[PassageId, Presence]:
    """By passage, in the order of first sight."""
    given = {item.id: place for place, item in enumerate(record.context.passages, 1)} if record.context else {}
    cited = {item.passage_id for item in record.citations}
    seen: dict[PassageId, list[_Seen]] = {}
    for current in record.rounds:
        for item in current.candidates:
            seen.setdefault(item.passage.id, []).append((current, item))
    least = record.config.min_confidence
    return {name: _presence(places, least, given.get(name), name in cited) for name, places in seen.items()}


def _presence(seen: list[_Seen], min_confidence: float, marker: int | None, cited: bool) -> Presence:
    best_round, best = min(seen, key=lambda pair: (pair[1].rank, pair[0].index))
    verdict = _verdict([current.verdicts.get(best.passage.id) for current, _ in seen])
    return Presence(
        first_rank=next((item.rank for current, item in seen if current.index == 0), None),
        best_rank=best.rank,
        best_round=best_round.index,
        similarity=best.passage.similarity,
        gate="kept" if any(item.gate == "kept" for _, item in seen) else best.gate,
        verdict=verdict,
        passes=verdict is not None and verdict.passes(min_confidence),
        marker=marker,
        cited=cited,
        found_by=tuple(name for name in RETRIEVAL_LISTS if any(name in item.found_in for _, item in seen)),
    )


def _verdict(given: list[Verdict | None]) -> Verdict | None:
    newest_first = [item for item in reversed(given) if item is not None]
    readable = (item for item in newest_first if item.relevant is not None)
    return next(readable, newest_first[0] if newest_first else None)
