"""The gathered evidence of a query set: its questions, their runs, and what the runs' passages meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from engine.builtin.answer_note import Checked
from engine.evaluation.answers import Cited, Match, cited_of, match_of
from engine.evaluation.cases import Case
from engine.evaluation.judgements import Judged, Key, claim_recall, faithfulness, key_of, pair_id, request_of
from engine.evaluation.matching import met_map
from engine.evaluation.scores import MAX_CUTOFF
from engine.evaluation.values import AnswerJudgement
from engine.model.config import RoleModel, RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.values import AnswerNote, Outcome, RunId, RunRecord
from engine.replay.table import RunTable, run_table

Bits = NDArray[np.uint32]
"""One bit a place of a round's ranking, the best lowest; 20 places, because no more can be kept."""

_USABLE: frozenset[Outcome] = frozenset(
    {"answered", "answered_forced", "answered_unverified", "abstained", "fallback", "unanswered"}
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts from one finished run of a question."""

    table: RunTable
    match: Match | None = None
    """How close its answer comes to the gold answers; None without an answer or without gold answers."""
    cited: Cited | None = None
    """None without an answer."""
    checked: Checked | None = None
    """What is to be said of its answer, under any settings; None without an answer."""
    judged: Judged | None = None
    """What people said of this answer; None where none did."""
    verdict: AnswerJudgement | None = None
    """What the judge of answers said of it, a model; None where it has not judged it, or not readably."""

    @property
    def cannot_tell(self) -> bool:
        """The answer says itself that the sources do not answer the question."""
        return self.checked is not None and self.checked.note == "cannot_tell"

    def note(self, config: RunConfig) -> AnswerNote:
        """What is to be said of its answer under settings."""
        return self.checked.under(config) if self.checked is not None else ""

    def sentences(self, config: RunConfig) -> tuple[int, int, int]:
        """How many of its sentences are supported under settings, are not, and are not checked."""
        return self.checked.sentences(config) if self.checked is not None else (0, 0, 0)

    @property
    def claim_recall(self) -> float | None:
        return claim_recall(self.verdict.claims) if self.verdict is not None else None

    @property
    def faithfulness(self) -> float | None:
        return faithfulness(self.verdict.claims) if self.verdict is not None else None


@dataclass(frozen=True, slots=True)
class Gathered:
    """One question with what its run tells, and what runs of other gatherings answered under their settings."""

    case: Case
    own: RunFacts
    others: tuple[RunFacts, ...] = ()

    @property
    def table(self) -> RunTable:
        return self.own.table

    @property
    def run_id(self) -> RunId:
        return self.table.run_id


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The best places of every round of N runs; runs with fewer than R rounds have nothing in the others."""

    rounds: NDArray[np.int64]
    """[N]"""
    similarity: NDArray[np.float64]
    """[N, R, 20]; -1 where the round found no such passage."""
    reach: NDArray[np.float64]
    """[N, R, 20]; NaN without a readable verdict."""
    met: Bits
    """[N, R]: places that meet an expectation."""
    deepest: NDArray[np.float64]
    """[N, R]: similarity of the last passage found; -1 where nothing is below it."""
    depth: NDArray[np.int64]
    """[N, R]"""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All data for charts over a query set; built once, read under any settings, without any text.

    Compared by identity: two of them are never compared field by field, and it may key a cache.
    """

    gathered: tuple[Gathered, ...]
    failed: tuple[str, ...]
    """Ids of cases without a usable run: failed, cancelled, cut off, or never made; unknown in every figure."""
    places: Places
    notes: Mapping[AnswerNote, int] = field(default_factory=dict)
    """Answers gathered that say they cannot tell, that name no source, and that are not supported."""
    lost: tuple[Case, ...] = ()
    """The cases of ``failed``."""
    fits: Mapping[str, GraderFit] = field(default_factory=dict)
    """Fits to the collection by id."""
    _rejudged: dict[RoleModel, Evidence] = field(default_factory=dict)

    def learnt(self, grader: RoleModel) -> list[bool]:
        """By question, whether its judgements may have taught the fit of a grader; never without one."""
        fit = self.fits.get(grader.fit)
        return [bool(grader.fit) and (fit is None or fit.learnt(item.case.question)) for item in self.gathered]

    def judged_by(self, grader: RoleModel) -> Evidence:
        """The evidence as the same grader would have judged it with this calibration.

        Runs of which that is not known stay as they were judged.
        """
        if grader not in self._rejudged:
            tables = [item.table.judged_by(grader) if item.table.as_judged else item.table for item in self.gathered]
            made = self
            if any(table is not item.table for table, item in zip(tables, self.gathered, strict=True)):
                gathered = tuple(
                    replace(item, own=replace(item.own, table=table))
                    for item, table in zip(self.gathered, tables, strict=True)
                )
                made = replace(self, gathered=gathered, places=_places(tables), _rejudged={})
            self._rejudged[grader] = made
        return self._rejudged[grader]

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(item.case for item in self.gathered)

    def __len__(self) -> int:
        return len(self.gathered)


def gather(
    cases: Iterable[Case],
    records: Mapping[str, RunRecord],
    others: Sequence[Mapping[str, RunRecord]] = (),
    judged: Mapping[str, Judged] = MappingProxyType({}),
    verdicts: Mapping[Key, AnswerJudgement] = MappingProxyType({}),
    *,
    fits: Mapping[str, GraderFit] = MappingProxyType({}),
) -> Evidence:
    """Evidence of ``cases`` from their runs, by case id; a run that did not end by itself counts as failed.

    ``others`` are runs of the same questions under other settings: where a setting leads to what one of them was given,
    its answer stands. ``judged`` is what people said of answers (:func:`judgements.judged_answers`),
    ``verdicts`` what one judge, a model, did (:func:`judgements.verdicts_of`). ``fits`` are calibrations of the grader
    to the collection, by id, that settings may name.
    """
    heard = _Heard(judged, verdicts, fits)
    gathered: list[Gathered] = []
    lost: list[Case] = []
    notes: Counter[AnswerNote] = Counter()
    for case in cases:
        record = records.get(case.id)
        if not _usable(record):
            lost.append(case)
        else:
            more = (_facts_of(case, found, heard) for other in others if _usable(found := other.get(case.id)))
            gathered.append(Gathered(case, _facts_of(case, record, heard), tuple(more)))
            notes.update([record.answer_note] if record.answer_note else [])
    failed = tuple(case.id for case in lost)
    return Evidence(tuple(gathered), failed, _places([item.table for item in gathered]), notes, tuple(lost), fits)


def _usable(record: RunRecord | None) -> TypeGuard[RunRecord]:
    return record is not None and record.outcome in _USABLE and bool(record.rounds)


@dataclass(frozen=True, slots=True)
class _Heard:
    judged: Mapping[str, Judged]
    verdicts: Mapping[Key, AnswerJudgement]
    fits: Mapping[str, GraderFit]


def _facts_of(case: Case, record: RunRecord, heard: _Heard) -> RunFacts:
    table = run_table(record, met_map(case, record), len(case.expected), heard.fits)
    judged, verdicts = heard.judged, heard.verdicts
    if not record.answer or record.outcome == "abstained":
        return RunFacts(table)
    match = match_of(record.answer, case.gold_answers, case.language) if case.gold_answers else None
    said = judged.get(pair_id(case.question, record.answer)) if judged else None
    verdict = verdicts.get(key_of(request_of(case, record))) if verdicts else None
    if verdict is not None and verdict.right == "unreadable":
        verdict = None
    return RunFacts(table, match, cited_of(record), Checked.of(record), said, verdict)


def _places(tables: list[RunTable]) -> Places:
    deep = max((len(table.rounds) for table in tables), default=0)
    shape = (len(tables), deep)
    places = Places(
        rounds=np.array([len(table.rounds) for table in tables], dtype=np.int64),
        similarity=np.full((*shape, MAX_CUTOFF), -1.0),
        reach=np.full((*shape, MAX_CUTOFF), np.nan),
        met=np.zeros(shape, dtype=np.uint32),
        deepest=np.full(shape, -1.0),
        depth=np.zeros(shape, dtype=np.int64),
    )
    for n, table in enumerate(tables):
        for r, current in enumerate(table.rounds):
            order = np.argsort(current.rank, kind="stable")
            best = order[current.rank[order] > 0][:MAX_CUTOFF]
            places.similarity[n, r, : len(best)] = current.similarity[best]
            places.reach[n, r, : len(best)] = table.reach[best]
            places.met[n, r] = sum(1 << place for place, passage in enumerate(best) if table.met[passage])
            places.depth[n, r] = current.depth
            if not current.exhausted and current.depth:
                places.deepest[n, r] = current.below
    return places
