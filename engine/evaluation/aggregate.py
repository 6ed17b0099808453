"""The figures of a gathered query set under any settings: decisions by what-if, then arrays over all questions at once.

A path that is not known is in no figure, and neither is a question that fails under the setting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.answers import BASES, Basis, basis_of
from engine.evaluation.cases import firsts
from engine.evaluation.evidence import Evidence, Gathered, Told
from engine.evaluation.figures import ANSWERED, OUTCOMES, Evaluation, Measure, Measured, RightBy, ratio
from engine.evaluation.kept import Kept, kept_under
from engine.evaluation.scores import MAX_CUTOFF
from engine.model.config import RoleModel, RunConfig
from engine.replay.grid import paths
from engine.replay.masks import BoolArray, FloatArray, IntArray
from engine.replay.settings import COLUMNS, GAPS, Paths, SettingsGrid

_ANSWERED = [OUTCOMES.index(outcome) for outcome in ANSWERED]
_ABSTAINED = OUTCOMES.index("abstained")
_VERDICTS = GAPS.index("verdicts")
_DEFAULTS = RunConfig()
_AS_FOUND = ("path_known", "round", "passed", "kept", "calls", "built_in_calls", "seconds", "context_known")
CUTOFF = 5


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """What ``what_if`` says of N questions under S settings; all [N, S]."""

    path_known: BoolArray
    outcome: IntArray
    """Index into ``figures.OUTCOMES``; -1 where it is not known."""
    round: IntArray
    """The last round reached."""
    passed: IntArray
    kept: IntArray
    """Passages of the last round."""
    all_judged: BoolArray
    """False where the last round kept passages that no one judged, so that ``passed`` is only a lower bound."""
    calls: IntArray
    built_in_calls: IntArray
    seconds: FloatArray
    """NaN where the run did not measure every step of the path."""
    answer: IntArray
    """Whose answer, or refusal, stands: 0 the question's own run's, from 1 another run's; -1 where none is recorded."""
    told_outcome: IntArray
    """The outcome of the run whose answer stands."""
    told_given: BoolArray
    """What that run gave to the generator meets an expectation."""
    context_known: BoolArray
    given_any: BoolArray
    given_all: BoolArray
    """The generator is given something that meets any, or every, expectation; both false without expectations."""
    found_any: BoolArray
    """The last round kept something that meets an expectation."""


def replay_all(evidence: Evidence, configs: Sequence[RunConfig]) -> Outcomes:
    """Every question under every config. The configs may differ in anything; what needs calls is not known."""
    shape = (len(evidence), len(configs))
    replayed = Outcomes(**{item.name: np.zeros(shape, dtype=_DTYPES[item.name]) for item in fields(Outcomes)})
    groups: dict[RunConfig, list[int]] = {}
    for place, config in enumerate(configs):
        groups.setdefault(_without_columns(config), []).append(place)
    for places in groups.values():
        grid = SettingsGrid.of([configs[place] for place in places])
        columns: slice | list[int] = slice(None) if len(places) == len(configs) else places
        for row, item in enumerate(evidence.gathered):
            own = paths(item.table, grid)
            _fill(replayed, row, columns, own)
            _fill_answers(replayed, row, columns, [own, *_others(item, own, grid)])
    return replayed


def _without_columns(config: RunConfig) -> RunConfig:
    return replace(config, **{name: getattr(_DEFAULTS, name) for name in COLUMNS})


def _fill(replayed: Outcomes, row: int, columns: slice | list[int], own: Paths) -> None:
    for name in _AS_FOUND:
        getattr(replayed, name)[row, columns] = getattr(own, name)
    replayed.outcome[row, columns] = np.where(own.path_known, own.outcome, -1)
    replayed.all_judged[row, columns] = own.gap != _VERDICTS
    if own.given.shape[1]:
        replayed.given_any[row, columns] = own.given.any(axis=1)
        replayed.given_all[row, columns] = own.given.all(axis=1)
        replayed.found_any[row, columns] = own.found.any(axis=1)


def _others(item: Gathered, own: Paths, grid: SettingsGrid) -> Iterator[Paths]:
    """Where other runs of a question lead, as long as its own run leaves an answer open."""
    if not np.all(own.known):
        yield from (paths(other.table, grid) for other in item.others)


def _fill_answers(replayed: Outcomes, row: int, columns: slice | list[int], found: Sequence[Paths]) -> None:
    """Note for each setting the first run whose answer stands; what is known of the path by the own run holds."""
    own = found[0]
    whose = np.full(len(own), -1)
    outcome, given = own.outcome.copy(), np.zeros(len(own), dtype=np.bool_)
    for place, there in enumerate(found):
        agrees = ~own.path_known | np.equal(there.outcome, own.outcome)
        stands = np.asarray((whose < 0) & there.known & agrees)
        whose[stands], outcome[stands] = place, there.outcome[stands]
        if there.given.shape[1]:
            given[stands] = np.asarray(there.given.any(axis=1))[stands]
    replayed.answer[row, columns], replayed.told_outcome[row, columns] = whose, outcome
    replayed.told_given[row, columns] = given


