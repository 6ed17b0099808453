"""The figures of a gathered query set under any settings: decisions by what-if, then arrays over all questions at once.

A question is unknown in a figure that it belongs to where its path is, where it fails under the setting, and where it
has no usable run: a failure must not improve a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.answers import BASES, Basis, basis_of
from engine.evaluation.cases import Case, firsts
from engine.evaluation.evidence import Evidence, Gathered, RunFacts
from engine.evaluation.figures import (
    ANSWERED,
    NOTES,
    OUTCOMES,
    Evaluation,
    Lost,
    Measured,
    RightBy,
    ratio,
    side_by_side,
)
from engine.evaluation.kept_passages import Kept, kept_under
from engine.evaluation.limits import fetched_whole, limits_of, repeatable
from engine.evaluation.measures import Measure
from engine.evaluation.scores import MAX_CUTOFF
from engine.flow.declaration import judged_a_round
from engine.model.config import RoleModel, RunConfig
from engine.model.decide import cascades, judging
from engine.replay.grid import paths
from engine.replay.masks import BoolArray, FloatArray, IntArray
from engine.replay.settings import COLUMNS, GAPS, Paths, SettingsGrid

_ANSWERED = [OUTCOMES.index(outcome) for outcome in ANSWERED]
_ABSTAINED = OUTCOMES.index("abstained")
_VERDICTS = GAPS.index("verdicts")
_DEFAULTS = RunConfig()
_AS_FOUND = (
    *("path_known", "round", "passed", "kept", "calls", "built_in_calls", "checks", "seconds", "context_known"),
    *("screened", "left"),
)
CUTOFF = 5


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Results of ``what_if`` for N questions under S settings; all [N, S]."""

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
    checks: IntArray
    screened: IntArray
    left: IntArray
    """As in :class:`engine.replay.settings.Paths`."""
    seconds: FloatArray
    """NaN where the run did not measure every step of the path."""
    answer: IntArray
    """Whose answer, or refusal, stands: 0 the question's own run's, from 1 another run's; -1 where none is recorded."""
    answer_outcome: IntArray
    """The outcome of the run whose answer stands."""
    answer_from_expected: BoolArray
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
    for places in on_one_grid(configs):
        grid = SettingsGrid.of([configs[place] for place in places])
        columns: slice | list[int] = slice(None) if len(places) == len(configs) else places
        for row, item in enumerate(evidence.gathered):
            own = paths(item.table, grid)
            _fill(replayed, row, columns, own)
            _fill_answers(replayed, row, columns, [own, *_others(item, own, grid)])
    return replayed


def on_one_grid(configs: Sequence[RunConfig]) -> list[list[int]]:
    """Places of configs that differ in the columns of a grid alone, together."""
    groups: dict[RunConfig, list[int]] = {}
    for place, config in enumerate(configs):
        rest = replace(config, **{name: getattr(_DEFAULTS, name) for name in COLUMNS})
        groups.setdefault(rest, []).append(place)
    return list(groups.values())


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
    """Return the paths of a question's other runs, while its own run leaves an answer open."""
    if not np.all(own.answer_stands):
        yield from (paths(other.table, grid) for other in item.others)


def _fill_answers(replayed: Outcomes, row: int, columns: slice | list[int], found: Sequence[Paths]) -> None:
    """Note for each setting the first run whose answer stands; what is known of the path by the own run holds."""
    own = found[0]
    whose = np.full(len(own), -1)
    outcome, given = own.outcome.copy(), np.zeros(len(own), dtype=np.bool_)
    for place, there in enumerate(found):
        agrees = ~own.path_known | np.equal(there.outcome, own.outcome)
        stands = np.asarray((whose < 0) & there.answer_stands & agrees)
        whose[stands], outcome[stands] = place, there.outcome[stands]
        if there.given.shape[1]:
            given[stands] = np.asarray(there.given.any(axis=1))[stands]
    replayed.answer[row, columns], replayed.answer_outcome[row, columns] = whose, outcome
    replayed.answer_from_expected[row, columns] = given


