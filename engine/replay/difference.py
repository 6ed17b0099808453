"""Outcome of each passage, the differences of two runs and where they part: pure, without any call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeVar, get_args

from engine.flow import workflow
from engine.model.config import RoleName
from engine.model.settings_difference import SettingDifference, manifest_difference, settings_difference
from engine.model.values import (
    RETRIEVAL_LISTS,
    Candidate,
    Decision,
    Gate,
    NodeExecution,
    Passage,
    PassageId,
    RetrievalList,
    Rewrite,
    Round,
    RunRecord,
    Verdict,
    counted,
)
from engine.replay.answer_difference import SentenceDifference, answer_difference

_Seen = tuple[Round, Candidate]
IdT = TypeVar("IdT")
Aspect = Literal["query", "kept", "route", "reason", "missing"]
"""In what one round of two runs differs; ``missing``: one of the runs has no such round."""
Move = Literal["gained", "lost", "moved", "same"]
"""``gained``: only b kept the passage in some round, ``lost``: only a did; ``moved``: its rank is another one."""

_NOTICED = 0.05
"""A P(relevant) that moved by no more than this is not worth a line."""


@dataclass(frozen=True, slots=True)
class PassageOutcome:
    """Outcome of one passage in one run."""

    first_rank: int | None
    """Rank in round 0, from 1; None where that search did not find it."""
    best_rank: int
    """Over all rounds."""
    best_round: int
    similarity: float | None
    """At its best rank; None where only ranks are known."""
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


def passage_outcomes(record: RunRecord) -> dict[PassageId, PassageOutcome]:
    """Map every passage of a run to what became of it, in the order of first sight."""
    given = {item.id: place for place, item in enumerate(record.context.passages, 1)} if record.context else {}
    cited = {item.passage_id for item in record.citations}
    seen: dict[PassageId, list[_Seen]] = {}
    for current in record.rounds:
        for item in current.candidates:
            seen.setdefault(item.passage.id, []).append((current, item))
    least = record.config.min_confidence
    return {name: _passage_outcome(places, least, given.get(name), name in cited) for name, places in seen.items()}


def _passage_outcome(seen: list[_Seen], min_confidence: float, marker: int | None, cited: bool) -> PassageOutcome:
    best_round, best = min(seen, key=lambda pair: (pair[1].rank, pair[0].index))
    verdict = _verdict([current.verdicts.get(best.passage.id) for current, _ in seen])
    return PassageOutcome(
        first_rank=next((item.rank for current, item in seen if current.index == 0), None),
        best_rank=best.rank,
        best_round=best_round.index,
        similarity=best.passage.similarity if best_round.scaled else None,
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


@dataclass(frozen=True, slots=True)
class RoundPair:
    """The same round of both runs."""

    index: int
    a: Round | None
    b: Round | None
    decision_a: Decision | None
    """The first that differs where a round has several; None where the run ended or broke off before it decided."""
    decision_b: Decision | None
    differs: tuple[Aspect, ...]


@dataclass(frozen=True, slots=True)
class PassageDifference:
    """One passage that at least one of the runs saw."""

    passage: Passage
    a: PassageOutcome | None
    b: PassageOutcome | None
    move: Move

    @property
    def climbed(self) -> int:
        """The number of places by which b ranks it better than a at best; 0 where one of them never saw it."""
        return self.a.best_rank - self.b.best_rank if self.a and self.b else 0

    @property
    def notable(self) -> bool:
        """True if its use changed, or its rank while a run kept it; other ranks of dropped passages say nothing."""
        if self.move == "moved":
            return any(side is not None and side.kept for side in (self.a, self.b)) or self._use_differs
        return self.move != "same" or self._use_differs

    @property
    def _use_differs(self) -> bool:
        used = [(side.marker is not None, side.cited) if side else (False, False) for side in (self.a, self.b)]
        return used[0] != used[1]


@dataclass(frozen=True, slots=True)
class VerdictDifference:
    """A passage that both runs judged, with different verdicts."""

    passage: Passage
    flipped: bool
    """One says relevant and the other does not; else only the probability moved."""


@dataclass(frozen=True, slots=True)
class RewritePair:
    """The rewrites after one round; None where a run made none there."""

    round: int
    a: Rewrite | None
    b: Rewrite | None

    @property
    def same(self) -> bool:
        return self.a is not None and self.b is not None and self.a.rewritten_query == self.b.rewritten_query


@dataclass(frozen=True, slots=True)
class ContextDifference:
    """Contexts of two generators, by passage."""

    shared: tuple[PassageId, ...]
    gained: tuple[PassageId, ...]
    lost: tuple[PassageId, ...]
    shared_entities: tuple[str, ...] = ()
    """Ids of the entities of the graph that both were given."""
    gained_entities: tuple[str, ...] = ()
    lost_entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """Time that the visits of one node took together."""

    node: str
    a_ms: float
    b_ms: float
    a_visits: int
    b_visits: int


@dataclass(frozen=True, slots=True)
class RoleCalls:
    """Calls of one role: of chat models (cached ones included, as if nothing had been cached) and built-in ones."""

    role: RoleName
    a_chat: int
    b_chat: int
    a_built_in: int
    b_built_in: int
    a_cached: int
    b_cached: int


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Run ``a`` compared with run ``b``; *gained* and *added* is what only ``b`` has."""

    a: RunRecord
    b: RunRecord
    settings: tuple[SettingDifference, ...]
    path: tuple[RoundPair, ...]
    passages: tuple[PassageDifference, ...]
    """Those given to a generator first, then those that a run kept, then the rest; best rank first."""
    verdicts: tuple[VerdictDifference, ...]
    """Flipped ones first."""
    rewrites: tuple[RewritePair, ...]
    context: ContextDifference
    answer: tuple[SentenceDifference, ...]
    times: tuple[NodeTimes, ...]
    calls: tuple[RoleCalls, ...]

    @property
    def same_question(self) -> bool:
        return self.a.question == self.b.question

    @property
    def parting(self) -> int | None:
        """The first round in which the runs differ; None where they never part."""
        return next((pair.index for pair in self.path if pair.differs), None)

    @property
    def same_path(self) -> bool:
        return self.parting is None and self.a.outcome == self.b.outcome

    @property
    def same_answer(self) -> bool:
        return all(item.kind == "same" for item in self.answer)

    @property
    def same_evidence(self) -> bool:
        """True if both saw, kept, judged, were given and cited the same; ranks included."""
        uses = all(_use(item.a) == _use(item.b) for item in self.passages)
        return uses and not self.verdicts and all(item.move == "same" for item in self.passages)

    @property
    def equal(self) -> bool:
        """True if nothing but times, calls and settings can differ."""
        return self.same_question and self.same_path and self.same_answer and self.same_evidence