_FLAGS = ("path_known", "all_judged", "context_known", "given_any", "given_all", "found_any", "told_given")
_DTYPES: dict[str, type] = {
    item.name: bool if item.name in _FLAGS else float if item.name == "seconds" else np.int64
    for item in fields(Outcomes)
}


def evaluate(evidence: Evidence, configs: Sequence[RunConfig], *, cutoff: int = CUTOFF) -> Evaluation:
    """The figures of ``evidence`` under each of ``configs``; calls nothing.

    ``cutoff``: k of recall, reciprocal rank and nDCG, from 1 to 20; raises ``ValueError`` for another one.
    """
    if not 1 <= cutoff <= MAX_CUTOFF:
        raise ValueError(f"cutoff must be from 1 to {MAX_CUTOFF}")
    replayed = replay_all(evidence, configs)
    reached = np.where(replayed.path_known, replayed.round, -1)
    measures = _Measures(
        evidence, replayed, kept_under(evidence, configs, reached, cutoff), _same_grader(evidence, configs)
    )
    return Evaluation(
        configs=tuple(configs),
        case_ids=tuple(item.case.id for item in evidence.gathered),
        failed=evidence.failed,
        cutoff=cutoff,
        outcomes=replayed.outcome,
        path_known=replayed.path_known,
        measures=measures.all(),
        right_by=measures.right_by,
    )