_FLAGS = ("path_known", "all_judged", "context_known", "given_any", "given_all", "found_any", "answer_from_expected")
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
    groups: dict[Evidence, list[int]] = {}
    for place, config in enumerate(configs):
        groups.setdefault(evidence.judged_by(config.models.grader), []).append(place)
    if len(groups) < 2:
        return _evaluated(next(iter(groups), evidence), configs, cutoff)
    parts = [_evaluated(own, [configs[place] for place in places], cutoff) for own, places in groups.items()]
    return side_by_side(parts).only(np.argsort([place for places in groups.values() for place in places]).tolist())


def _evaluated(evidence: Evidence, configs: Sequence[RunConfig], cutoff: int) -> Evaluation:
    """The figures of configs that all have the grader of this evidence, or an unknown one."""
    replayed = replay_all(evidence, configs)
    reached = np.where(replayed.path_known, replayed.round, -1)
    measures = _Measures(evidence, configs, replayed, kept_under(evidence, configs, reached, cutoff))
    return Evaluation(
        configs=tuple(configs),
        case_ids=tuple(item.case.id for item in evidence.gathered),
        failed=evidence.failed,
        cutoff=cutoff,
        outcomes=replayed.outcome,
        notes=measures.notes,
        path_known=replayed.path_known,
        measures=measures.all(),
        right_by=measures.right_by,
        by_file=sum(case.by_file for case in evidence.cases),
    )


