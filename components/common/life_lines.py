"""The life-line of every passage of a run: where each round ranked it, what was said of it, where it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from engine.model.values import (
    Candidate,
    Gate,
    Passage,
    PassageId,
    RetrievalList,
    Round,
    RunRecord,
    SourceKind,
    Stage,
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

    round: int
    query: str
    rank: int
    similarity: float
    raw_score: float
    floor: float
    anchors: str
    gate: Gate
    margin: float
    searched: bool
    """False where the round had nothing new to search and the former candidates stand."""
    verdict: Verdict | None
    reused: bool
    """The verdict came from an earlier round."""
    kind: SourceKind | None = None
    """Which source kind it was found under; None where a workflow does not tell them apart."""
    found_at: Mapping[SourceKind, int] = field(default_factory=dict)
    """Its rank in each list, from 1, where ``rank`` is the one after their fusion."""
    place: int | None = None
    """Its place after reranking, from 1; None where it was not reranked."""
    vector_rank: int | None = None
    """Its place among the hits by meaning, where words were searched too; None where it was not among them."""
    text_rank: int | None = None
    """Its place among the hits by words; None where it was not among them or these were not searched."""
    text_score: float | None = None
    """Its BM25 score; None as ``text_rank``."""
    found_in: Mapping[RetrievalList, int] = field(default_factory=dict)
    """Its rank in each list of a mode (graph + vector retrieval)."""
    graph_score: float | None = None
    via: tuple[str, ...] = ()
    places: Mapping[Stage, int] = field(default_factory=dict)
    """Its place after each stage that ordered the passages."""
    duplicate_of: PassageId | None = None
    freshness: float | None = None
    rerank_score: float | None = None
    web: bool = False
    """The round searched the web: its text is anybody's."""


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
        return min(self.sightings, key=lambda item: (item.gate != "kept", item.rank, -item.similarity, item.round))

    @property
    def dropped(self) -> bool:
        """Whether no round kept it."""
        return all(item.gate != "kept" for item in self.sightings)

    @property
    def cited(self) -> bool:
        return self.fate == "cited"

    @property
    def kind(self) -> SourceKind | Literal["web"] | None:
        """Where it comes from, in the workflows that tell sources apart."""
        return "web" if self.best.web else self.best.kind


def life_lines(record: RunRecord) -> tuple[LifeLine, ...]:
    """One line per distinct passage of all rounds: those given to the generator by marker, then by best rank.

    Kept passages come before dropped ones; none is left out.
    """
    sightings: dict[PassageId, list[Sighting]] = {}
    passages: dict[PassageId, Passage] = {}
    for current in record.rounds:
        for passage, sighting in _sightings(current):
            sightings.setdefault(passage.id, []).append(sighting)
            passages.setdefault(passage.id, passage)
    lines = (_line(record, passages[passage_id], tuple(seen)) for passage_id, seen in sightings.items())
    return tuple(sorted(lines, key=_place))


def _sightings(current: Round) -> list[tuple[Passage, Sighting]]:
    places = {name: place for place, name in enumerate(current.reranked, 1)}
    return [(item.passage, _sighting(item, current, places)) for item in current.candidates]


def _sighting(item: Candidate, current: Round, places: Mapping[PassageId, int]) -> Sighting:
    return Sighting(
        round=current.index,
        query=current.query,
        rank=item.rank,
        similarity=item.passage.similarity,
        raw_score=item.passage.raw_score,
        floor=current.floor,
        anchors=current.anchors,
        gate=item.gate,
        margin=item.margin,
        searched=current.searched,
        verdict=current.verdicts.get(item.passage.id),
        reused=item.passage.id in current.reused,
        kind=item.kind,
        found_at=item.found_at,
        place=places.get(item.passage.id),
        vector_rank=item.passage.vector_rank,
        text_rank=item.passage.text_rank,
        text_score=item.passage.text_score,
        found_in=item.found_in,
        graph_score=item.graph_score,
        via=item.via,
        places=item.places,
        duplicate_of=item.duplicate_of,
        freshness=item.freshness,
        rerank_score=item.rerank_score,
        web=current.strategy == "web_search",
    )


def _line(record: RunRecord, passage: Passage, seen: tuple[Sighting, ...]) -> LifeLine:
    verdicts = [item.verdict for item in reversed(seen) if item.verdict is not None]
    verdict = next((item for item in verdicts if item.relevant is not None), verdicts[0] if verdicts else None)
    passes = verdict is not None and verdict.passes(record.config.min_confidence)
    given = [item.id for item in record.context.passages] if record.context else []
    return LifeLine(
        passage=passage,
        sightings=seen,
        verdict=verdict,
        passes=passes,
        marker=given.index(passage.id) + 1 if passage.id in given else None,
        fate=_fate_in_answer(record, passage.id) or _fate_in_grading([item.gate for item in seen], verdict, passes),
    )


def _fate_in_answer(record: RunRecord, passage_id: PassageId) -> Fate | None:
    if record.context is None:
        return None
    if any(item.id == passage_id for item in record.context.passages):
        return "cited" if any(item.passage_id == passage_id for item in record.citations) else "uncited"
    return "cut" if passage_id in record.context.cut else None


def _fate_in_grading(gates: list[Gate], verdict: Verdict | None, passes: bool) -> Fate:
    if "kept" not in gates:
        return next((gate for gate in _CUTS if gate in gates), "beyond_top_k")
    if verdict is None:
        return "ungraded"
    if verdict.relevant is None:
        return "unreadable"
    return "passed" if passes else "failed"


def _place(line: LifeLine) -> tuple[bool, int, bool, int, int, str]:
    best = line.best
    return (line.marker is None, line.marker or 0, line.dropped, best.rank, best.round, line.passage.id)