def difference(a: RunRecord, b: RunRecord) -> RunDifference:
    """Set two runs side by side; runs that failed, were stopped or still run are compared as far as they came."""
    seen_a, seen_b = passage_outcomes(a), passage_outcomes(b)
    passages = _passages(a, b, seen_a, seen_b)
    return RunDifference(
        a=a,
        b=b,
        settings=(*settings_difference(a.config, b.config), *manifest_difference(a, b)),
        path=_path(a, b),
        passages=passages,
        verdicts=_verdicts(passages),
        rewrites=_rewrites(a, b),
        context=_context(a, b),
        answer=answer_difference(a, b),
        times=_times(a, b),
        calls=_calls(a, b),
    )


def _path(a: RunRecord, b: RunRecord) -> tuple[RoundPair, ...]:
    pairs = []
    for index in range(max(len(a.rounds), len(b.rounds))):
        old = a.rounds[index] if index < len(a.rounds) else None
        new = b.rounds[index] if index < len(b.rounds) else None
        was, now = _parting(_decisions(a, index), _decisions(b, index))
        pairs.append(RoundPair(index, old, new, was, now, _differs(old, new, was, now)))
    return tuple(pairs)


def _differs(a: Round | None, b: Round | None, was: Decision | None, now: Decision | None) -> tuple[Aspect, ...]:
    if a is None or b is None:
        return ("missing",)
    found: list[Aspect] = []
    if a.query != b.query:
        found.append("query")
    if {item.id for item in a.kept} != {item.id for item in b.kept}:
        found.append("kept")
    if (was.route if was else "") != (now.route if now else ""):
        found.append("route")
    if (was.reason if was else "") != (now.reason if now else ""):
        found.append("reason")
    return tuple(found)


def _decisions(record: RunRecord, index: int) -> list[Decision]:
    # What decides before the first round whether there is one belongs to none.
    preparing = workflow(record.workflow).flow.preparing
    return [item for item in record.decisions if item.round == index and item.node not in preparing]


