"""The numerical evidence of one run, laid out so that many settings can be tried on it at once.

Sets of passages are the bit masks of :mod:`engine.replay.masks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine.flow import workflow
from engine.model.config import RoleModel, RunConfig
from engine.model.decide import kept_passages
from engine.model.grader_fit import GraderFit
from engine.model.language import normalised_query
from engine.model.values import ANSWERED, Content, PassageId, Reason, Round, RunId, RunRecord, Verdict
from engine.replay.clock import RecordedClock
from engine.replay.cost import cost_model
from engine.replay.masks import FloatArray, IntArray, Words, by_level, mask_of, places, words_for, words_of
from engine.replay.rejudged import rejudged
from engine.retrieval.reciprocal import most_similar_below
from engine.roles.rewrite_input import failed_passages, rewrite_request


@dataclass(frozen=True, slots=True)
class RoundTable:
    """One recorded round; ``by_rank[:, k]`` masks the best k, ``by_similarity[:, i]`` those at level i or above."""

    depth: int
    exhausted: bool
    """The search found less than it was asked for, so that nothing is below the depth."""
    below: float
    """The highest similarity that a passage below the depth can have."""
    rank: IntArray
    """[passages], from 1; 0 where this round did not find the passage."""
    similarity: FloatArray
    """[passages]; 0 where this round did not find the passage."""
    version: IntArray
    """[passages]: equal for rounds that found the same content, -1 where this one did not find the passage."""
    by_rank: Words
    levels: FloatArray
    """Distinct similarities, ascending."""
    by_similarity: Words
    kept: Words
    """As recorded."""
    failed: Words
    """As recorded: kept, read, and not passed. The rewriter sees these."""
    left: Words
    """Passages that were to be judged and have no verdict."""
    judged: Words
    """Passages with a recorded verdict of this round, unreadable ones included."""
    readable: Words
    """What a search here would know to be readable: by this round's own verdict, else by another round's."""
    unreadable: Words
    searched: bool
    decided: bool
    reason: Reason | None
    complete: bool
    """Every kept passage has a verdict."""
    over: bool
    """The deadline decided."""
    elapsed_s: float
    """At a deadline; else 0."""
    unreached: bool
    """Decided without its grader."""
    left_out: bool
    """A search or a verdict is missing for want of time."""
    ended_s: float
    """When this round and all before it had been searched and judged."""
    repeated: bool
    rewrite_failed: bool
    rewritten: bool
    """A rewrite follows."""
    goes_on: bool
    """A further round follows."""


@dataclass(frozen=True, slots=True)
class RunTable:
    """Facts of one run for any settings; built by :func:`run_table`."""

    run_id: RunId
    config: RunConfig
    passages: tuple[PassageId, ...]
    """Distinct, in the order of first sight: the bits of every mask."""
    rounds: tuple[RoundTable, ...]
    p_relevant: FloatArray
    """[passages]; nan where no verdict could be read."""
    reach: FloatArray
    """[passages]: as :attr:`engine.model.values.Verdict.reach`; nan where no verdict could be read."""
    levels: FloatArray
    """Distinct values of ``reach``, ascending."""
    by_confidence: Words
    """[words, levels + 1]: passages that pass where ``min_confidence`` is at level i."""
    rejected: Words
    """Passages that the grader called not relevant, passed or not."""
    context: tuple[tuple[int, int], ...]
    """What the generator was given: passage and version; empty where nothing was."""
    cut: tuple[int, ...]
    verified: bool
    answered: bool
    met: tuple[tuple[int, ...], ...]
    """By passage: the expectations that it meets."""
    expectations: int
    met_by: Words
    """[expectations, words]"""
    search_s: float
    grading_s: float
    screening_s: float
    rewrite_s: float
    generation_s: float
    checking_s: float
    """Measured seconds of one step; nan where the run measured none."""
    record: RunRecord
    """What the masks were made of, for settings that have to be replayed one by one."""
    plain: bool
    """Whether the masks say everything; not of another loop than that of four nodes, of a branch, or of contradicting
    verdicts."""
    ran: RunRecord
    """The same as ``record``; the run itself where that has the verdicts of another calibration."""
    fits: Mapping[str, GraderFit] = field(default_factory=dict)
    """Calibrations of the grader by id."""
    _rejudged: dict[RoleModel, RunTable] = field(default_factory=dict)

    def judged_by(self, grader: RoleModel) -> RunTable:
        """The run as the same grader would have judged it with this calibration; as it was judged if that is unknown.

        Asked of the table of the run itself.
        """
        if grader not in self._rejudged:
            other = rejudged(self.record, grader, self.fits)
            met = dict(zip(self.passages, self.met, strict=True))
            made = self if other is self.record else _table(other, met, self.expectations, self.record)
            self._rejudged[grader] = made
        return self._rejudged[grader]

    @property
    def as_judged(self) -> bool:
        """True if the verdicts are those of the run."""
        return self.ran is self.record

    @property
    def words(self) -> int:
        return words_for(len(self.passages))

    def met_by_rank(self, round_index: int) -> list[tuple[int, ...]]:
        """Expectations met by each candidate of a round, best first: what a ranking is scored by."""
        rank = self.rounds[round_index].rank
        return [self.met[place] for place in np.argsort(rank, kind="stable") if rank[place]]

    def ids(self, mask: Words) -> tuple[PassageId, ...]:
        """The passages of a mask [words], in the order of first sight."""
        return tuple(self.passages[place] for place in places(mask))


def run_table(
    record: RunRecord,
    met: Mapping[PassageId, tuple[int, ...]] | None = None,
    expectations: int = 0,
    fits: Mapping[str, GraderFit] | None = None,
) -> RunTable:
    """The evidence of ``record``; ``met`` names, by passage, the indices of the expectations that it meets.

    ``fits``: calibrations of the grader to the run's collection, by id, for settings that name another one.
    """
    return replace(_table(record, met, expectations, record), fits=fits or {}, _rejudged={})


def _table(
    record: RunRecord, met: Mapping[PassageId, tuple[int, ...]] | None, expectations: int, ran: RunRecord
) -> RunTable:
    """``ran``: the run as it was judged then, which decides what its rewriter saw."""
    names, slim = list(record.passages), _slim(record)
    place = {name: index for index, name in enumerate(names)}
    verdicts = record.first_verdicts()
    met = met or {}
    by_passage = tuple(tuple(met.get(name, ())) for name in names)
    expectations = max([expectations, *(index + 1 for indices in by_passage for index in indices)])
    readable = {name: verdict for name, verdict in verdicts.items() if verdict.relevant is not None}
    p_relevant = np.array([readable[name].p_relevant if name in readable else np.nan for name in names], np.float64)
    reach = np.array([readable[name].reach if name in readable else np.nan for name in names], np.float64)
    levels, by_confidence = by_level(reach, np.flatnonzero(~np.isnan(reach)).tolist())
    layout = _Layout(record, place, verdicts, _versions(record), ran)
    prices = cost_model(record, record.config)
    context, cut = layout.context()
    return RunTable(
        run_id=record.id,
        config=record.config,
        passages=tuple(names),
        rounds=tuple(layout.round(index) for index in range(len(record.rounds))),
        p_relevant=p_relevant,
        reach=reach,
        levels=levels,
        by_confidence=by_confidence,
        rejected=mask_of(
            (place[name] for name, verdict in verdicts.items() if verdict.relevant is False), words_for(len(names))
        ),
        context=context,
        cut=cut,
        verified=record.context.verified if record.context else True,
        answered=record.outcome in ANSWERED and record.context is not None,
        met=by_passage,
        expectations=expectations,
        met_by=_met_by(by_passage, expectations),
        search_s=_seconds(prices.search.seconds),
        grading_s=_seconds(prices.grading.seconds),
        screening_s=_seconds(prices.screening.seconds),
        rewrite_s=_seconds(prices.rewrite.seconds),
        generation_s=_seconds(prices.generation.seconds),
        checking_s=_seconds(prices.checking.seconds),
        record=slim,
        plain=layout.plain(),
        ran=slim if record is ran else ran,
    )


class _Layout:
    """Lays out the rounds of one record."""

    def __init__(
        self,
        record: RunRecord,
        place: Mapping[PassageId, int],
        verdicts: Mapping[PassageId, Verdict],
        versions: Sequence[Mapping[PassageId, int]],
        ran: RunRecord,
    ) -> None:
        self.record = record
        self.ran = ran
        self.place = place
        self.verdicts = verdicts
        self.versions = versions
        self.words = words_for(len(place))
        self.clock = RecordedClock(record)

    def round(self, index: int) -> RoundTable:
        current, config = self.record.rounds[index], self.record.config
        decision, before = self.clock.decision(index), self.clock.rewrite_before(index)
        kept = [item.id for item in kept_passages(current, config)]
        to_judge = [item.passage.id for item in current.candidates] if config.grade_probe else kept
        rank, similarity, version = self._as_seen(index)
        levels, by_similarity = by_level(similarity, [self.place[item.passage.id] for item in current.candidates])
        readable, unreadable = self._known(current)
        return RoundTable(
            depth=len(current.candidates),
            exhausted=len(current.candidates) < config.fetch_k and self.record.origin is None,
            below=most_similar_below(current.candidates[-1].passage, config.search) if current.candidates else 0.0,
            rank=rank,
            similarity=similarity,
            version=version,
            by_rank=self._by_rank(current),
            levels=levels,
            by_similarity=by_similarity,
            kept=self._mask(kept),
            failed=self._mask(item.id for item in failed_passages(self.ran.rounds[index], self.ran.config)),
            left=self._mask(name for name in to_judge if name not in current.verdicts),
            judged=self._mask(name for name in current.verdicts if name in self.place),
            readable=self._mask(readable),
            unreadable=self._mask(unreadable),
            searched=current.searched,
            decided=decision is not None and self.record.origin is None,
            reason=decision.reason if decision else None,
            complete=all(name in current.verdicts for name in kept),
            over=self.clock.over(index),
            elapsed_s=self.clock.elapsed_s(index),
            unreached=self.clock.unreached(index),
            left_out=self.clock.left_out(index),
            ended_s=self.clock.ended_s(index),
            repeated=bool(before and before.repeated),
            rewrite_failed=bool(before and before.failed),
            rewritten=self.clock.rewrite_before(index + 1) is not None,
            goes_on=len(self.record.rounds) > index + 1,
        )

    def context(self) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
        """The recorded context as places and versions, and what was cut."""
        given = self.record.context
        if given is None or any(name not in self.place for name in given.cut):
            return (), ()
        versions = {
            item.passage.content: own[item.passage.id]
            for current, own in zip(self.record.rounds, self.versions, strict=True)
            for item in current.candidates
        }
        if any(passage.content not in versions for passage in given.passages):
            return (), ()
        shown = tuple((self.place[passage.id], versions[passage.content]) for passage in given.passages)
        return shown, tuple(self.place[name] for name in given.cut)

    def plain(self) -> bool:
        """Return whether the evidence is of one unbranched run under one config: one readable verdict a passage."""
        record = self.record
        if not workflow(record.workflow).on_grid or record.fork is not None:
            return False
        if len({item.round for item in record.rewrites}) != len(record.rewrites):
            return False
        if record.origin is not None and not self._queries_are_new():
            return False
        read: set[PassageId] = set()
        for index, current in enumerate(record.rounds):
            ids = [item.passage.id for item in current.candidates]
            ranked = all(item.rank == rank for rank, item in enumerate(current.candidates, start=1))
            if current.index != index or len(set(ids)) != len(ids) or not ranked:
                return False
            for name, verdict in current.verdicts.items():
                if name not in self.place or (name in read and verdict.relevant is None):
                    return False
                if verdict.relevant is not None:
                    read.add(name)
                    if verdict != self.verdicts[name]:
                        return False
            if not self._hash_again(index):
                return False
        return True

    def _queries_are_new(self) -> bool:
        """Return whether no rewrite of another program repeats a query, which the loop would have refused."""
        tried = [normalised_query(text) for text in (self.record.question, *(own.query for own in self.record.rounds))]
        made = tried[2:]
        return all(query and query not in tried[: place + 2] for place, query in enumerate(made))

    def _hash_again(self, index: int) -> bool:
        """Return whether the rewriter's input of this round can be made again: else no other one can be compared."""
        record, after = self.ran, self.clock.rewrite_before(index + 1)
        if after is None:
            return True
        seen = rewrite_request(record.question, record.rounds[: index + 1], record.rewrites[:index], record.config)
        return seen.digest() == after.input_hash

    def _as_seen(self, index: int) -> tuple[IntArray, FloatArray, IntArray]:
        rank = np.zeros(len(self.place), dtype=np.int64)
        similarity = np.zeros(len(self.place))
        version = np.full(len(self.place), -1, dtype=np.int64)
        for item in self.record.rounds[index].candidates:
            at = self.place[item.passage.id]
            rank[at], similarity[at] = item.rank, item.passage.similarity
            version[at] = self.versions[index][item.passage.id]
        return rank, similarity, version

    def _known(self, current: Round) -> tuple[list[PassageId], list[PassageId]]:
        readable: list[PassageId] = []
        unreadable: list[PassageId] = []
        for item in current.candidates:
            verdict = current.verdicts.get(item.passage.id) or self.verdicts.get(item.passage.id)
            if verdict is not None:
                (unreadable if verdict.relevant is None else readable).append(item.passage.id)
        return readable, unreadable

    def _by_rank(self, current: Round) -> Words:
        masks, mask = [0], 0
        for item in current.candidates:
            mask |= 1 << self.place[item.passage.id]
            masks.append(mask)
        return np.stack([words_of(item, self.words) for item in masks], axis=1)

    def _mask(self, names: Iterable[PassageId]) -> Words:
        return mask_of((self.place[name] for name in names), self.words)


def _versions(record: RunRecord) -> list[dict[PassageId, int]]:
    """Number the content of passages by round: equal where a generator would be shown the same."""
    numbers: dict[Content, int] = {}
    return [
        {item.passage.id: numbers.setdefault(item.passage.content, len(numbers)) for item in current.candidates}
        for current in record.rounds
    ]


def _met_by(met: Sequence[Sequence[int]], expectations: int) -> Words:
    rows = [[place for place, indices in enumerate(met) if index in indices] for index in range(expectations)]
    words = words_for(len(met))
    return np.array([mask_of(row, words) for row in rows], dtype=np.uint64).reshape(expectations, words)


def _seconds(measured: float | None) -> float:
    return float("nan") if measured is None else measured


def _slim(record: RunRecord) -> RunRecord:
    """The record without what no replay reads: prompts, replies and thinking of its model calls."""
    calls = tuple(replace(call, messages=(), reply="", parsed=None, thinking="") for call in record.model_calls)
    return replace(record, model_calls=calls)
