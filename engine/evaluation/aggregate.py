"""The figures of a gathered query set under any settings: decisions by what-if, then arrays over all questions at once.

A path that is not known is in no figure, and neither is a question that fails under the setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.cases import Case
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import ANSWERED, OUTCOMES, Evaluation, Measure, Measured, ratio
from engine.evaluation.kept import Kept, kept_under
from engine.evaluation.scores import MAX_CUTOFF
from engine.model.config import RoleModel, RunConfig
from engine.replay.grid import paths
from engine.replay.masks import BoolArray, FloatArray, IntArray
from engine.replay.settings import COLUMNS, GAPS, Paths, SettingsGrid

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
            _fill(replayed, row, columns, paths(item.table, grid))
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


_FLAGS = ("path_known", "all_judged", "context_known", "given_any", "given_all", "found_any")
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
    return Evaluation(
        configs=tuple(configs),
        case_ids=tuple(item.case.id for item in evidence.gathered),
        failed=evidence.failed,
        cutoff=cutoff,
        outcomes=replayed.outcome,
        path_known=replayed.path_known,
        measures=_Measures(
            evidence.cases, replayed, kept_under(evidence, configs, reached, cutoff), _same_grader(evidence, configs)
        ).all(),
    )


class _Measures:
    """Sums and weights of every measure; each method is one family of them."""

    def __init__(self, cases: Sequence[Case], replayed: Outcomes, kept: Kept, same_grader: BoolArray) -> None:
        self.replayed = replayed
        self.same_grader = same_grader
        self.kept = kept
        self.labelled = np.array([bool(case.expected) for case in cases], dtype=bool).reshape(-1, 1)
        self.answerable = np.array([case.answerable is True for case in cases], dtype=bool).reshape(-1, 1)
        self.unanswerable = np.array([case.answerable is False for case in cases], dtype=bool).reshape(-1, 1)
        self.ended = replayed.outcome >= 0
        self.counted = replayed.path_known & (replayed.outcome != OUTCOMES.index("failed"))
        self.answered = np.isin(replayed.outcome, [OUTCOMES.index(outcome) for outcome in ANSWERED])
        self.refused = replayed.outcome == OUTCOMES.index("abstained")

    def all(self) -> Mapping[Measure, Measured]:
        return {**self._quality(), **self._retrieval(), **self._costs(), **self._rewrites(), **self._grader()}

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


def _mean(values: NDArray[np.generic], counted: BoolArray) -> Measured:
    return Measured(np.where(counted, values, 0).astype(np.float64), counted.astype(np.float64))