class _Measures:
    """Sums and weights of every measure; each method is one family of them."""

    def __init__(self, evidence: Evidence, replayed: Outcomes, kept: Kept, same_grader: BoolArray) -> None:
        cases = evidence.cases
        self.evidence = evidence
        self.replayed = replayed
        self.same_grader = same_grader
        self.kept = kept
        self.labelled = _column((bool(case.expected) for case in cases), bool)
        self.answerable = _column((case.answerable is True for case in cases), bool)
        self.unanswerable = _column((case.answerable is False for case in cases), bool)
        self.ended = replayed.outcome >= 0
        self.counted = replayed.path_known & (replayed.outcome != OUTCOMES.index("failed"))
        self.answered = np.isin(replayed.outcome, _ANSWERED)
        self.refused = replayed.outcome == _ABSTAINED
        self.read = (replayed.answer >= 0) & np.isin(replayed.told_outcome, [*_ANSWERED, _ABSTAINED])
        """An answer, or a refusal, is recorded."""
        self.right_by = self._right_by()

    def all(self) -> Mapping[Measure, Measured]:
        return {
            **self._answers(),
            **self._citations(),
            **self._quality(),
            **self._retrieval(),
            **self._costs(),
            **self._rewrites(),
            **self._grader(),
        }

    def _right_by(self) -> RightBy:
        replayed, cases = self.replayed, self.evidence.cases
        refused = np.where(replayed.answer >= 0, replayed.told_outcome == _ABSTAINED, self.refused)
        cannot_tell = self._by_answer(lambda told: told.cannot_tell) > 0
        given = self.read & ~refused & ~cannot_tell
        judged = given & (self._by_answer(lambda told: told.judged is not None) > 0)
        codes = (_column((_code(basis_of(case, judged=said)) for case in cases), int) for said in (True, False))
        basis = np.where(judged, *codes)
        return RightBy(
            basis=basis,
            recorded=self.read | (self.counted & self.refused),
            given=given,
            otherwise=_column((basis_of(case) is not None for case in cases), bool) & np.ones_like(given),
            at_random=judged & (self._by_answer(lambda told: told.judged is not None and told.judged.at_random) > 0),
            first=_column(firsts(cases), bool) & np.ones_like(given),
        )

    def _answers(self) -> dict[Measure, Measured]:
        by, given = self.right_by, self.right_by.given
        gold = _column((bool(case.gold_answers) for case in self.evidence.cases), bool)
        exact, f1, contained = (self._by_answer(_figure("match", name)) for name in ("exact", "f1", "contained"))
        judged_right = self._by_answer(lambda told: told.judged is not None and told.judged.right) > 0
        ways: dict[Basis, BoolArray] = {
            "gold": contained > 0,
            "judgement": judged_right,
            "passage": self.replayed.told_given,
            "refusal": np.zeros_like(given),
        }
        says_right = np.select([by.basis == BASES.index(basis) for basis in ways], list(ways.values()), default=False)
        right = np.where(given, says_right, self.unanswerable)
        ended, tells = by.recorded, by.tells
        return {
            "answered_right": _mean(right, tells),
            "wrong_given": _mean(~right, tells & given),
            "exact_match": _mean(given * exact, ended & gold),
            "f1": _mean(given * f1, ended & gold),
            "containment": _mean(given * contained, ended & gold),
        }

    def _citations(self) -> dict[Measure, Measured]:
        tells = self.read & (self.replayed.told_outcome != _ABSTAINED)
        pairs, held, claims, borne_out = (
            np.where(tells, self._by_answer(_figure("cited", name)), 0.0)
            for name in ("pairs", "held", "claims", "borne_out")
        )
        return {
            "citation_precision": Measured(held, pairs),
            "citation_recall": Measured(borne_out, claims),
            **{name: self._judged(name, tells) for name in ("claim_recall", "faithfulness")},
        }

    def _judged(self, name: Literal["claim_recall", "faithfulness"], tells: BoolArray) -> Measured:
        """What the judge of answers says of those that it has judged."""
        values = self._by_answer(lambda told: np.nan if getattr(told, name) is None else getattr(told, name))
        return _mean(np.nan_to_num(values), tells & ~np.isnan(values))

    def _by_answer(self, figure: Callable[[Told], float]) -> FloatArray:
        """A figure of the answer that stands, [N, S]; that of the question's own run where none does."""
        told = [(item.own, *item.others) for item in self.evidence.gathered]
        values = np.zeros((len(told), max(map(len, told), default=1)))
        for row, answers in enumerate(told):
            values[row, : len(answers)] = [figure(item) for item in answers]
        return np.take_along_axis(values, np.maximum(self.replayed.answer, 0), axis=1)

    def _quality(self) -> dict[Measure, Measured]:
        replayed, ended = self.replayed, self.counted & self.ended
        # Without expectations, nothing tells a right answer from a wrong one: any answer counts.
        should_hit = self.labelled & ~self.unanswerable
        good = np.where(self.unanswerable, self.refused, self.answered & (~should_hit | replayed.given_any))
        # What was refused had no context, so that an unknown context makes only an answer unknown.
        tells = ended & (~should_hit | ~self.answered | replayed.context_known)
        in_context = self.counted & self.labelled & replayed.context_known
        return {
            "quality": _mean(good, tells),
            "context_hit": _mean(replayed.given_any, in_context),
            "context_hit_all": _mean(replayed.given_all, in_context),
            "refused_unanswerable": _mean(self.refused, ended & self.unanswerable),
            "answered_answerable": _mean(self.answered, ended & self.answerable),
            "refused_answerable": _mean(self.refused, ended & self.answerable),
        }

    def _retrieval(self) -> dict[Measure, Measured]:
        tells = self.counted & self.labelled & self.kept.seen_whole
        return {
            "recall": _mean(self.kept.recall, tells),
            "rr": _mean(self.kept.rr, tells),
            "ndcg": _mean(self.kept.ndcg, tells),
        }

    def _costs(self) -> dict[Measure, Measured]:
        replayed = self.replayed
        timed = ~np.isnan(replayed.seconds)
        return {
            "pass_rate": _mean(
                ratio(replayed.passed, replayed.kept, otherwise=0.0), self.counted & replayed.all_judged
            ),
            "rewrites": _mean(replayed.round, self.counted),
            "calls": _mean(replayed.calls, self.counted),
            "built_in_calls": _mean(replayed.built_in_calls, self.counted),
            "steps": _mean(replayed.calls + replayed.built_in_calls, self.counted),
            "seconds": _mean(np.nan_to_num(replayed.seconds), self.counted & timed),
        }

    def _rewrites(self) -> dict[Measure, Measured]:
        labelled = self.counted & self.labelled
        by_the_gate = labelled & (self.replayed.outcome == OUTCOMES.index("answered"))
        missed = ~self.replayed.found_any & self.kept.seen_whole
        return {
            "false_rewrites": Measured(
                np.where(labelled, self.kept.false_rewrites, 0.0),
                np.where(labelled, self.replayed.round, 0).astype(float),
            ),
            "missed_rewrites": _mean(missed, by_the_gate & (self.replayed.found_any | self.kept.seen_whole)),
        }

    def _grader(self) -> dict[Measure, Measured]:
        # The recorded verdicts say nothing of another grader.
        tells = self.counted & self.same_grader & (self.labelled | self.unanswerable)
        right = np.where(tells, self.kept.right, 0.0)
        return {
            "grader_precision": Measured(right, np.where(tells, self.kept.passed, 0.0)),
            "grader_recall": Measured(right, np.where(tells, self.kept.expected, 0.0)),
        }


def _same_grader(evidence: Evidence, configs: Sequence[RunConfig]) -> BoolArray:
    """[N, S]: the config's grader is the one whose verdicts are recorded."""
    numbers: dict[RoleModel, int] = {}
    recorded = [numbers.setdefault(item.table.config.models.grader, len(numbers)) for item in evidence.gathered]
    wanted = [numbers.setdefault(config.models.grader, len(numbers)) for config in configs]
    return np.equal(np.array(recorded, dtype=np.int64).reshape(-1, 1), np.array(wanted, dtype=np.int64))


def _code(basis: Basis | None) -> int:
    return -1 if basis is None else BASES.index(basis)


def _figure(part: Literal["match", "cited"], name: str) -> Callable[[Told], float]:
    """Read a figure off an answer; 0 where it has none."""
    return lambda told: getattr(getattr(told, part), name, 0.0)


def _column(values: Iterable[float], kind: type = float) -> NDArray[Any]:
    """One value a question as a column [N, 1], to stand beside arrays [N, S]."""
    return np.fromiter(values, dtype=kind).reshape(-1, 1)


def _mean(values: NDArray[np.generic], counted: BoolArray) -> Measured:
    return Measured(np.where(counted, values, 0).astype(np.float64), counted.astype(np.float64))
