"""One question in every mode of graph + vector retrieval: what each found, its cost, what the graph added (GH-02)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from engine.model.config import Mode
from engine.model.values import ANSWERED, Candidate, Outcome, Passage, PassageId, RunRecord
from engine.model.values.graphs import ModeNote, RetrievalList

MODES: tuple[Mode, ...] = get_args(Mode)
_CUT_SHORT: frozenset[Outcome | None] = frozenset({"cancelled", "failed", "interrupted"})
_GRAPH: frozenset[RetrievalList] = frozenset({"local", "global"})

_T = TypeVar("_T")

Finding = Literal["running", "cited", "found", "nothing", "unable", "no_baseline", "cut_short"]
"""What the graph was good for: ``cited``, an answer cites a passage that the graph led to and vectors alone did not
keep; ``found``, it led to some, and no answer cites them; ``nothing``: it led to none; ``unable``: no mode could use
the graph; ``no_baseline``: without ``naive`` there is nothing to hold it against; ``cut_short``: a run did not come to
its end."""


@dataclass(frozen=True, slots=True)
class ModeLane:
    """One mode's run in figures."""

    record: RunRecord
    mode: Mode
    answered: bool
    skipped: bool
    """It was to search nothing, or the query was answered without a search: nothing was graded and nothing is cited."""
    kept: Mapping[PassageId, int]
    """What it kept, with its rank in the newest round that kept it."""
    passed: frozenset[PassageId]
    cited: Mapping[PassageId, int]
    """What its answer is based on, with the marker."""
    notes: tuple[ModeNote, ...]
    """What parts of it could not do, in any round."""
    fell_back_to: tuple[RetrievalList, ...]
    """Lists that were searched in place of its own."""
    entities: tuple[str, ...]
    """Names of entities that its searches began from."""
    searches: int
    best_similarity: float | None


@dataclass(frozen=True, slots=True)
class RacedPassage:
    """A passage that at least one mode kept."""

    passage: Passage
    modes: tuple[Mode, ...]
    """Those that kept it."""
    led: bool
    """The graph led to it, and vectors alone did not keep it."""
    by_graph: bool
    """The graph led to it, and vectors found it in no mode, among all that they looked at."""
    dropped: Candidate | None = None
    """What ``naive`` made of it, where vectors alone found it and a gate dropped it, and the graph led to it too."""


@dataclass(frozen=True, slots=True)
class ModeRace:
    lanes: tuple[ModeLane, ...]
    passages: tuple[RacedPassage, ...]
    """Those that most modes share first, then by rank."""
    shared: tuple[PassageId, ...]
    """Kept by every mode that searched."""
    unique: Mapping[Mode, tuple[PassageId, ...]]
    """Kept by this mode alone."""
    led: tuple[PassageId, ...]
    """Those that the graph led to and vectors alone did not keep, no matter what else found them."""
    only_graph: tuple[PassageId, ...]
    """Found by no vectors, kept or dropped."""
    rescued: tuple[PassageId, ...]
    """Found by vectors alone, dropped there, and kept where the graph led to it."""
    finding: Finding
    unable: tuple[Mode, ...]
    """Modes that could do nothing of their own, so that others' lists were searched."""


def mode_race(records: Sequence[RunRecord]) -> ModeRace:
    """Hold runs of one question in several modes against each other, in the order of the modes."""
    lanes = tuple(sorted((_lane(item) for item in records), key=lambda lane: MODES.index(lane.mode)))
    passages = _passages(lanes)
    # A mode that searched and kept nothing shares nothing with the others.
    searched = [lane for lane in lanes if lane.searches]
    shared = tuple(item.passage.id for item in passages if len(searched) > 1 and len(item.modes) == len(searched))
    finders = [lane.mode for lane in lanes if lane.kept]
    unique = {mode: tuple(item.passage.id for item in passages if item.modes == (mode,)) for mode in finders}
    only_graph = tuple(item.passage.id for item in passages if item.by_graph)
    rescued = tuple(item.passage.id for item in passages if item.dropped is not None)
    unable = tuple(lane.mode for lane in lanes if lane.fell_back_to)
    led = tuple(item.passage.id for item in passages if item.led)
    return ModeRace(lanes, passages, shared, unique, led, only_graph, rescued, _finding(lanes, led), unable)