class _Population:
    """Population of a measure; columns [N, 1], or [F, 1] for questions without a usable run."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.all = _column((True for _ in cases), bool)
        self.labelled = _column((bool(case.expected) for case in cases), bool)
        self.answerable = _column((case.answerable is True for case in cases), bool)
        self.unanswerable = _column((case.answerable is False for case in cases), bool)
        self.gold = _column((bool(case.gold_answers) for case in cases), bool)
        self.judgeable = _column((basis_of(case) is not None for case in cases), bool)
        """Something tells whether the question ended right."""
        self.by_file = _column((case.by_file for case in cases), bool)

    @property
    def exact(self) -> BoolArray:
        """Labels name the passages that are right, and not whole files."""
        return np.asarray(self.labelled & ~self.by_file, np.bool_)

    @property
    def graded(self) -> BoolArray:
        """It is known which passages are to pass, of a file at least that one is."""
        return np.asarray(self.labelled | self.unanswerable, np.bool_)

    @property
    def graded_exactly(self) -> BoolArray:
        """The same of each passage."""
        return np.asarray(self.exact | self.unanswerable, np.bool_)


Part = Literal[
    "all", "labelled", "answerable", "unanswerable", "gold", "judgeable", "exact", "graded", "graded_exactly"
]


class _Measures:
    """Sums and weights of every measure; each method is one family of them."""

    def __init__(self, evidence: Evidence, configs: Sequence[RunConfig], replayed: Outcomes, kept: Kept) -> None:
        cases = evidence.cases
        self.evidence = evidence
        self.configs = configs
        self.replayed = replayed
        self.same_grader = _same_grader(evidence, configs)
        self.kept = kept
        self.limits = limits_of(evidence, configs)
        self.repeatable = repeatable(evidence, configs)
        """A step that was taken, or left out, would be so in any run under the setting."""
        self.judged_whole = self.repeatable & replayed.all_judged & kept.seen_whole
        """No other passage would be judged than what is recorded."""
        self.fetched_whole = fetched_whole(evidence, configs)
        self.kept_most = np.array([config.top_k for config in configs]) * self.limits.rounds
        screened = [judged_a_round(config) * cascades(config) for config in configs]
        self.screened_most = np.array(screened) * self.limits.rounds
        """Passages that all rounds of a run can keep [S]."""
        self.of, self.of_lost = _Population(cases), _Population(evidence.lost)
        self.labelled, self.answerable, self.unanswerable = (
            self.of.labelled,
            self.of.answerable,
            self.of.unanswerable,
        )
        self.ended = replayed.outcome >= 0
        self.counted = replayed.path_known & (replayed.outcome != OUTCOMES.index("failed"))
        self.answered = np.isin(replayed.outcome, _ANSWERED)
        self.refused = replayed.outcome == _ABSTAINED
        self.read = (replayed.answer >= 0) & np.isin(replayed.answer_outcome, [*_ANSWERED, _ABSTAINED])
        """An answer, or a refusal, is recorded."""
        self.said = self._by_checks(lambda run, config: NOTES.index(run.note(config)))
        """Index into ``figures.NOTES`` of what is to be said of the answer that stands."""
        self.right_by = self._right_by()

    @property
    def notes(self) -> IntArray:
        """Index into ``figures.NOTES``, where the path ends in an answer."""
        found: IntArray = np.where((self.replayed.answer >= 0) & self.answered, self.said, 0).astype(np.int64)
        return found

    def all(self) -> Mapping[Measure, Measured]:
        return {
            **self._answers(),
            **self._checks(),
            **self._citations(),
            **self._quality(),
            **self._retrieval(),
            **self._costs(),
            **self._rewrites(),
            **self._grader(),
        }

    # -- what is not known ----------------------------------------------------------------------------------------

    def _mean(self, values: NDArray[np.generic], tells: BoolArray, part: Part) -> Measured:
        """A mean of values from 0 to 1 over a part of the questions, from those that are known."""
        return self._partial(values, tells, getattr(self.of, part) & ~tells, part)

    def _partial(self, values: NDArray[np.generic], tells: BoolArray, open_: BoolArray, part: Part) -> Measured:
        """The same, where not every question of the part counts: those of ``open_`` may."""
        total = np.where(tells, values, 0).astype(np.float64)
        return Measured(total, tells.astype(np.float64), open_, lost=self._lost(part, np.ones(tells.shape[1])))

    def _weighed(
        self, total: FloatArray, weight: FloatArray, open_: BoolArray, most: FloatArray, part: Part
    ) -> Measured:
        """A ratio of counts, to whose weight every unknown question adds up to ``most`` [S]."""
        added = np.where(open_, most, 0.0)
        return Measured(total, weight, added, lost=self._lost(part, most))

    def _cost(
        self, values: NDArray[np.generic], tells: BoolArray, most: FloatArray, least: NDArray[np.generic] | None = None
    ) -> Measured:
        """A mean over all questions: an unknown one adds ``least``, or what is known so far, and at most ``most``."""
        known = np.nan_to_num(values.astype(np.float64))
        surely = known if least is None else np.nan_to_num(least.astype(np.float64))
        return Measured(
            np.where(tells, known, 0.0),
            tells.astype(np.float64),
            ~tells,
            np.where(tells, 0.0, surely),
            np.where(tells, 0.0, np.maximum(most, known)),
            # Of a question without a run, no time is known either.
            self._lost("all", np.ones(tells.shape[1]), most if most.ndim == 1 else np.full(tells.shape[1], np.inf)),
        )

    def _lost(self, part: Part, weight: FloatArray, most: FloatArray | None = None) -> Lost | None:
        n = int(getattr(self.of_lost, part).sum())
        return Lost(n, n * weight, n * (weight if most is None else most)) if n else None

    # -- the measures -----------------------------------------------------------------------------------------------

    def _right_by(self) -> RightBy:
        replayed, cases = self.replayed, self.evidence.cases
        refused = np.where(replayed.answer >= 0, replayed.answer_outcome == _ABSTAINED, self.refused)
        given = self.read & ~refused & (self.said != NOTES.index("cannot_tell"))
        judged = given & (self._by_answer(lambda run: run.judged is not None) > 0)
        codes = (_column((_code(basis_of(case, judged=said)) for case in cases), int) for said in (True, False))
        basis = np.where(judged, *codes)
        return RightBy(
            basis=basis,
            recorded=self.read | (self.counted & self.refused),
            given=given,
            otherwise=self.of.judgeable & np.ones_like(given),
            at_random=judged & (self._by_answer(lambda run: run.judged is not None and run.judged.at_random) > 0),
            first=_column(firsts(cases), bool) & np.ones_like(given),
            learnt=self._learnt(),
        )

    def _learnt(self) -> BoolArray:
        """[N, S]; looked up once a grader, and a screener."""
        judges = [_judges(config) for config in self.configs]
        by_model = {model: np.array(self.evidence.learnt(model), np.bool_) for models in judges for model in models}
        found = [np.logical_or.reduce([by_model[model] for model in models]) for models in judges]
        return np.array(found, np.bool_).reshape(len(judges), -1).T

    def _answers(self) -> dict[Measure, Measured]:
        by, given = self.right_by, self.right_by.given
        gold = self.of.gold
        exact, f1, contained = (self._by_answer(_figure("match", name)) for name in ("exact", "f1", "contained"))
        judged_right = self._by_answer(lambda run: run.judged is not None and run.judged.right) > 0
        supported = self.said != NOTES.index("unsupported")
        ways: dict[Basis, BoolArray] = {
            "gold": (contained > 0) & supported,
            "judgement": judged_right,
            "passage": self.replayed.answer_from_expected & supported,
            "refusal": np.zeros_like(given),
        }
        says_right = np.select([by.basis == BASES.index(basis) for basis in ways], list(ways.values()), default=False)
        right = np.where(given, says_right, self.unanswerable)
        # Of an answer that could not be checked it is not known whether it is wrong for want of support.
        unsure = given & right & (self.said == NOTES.index("unchecked")) & (by.basis != BASES.index("judgement"))
        ended, tells = by.recorded, by.tells & ~unsure
        # Who judged an answer of a question wants to know whether it ends right, under every setting.
        judgeable = self.of.judgeable | self._any_run(lambda run: run.judged is not None)
        unjudged = judgeable & (~ended | (given & ~tells))
        return {
            "answered_right": self._partial(right, tells, judgeable & ~tells, "judgeable"),
            "wrong_given": self._partial(~right, tells & given, unjudged, "judgeable"),
            "exact_match": self._mean(given * exact, ended & gold, "gold"),
            "f1": self._mean(given * f1, ended & gold, "gold"),
            "containment": self._mean(given * contained, ended & gold, "gold"),
        }

    def _checks(self) -> dict[Measure, Measured]:
        """Support of the answers given, and of their sentences; what was not checked may be either."""
        given = self.right_by.given
        known = given & (self.said != NOTES.index("unchecked"))
        open_, endless = ~self.right_by.recorded, np.full(given.shape[1], np.inf)
        yes, no, unknown = (
            np.where(given, self._by_checks(lambda run, config, at=at: run.sentences(config)[at]), 0.0)  # type: ignore[misc]
            for at in range(3)
        )
        # An answer is known or unknown as a whole; what was checked of one bounds it.
        whole = unknown == 0
        return {
            "unsupported_given": self._partial(
                self.said == NOTES.index("unsupported"), known, open_ | (given & ~known), "all"
            ),
            "supported_sentences": Measured(
                np.where(whole, yes, 0.0),
                np.where(whole, yes + no, 0.0),
                np.where(open_, np.inf, np.where(whole, 0.0, yes + no + unknown)),
                np.where(whole, 0.0, yes),
                np.where(open_, np.inf, np.where(whole, 0.0, yes + unknown)),
                self._lost("all", endless),
            ),
        }

    def _any_run(self, holds: Callable[[RunFacts], bool]) -> BoolArray:
        """[N, 1]: it holds of any run of the question."""
        return _column((any(map(holds, (item.own, *item.others))) for item in self.evidence.gathered), bool)

    def _citations(self) -> dict[Measure, Measured]:
        tells = self.read & (self.replayed.answer_outcome != _ABSTAINED)
        pairs, held, claims, borne_out = (
            np.where(tells, self._by_answer(_figure("cited", name)), 0.0)
            for name in ("pairs", "held", "claims", "borne_out")
        )
        # The length and citations of an unread answer are not bounded.
        unread, endless = ~self.right_by.recorded, np.full(tells.shape[1], np.inf)
        return {
            "citation_precision": self._weighed(held, pairs, unread, endless, "all"),
            "citation_recall": self._weighed(borne_out, claims, unread, endless, "all"),
            "claim_recall": self._judged("claim_recall", tells, "gold"),
            "faithfulness": self._judged("faithfulness", tells, "all"),
        }

    def _judged(self, name: Literal["claim_recall", "faithfulness"], tells: BoolArray, part: Part) -> Measured:
        """Return the verdicts of the answer judge; if there is one, answers without a readable verdict are unknown."""
        values = self._by_answer(lambda run: np.nan if getattr(run, name) is None else getattr(run, name))
        known = tells & ~np.isnan(values)
        if not self._any_run(lambda run: run.verdict is not None).any():
            return Measured(np.zeros(tells.shape), np.zeros(tells.shape))
        unjudged = tells & ~(self._by_answer(lambda run: run.verdict is not None) > 0)
        open_ = getattr(self.of, part) & (~self.right_by.recorded | unjudged)
        return self._partial(np.nan_to_num(values), known, open_, part)

    def _by_answer(self, figure: Callable[[RunFacts], float]) -> FloatArray:
        """A figure of the answer that stands, [N, S]; that of the question's own run where none does."""
        runs = [(item.own, *item.others) for item in self.evidence.gathered]
        values = np.zeros((len(runs), max(map(len, runs), default=1)))
        for row, answers in enumerate(runs):
            values[row, : len(answers)] = [figure(item) for item in answers]
        return np.take_along_axis(values, np.maximum(self.replayed.answer, 0), axis=1)

    def _by_checks(self, figure: Callable[[RunFacts, RunConfig], float]) -> FloatArray:
        """The same of a figure that depends on how checks are read."""
        read = [(config.models.verifier, config.min_support) for config in self.configs]
        columns = {
            key: self._by_answer(lambda run, config=config: figure(run, config))  # type: ignore[misc]
            for key, config in dict(zip(read, self.configs, strict=True)).items()
        }
        return np.stack([columns[key][:, place] for place, key in enumerate(read)], axis=1)

    def _quality(self) -> dict[Measure, Measured]:
        replayed, ended = self.replayed, self.counted & self.ended
        # Without expectations, nothing tells a right answer from a wrong one: any answer counts.
        should_hit = self.labelled & ~self.unanswerable
        good = np.where(self.unanswerable, self.refused, self.answered & (~should_hit | replayed.given_any))
        # What was refused had no context, so that an unknown context makes only an answer unknown.
        tells = ended & (~should_hit | ~self.answered | replayed.context_known)
        in_context = self.counted & self.labelled & replayed.context_known
        return {
            "quality": self._mean(good, tells, "all"),
            "context_hit": self._mean(replayed.given_any, in_context, "labelled"),
            "context_hit_all": self._mean(replayed.given_all, in_context, "labelled"),
            "refused_unanswerable": self._mean(self.refused, ended & self.unanswerable, "unanswerable"),
            "answered_answerable": self._mean(self.answered, ended & self.answerable, "answerable"),
            "refused_answerable": self._mean(self.refused, ended & self.answerable, "answerable"),
        }

    def _retrieval(self) -> dict[Measure, Measured]:
        tells = self.counted & self.labelled & self.kept.seen_whole
        return {
            "recall": self._mean(self.kept.recall, tells, "labelled"),
            "rr": self._mean(self.kept.rr, tells, "labelled"),
            "ndcg": self._mean(self.kept.ndcg, tells, "labelled"),
        }

    def _costs(self) -> dict[Measure, Measured]:
        replayed, most = self.replayed, self.limits
        passed = ratio(replayed.passed, replayed.kept, otherwise=0.0)
        # An outcome that is not known may be a refusal, which no one writes.
        counts = self.counted & self.ended & self.repeatable & self.kept.seen_whole & self.fetched_whole
        # How many sentences of an answer a model would check is known where the run's own checked its own answer.
        checked = counts & (~self.answered | _checked_in_run(self.evidence, self.configs, replayed.answer == 0))
        written = self.counted & ~self.ended
        calls, built_in = (
            np.where(self.repeatable, np.maximum(made - written, 0), 0)
            for made in (replayed.calls, replayed.built_in_calls)
        )
        seconds = np.where(self.repeatable & ~written, replayed.seconds, 0.0)
        timed, steps = checked & ~np.isnan(replayed.seconds), replayed.calls + replayed.built_in_calls - replayed.checks
        least = np.maximum(calls + built_in - replayed.checks, 0)
        return {
            "pass_rate": self._mean(passed, self.counted & replayed.all_judged, "all"),
            "rewrites": self._cost(np.maximum(replayed.round, 0), self.counted, most.rounds - 1),
            "calls": self._cost(replayed.calls, checked, most.calls, calls),
            "built_in_calls": self._cost(replayed.built_in_calls, checked, most.built_in_calls, built_in),
            "steps": self._cost(steps, counts, most.calls + most.built_in_calls, least),
            "seconds": self._cost(replayed.seconds, timed, most.seconds, seconds),
            "left_to_grader": self._left_to_grader(),
        }

    def _left_to_grader(self) -> Measured:
        tells, replayed = self.counted & self.judged_whole, self.replayed
        left, screened = (np.where(tells, made, 0).astype(np.float64) for made in (replayed.left, replayed.screened))
        return self._weighed(left, screened, ~tells, self.screened_most, "all")

    def _rewrites(self) -> dict[Measure, Measured]:
        exact = self.of.exact
        labelled = self.counted & exact
        by_the_gate = labelled & (self.replayed.outcome == OUTCOMES.index("answered"))
        seen = self.replayed.found_any | self.kept.seen_whole
        missed = ~self.replayed.found_any & self.kept.seen_whole
        elsewhere = labelled & self.ended & ~by_the_gate
        return {
            "false_rewrites": self._weighed(
                np.where(labelled, self.kept.false_rewrites, 0.0),
                np.where(labelled, self.replayed.round, 0).astype(float),
                exact & ~labelled,
                self.limits.rounds - 1,
                "exact",
            ),
            "missed_rewrites": self._partial(
                missed, by_the_gate & seen, exact & ~elsewhere & ~(by_the_gate & seen), "exact"
            ),
        }

    def _grader(self) -> dict[Measure, Measured]:
        # The recorded verdicts say nothing of another grader.
        tells = self.counted & self.same_grader & self.judged_whole
        most = np.where(self.of.by_file, 1.0, self.kept_most)

        def share_of(weight: FloatArray, part: Literal["graded", "graded_exactly"]) -> Measured:
            about = getattr(self.of, part)
            known, open_ = tells & about, about & ~tells
            total, weight = np.where(known, self.kept.right, 0.0), np.where(known, weight, 0.0)
            return Measured(total, weight, np.where(open_, most, 0.0), lost=self._lost(part, self.kept_most))

        precision = share_of(self.kept.passed, "graded_exactly")
        populations = (self.of, self.of_lost)
        if any(of.by_file.any() for of in populations) and not any(of.exact.any() for of in populations):
            # Unanswerable questions alone say nothing of what is to pass.
            precision = Measured(np.zeros(tells.shape), np.zeros(tells.shape))
        return {"grader_precision": precision, "grader_recall": share_of(self.kept.expected, "graded")}


