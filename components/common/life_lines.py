"""The life-line of every passage of a run: where each round ranked it, what was said of it, where it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from engine.model.values import (
    Candidate,
    Gate,
    Passage,
    PassageId,
    Round,
    RunRecord,
    SourceKind,
    Verdict,
)

Fate = Literal[
    "cited",
    "uncited",
    "cut",
    "passed",
    "failed",
    "unreadable",
    "ungraded",
    "below_threshold",
    "below_graph",
    "below_rerank",
    "beyond_top_k",
]
"""``uncited``: the generator had it and did not cite it; ``passed``: it passed and no generator has had it."""


_Cut = Literal["below_threshold", "below_graph", "below_rerank"]
_CUTS: tuple[_Cut, ...] = get_args(_Cut)
"""Gates that say more of a dropped passage than that others came before it."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One passage in one round."""

    found: Candidate
    round: Round

    @property
    def passage(self) -> Passage:
        """The passage as this round's search found it."""
        return self.found.passage

    @property
    def verdict(self) -> Verdict | None:
        return self.round.verdicts.get(self.passage.id)

    @property
    def reused(self) -> bool:
        """True if the verdict came from an earlier round."""
        return self.passage.id in self.round.reused

    @property
    def place(self) -> int | None:
        """Its place after reranking, from 1; None where it was not reranked."""
        order = self.round.reranked
        return order.index(self.passage.id) + 1 if self.passage.id in order else None


@dataclass(frozen=True, slots=True)
class LifeLine:
    """Everything that happened to one distinct passage, over all rounds."""

    passage: Passage
    sightings: tuple[Sighting, ...]
    """In the order of the rounds; at least one."""
    verdict: Verdict | None
    """The newest one that could be read, else the newest."""
    passes: bool
    marker: int | None
    """Its ``[n]`` in the generator's context, cited or not."""
    fate: Fate

    @property
    def best(self) -> Sighting:
        """The sighting that a table shows: kept before dropped, then the best rank, then the higher similarity."""
        return min(self.sightings, key=_worth)

    @property
    def dropped(self) -> bool:
        """True if no round kept it."""
        return all(item.found.gate != "kept" for item in self.sightings)

    @property
    def cited(self) -> bool:
        return self.fate == "cited"

    @property
    def kind(self) -> SourceKind | Literal["web"] | None:
        """Origin, in workflows that tell sources apart."""
        # What the web says is anybody's.
        return "web" if self.best.round.strategy == "web_search" else self.best.found.kind


def life_lines(record: RunRecord) -> tuple[LifeLine, ...]:
    """One line per distinct passage of all rounds: those given to the generator by marker, then by best rank.

    Kept passages come before dropped ones; none is left out.
    """
    sightings: dict[PassageId, list[Sighting]] = {}
    for current in record.rounds:
        for item in current.candidates:
            sightings.setdefault(item.passage.id, []).append(Sighting(item, current))
    return tuple(sorted((_line(record, tuple(seen)) for seen in sightings.values()), key=_place))


def _worth(seen: Sighting) -> tuple[bool, int, float, int]:
    return (seen.found.gate != "kept", seen.found.rank, -seen.passage.similarity, seen.round.index)


def _line(record: RunRecord, seen: tuple[Sighting, ...]) -> LifeLine:
    passage = seen[0].passage
    verdicts = [item.verdict for item in reversed(seen) if item.verdict is not None]
    verdict = next((item for item in verdicts if item.relevant is not None), verdicts[0] if verdicts else None)
    passes = verdict is not None and verdict.passes(record.config.min_confidence)
    given = [item.id for item in record.context.passages] if record.context else []
    gates = {item.found.gate for item in seen}
    return LifeLine(
        passage=passage,
        sightings=seen,
        verdict=verdict,
        passes=passes,
        marker=given.index(passage.id) + 1 if passage.id in given else None,
        fate=_fate_in_answer(record, passage.id) or _fate_in_grading(gates, verdict, passes),
    )


def _fate_in_answer(record: RunRecord, passage_id: PassageId) -> Fate | None:
    if record.context is None:
        return None
    if any(item.id == passage_id for item in record.context.passages):
        return "cited" if any(item.passage_id == passage_id for item in record.citations) else "uncited"
    return "cut" if passage_id in record.context.cut else None


def _fate_in_grading(gates: set[Gate], verdict: Verdict | None, passes: bool) -> Fate:
    if "kept" not in gates:
        return next((gate for gate in _CUTS if gate in gates), "beyond_top_k")
    if verdict is None:
        return "ungraded"
    if verdict.relevant is None:
        return "unreadable"
    return "passed" if passes else "failed"


def _place(line: LifeLine) -> tuple[bool, int, bool, int, int, str]:
    best = line.best
    return (line.marker is None, line.marker or 0, line.dropped, best.found.rank, best.round.index, line.passage.id)