def _lane(record: RunRecord) -> ModeLane:
    graphs = [item.graph for item in record.rounds if item.graph is not None]
    kept = {
        candidate.passage.id: candidate.rank
        for current in record.rounds
        for candidate in current.candidates
        if candidate.gate == "kept"
    }
    verdicts = {name: verdict for current in record.rounds for name, verdict in current.verdicts.items()}
    bar = record.config.min_confidence
    begun = [item.entity.name for graph in graphs for item in graph.entities if item.hops == 0]
    return ModeLane(
        record=record,
        mode=record.config.mode,
        answered=record.outcome in ANSWERED,
        skipped=not record.active and not record.rounds and record.outcome not in _CUT_SHORT,
        kept=kept,
        passed=frozenset(name for name, verdict in verdicts.items() if name in kept and verdict.passes(bar)),
        cited={item.passage_id: item.marker for item in reversed(record.citations)},
        notes=_once(note for graph in graphs for note in graph.notes),
        fell_back_to=_once(item for graph in graphs for item in graph.fell_back_to),
        entities=_once(begun),
        searches=sum(item.searched for item in record.rounds),
        best_similarity=record.best_similarity,
    )


def _passages(lanes: Sequence[ModeLane]) -> tuple[RacedPassage, ...]:
    known: dict[PassageId, Passage] = {}
    led: set[PassageId] = set()
    by_vectors: set[PassageId] = set()
    naive = next((lane for lane in lanes if lane.mode == "naive"), None)
    for lane in lanes:
        for candidate in (item for current in lane.record.rounds for item in current.candidates):
            known.setdefault(candidate.passage.id, candidate.passage)
            if _GRAPH & set(candidate.found_in):
                led.add(candidate.passage.id)
            if lane is naive or {"vector", "near"} & candidate.found_in.keys():
                by_vectors.add(candidate.passage.id)
    dropped = _dropped_by(naive)
    kept_by = {name: tuple(lane.mode for lane in lanes if name in lane.kept) for lane in lanes for name in lane.kept}
    best = {name: min(lane.kept[name] for lane in lanes if name in lane.kept) for name in kept_by}
    order = sorted(kept_by, key=lambda name: (-len(kept_by[name]), best[name], name))
    return tuple(
        RacedPassage(
            known[name],
            kept_by[name],
            led=name in led and (naive is None or name not in naive.kept),
            by_graph=name in led and name not in by_vectors,
            dropped=dropped.get(name) if name in led else None,
        )
        for name in order
    )


def _dropped_by(naive: ModeLane | None) -> dict[PassageId, Candidate]:
    """Return what dropped a passage that only vector search found and never kept, in its closest round."""
    found: dict[PassageId, Candidate] = {}
    for current in naive.record.rounds if naive else ():
        for item in current.candidates:
            former = found.get(item.passage.id)
            if item.passage.id not in (naive.kept if naive else ()) and (former is None or item.margin > former.margin):
                found[item.passage.id] = item
    return found


def _finding(lanes: Sequence[ModeLane], led: Sequence[PassageId]) -> Finding:
    if any(lane.record.active for lane in lanes):
        return "running"
    if any(lane.record.outcome in _CUT_SHORT for lane in lanes):
        return "cut_short"
    if not any(lane.mode == "naive" for lane in lanes):
        return "no_baseline"
    if any(name in lane.cited for lane in lanes for name in led):
        return "cited"
    if led:
        return "found"
    of_graph = [lane for lane in lanes if lane.mode not in ("naive", "bypass")]
    # A mode in which only the vectors could do their work says nothing about the graph either.
    able = [lane for lane in of_graph if lane.record.rounds and not _without_graph(lane)]
    return "nothing" if able else "unable"


def _without_graph(lane: ModeLane) -> bool:
    found_in = {name for current in lane.record.rounds for item in current.candidates for name in item.found_in}
    return bool(lane.fell_back_to) or not found_in & _GRAPH


def _once(items: Iterable[_T]) -> tuple[_T, ...]:
    found: list[_T] = []
    for item in items:
        # Notes hold a mapping and have no hash.
        if item not in found:
            found.append(item)
    return tuple(found)