def _judges(config: RunConfig) -> tuple[RoleModel, ...]:
    """The models that judge passages."""
    return (config.models.grader, config.models.screener) if cascades(config) else (config.models.grader,)


def _same_grader(evidence: Evidence, configs: Sequence[RunConfig]) -> BoolArray:
    """[N, S]: the config judges as the verdicts were made that are recorded."""
    numbers: dict[object, int] = {}
    recorded = [numbers.setdefault(judging(item.table.config), len(numbers)) for item in evidence.gathered]
    wanted = [numbers.setdefault(judging(config), len(numbers)) for config in configs]
    return np.equal(np.array(recorded, dtype=np.int64).reshape(-1, 1), np.array(wanted, dtype=np.int64))


def _checked_in_run(evidence: Evidence, configs: Sequence[RunConfig], own: BoolArray) -> BoolArray:
    """[N, S]: no model checks the answer, or the run's verifier did, where the run's ``own`` answer stands."""
    recorded = [item.table.config.models.verifier for item in evidence.gathered]
    wanted = [config.models.verifier for config in configs]
    same = {model: np.array([model == run for run in recorded], np.bool_) for model in set(wanted)}
    columns = [np.full(len(own), model.built_in) | (same[model] & own[:, at]) for at, model in enumerate(wanted)]
    return np.stack(columns, axis=1)


def _code(basis: Basis | None) -> int:
    return -1 if basis is None else BASES.index(basis)


def _figure(part: Literal["match", "cited"], name: str) -> Callable[[RunFacts], float]:
    """Read a figure off an answer; 0 where it has none."""
    return lambda run: getattr(getattr(run, part), name, 0.0)


def _column(values: Iterable[float], kind: type = float) -> NDArray[Any]:
    """One value a question as a column [N, 1], to combine with arrays [N, S]."""
    return np.fromiter(values, dtype=kind).reshape(-1, 1)