def _parting(was: Sequence[Decision], now: Sequence[Decision]) -> tuple[Decision | None, Decision | None]:
    """Find the first decisions that differ in a round that was decided more than once, else its first ones."""
    pairs = list(zip_longest(was, now))
    for old, new in pairs:
        if old is None or new is None or (old.route, old.reason) != (new.route, new.reason):
            return old, new
    return pairs[0] if pairs else (None, None)


def _passages(
    a: RunRecord, b: RunRecord, seen_a: Mapping[PassageId, PassageOutcome], seen_b: Mapping[PassageId, PassageOutcome]
) -> tuple[PassageDifference, ...]:
    texts = {**b.passages, **a.passages}
    found = []
    for name in dict.fromkeys((*seen_a, *seen_b)):
        old, new = seen_a.get(name), seen_b.get(name)
        found.append(PassageDifference(texts[name], old, new, _move(old, new)))
    return tuple(sorted(found, key=_place))


def _move(a: PassageOutcome | None, b: PassageOutcome | None) -> Move:
    kept_a, kept_b = a is not None and a.kept, b is not None and b.kept
    if kept_a != kept_b:
        return "gained" if kept_b else "lost"
    if a is None or b is None:
        return "moved"
    return "same" if (a.first_rank, a.best_rank) == (b.first_rank, b.best_rank) else "moved"


def _place(item: PassageDifference) -> tuple[bool, bool, int, str]:
    sides = [side for side in (item.a, item.b) if side is not None]
    given = any(side.marker is not None for side in sides)
    kept = any(side.kept for side in sides)
    return (not given, not kept, min(side.best_rank for side in sides), item.passage.id)


def _use(outcome: PassageOutcome | None) -> tuple[object, ...]:
    return (outcome.kept, outcome.marker, outcome.cited, outcome.passes) if outcome else ()


def _verdicts(passages: tuple[PassageDifference, ...]) -> tuple[VerdictDifference, ...]:
    found = []
    for item in passages:
        old, new = item.a.verdict if item.a else None, item.b.verdict if item.b else None
        if old is None or new is None:
            continue
        flipped = old.relevant != new.relevant
        known = None not in (old.known_p, new.known_p)
        if flipped or (known and abs(round(old.p_relevant - new.p_relevant, 9)) > _NOTICED):
            found.append(VerdictDifference(item.passage, flipped))
    return tuple(sorted(found, key=lambda item: not item.flipped))


def _rewrites(a: RunRecord, b: RunRecord) -> tuple[RewritePair, ...]:
    old = {item.round: item for item in a.rewrites}
    new = {item.round: item for item in b.rewrites}
    return tuple(RewritePair(index, old.get(index), new.get(index)) for index in sorted({*old, *new}))


def _context(a: RunRecord, b: RunRecord) -> ContextDifference:
    old, new = ([item.id for item in run.context.passages] if run.context else [] for run in (a, b))
    return ContextDifference(*_compared(old, new), *_compared(_entities(a), _entities(b)))


def _compared(old: Sequence[IdT], new: Sequence[IdT]) -> tuple[tuple[IdT, ...], tuple[IdT, ...], tuple[IdT, ...]]:
    """Return what both have, what only the new one has, and what only the old one had."""
    shared = tuple(item for item in new if item in old)
    return shared, tuple(item for item in new if item not in old), tuple(item for item in old if item not in new)


def _entities(record: RunRecord) -> list[str]:
    graph = record.context.graph if record.context else None
    return [item.id for item in graph.entities] if graph else []


def _times(a: RunRecord, b: RunRecord) -> tuple[NodeTimes, ...]:
    names = dict.fromkeys(item.node for run in (a, b) for item in run.nodes)
    found = []
    for name in names:
        old, new = ([item for item in run.nodes if item.node == name] for run in (a, b))
        found.append(NodeTimes(name, _sum_ms(old), _sum_ms(new), len(old), len(new)))
    return tuple(found)


def _sum_ms(visits: Iterable[NodeExecution]) -> float:
    return sum(item.duration_ms or 0.0 for item in visits)


def _calls(a: RunRecord, b: RunRecord) -> tuple[RoleCalls, ...]:
    found = []
    for role in get_args(RoleName):
        old = [call for call in a.model_calls if call.role == role]
        new = [call for call in b.model_calls if call.role == role]
        if old or new:
            was, now = counted(old), counted(new)
            found.append(RoleCalls(role, was.done, now.done, was.steps, now.steps, was.cached, now.cached))
    return tuple(found)
