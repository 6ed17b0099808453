"""Measures by name, and the bars that an evaluation from the command line has to clear."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from engine.errors import EvaluationError, InvalidConfig
from engine.evaluation.cases import Case
from engine.evaluation.figures import ANSWERED, Figure
from engine.evaluation.matching import met_by
from engine.evaluation.measures import MEASURES
from engine.model.values import RunRecord

if TYPE_CHECKING:
    from engine.evaluation.statistics import Interval
    from engine.evaluation.values import AnswerJudgement

OF_EVALUATION = {row.command or name: name for name, row in MEASURES.items() if row.command is not None}
_OF_RUNS = ("answered", "context_recall", "calls", "built_in_calls", "seconds")
"""Read off the runs as they were, retried calls and waiting included, where an evaluation prices the path."""
_RANKED = frozenset(row.command or name for name, row in MEASURES.items() if row.ranked)
_COUNTS = frozenset(name for name, row in MEASURES.items() if row.kind == "cost")
DEEPEST = 20
_USUAL_CUTOFF = 5
MEASURE_NAMES: tuple[str, ...] = (*_OF_RUNS, *OF_EVALUATION, "failed")
USUAL: tuple[str, ...] = (
    *("answered_right", "wrong_given", "quality"),
    *("answered", "answered_answerable", "abstained_on_unanswerable"),
    *("recall@5", "mrr", "ndcg@5", "context_recall", "pass_rate", "rewrites", "calls", "seconds", "failed"),
)
"""What a table shows where no other measure is asked for."""
JUDGED = tuple(name for name, row in MEASURES.items() if row.judged)
"""What the judge of answers has to be asked for."""


@dataclass(frozen=True, slots=True)
class MeasureName:
    """A measure as it is written on a command line, e.g. ``recall@5``."""

    name: str
    cutoff: int | None = None
    """Places of the last round's ranking that count; None for a measure that is not of a ranking."""

    def __str__(self) -> str:
        whole = self.name == "mrr" and self.cutoff == DEEPEST
        return self.name if self.cutoff is None or whole else f"{self.name}@{self.cutoff}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bound that a measure must keep to."""

    measure: MeasureName
    relation: Literal[">=", "<="]
    bound: float

    def cleared_by(self, value: float | None) -> bool:
        """Return whether a value keeps to it; what could not be measured does not."""
        if value is None:
            return False
        # Rounded: a mean of tenths must not miss its bar by the last bit of a float.
        gap = round(value - self.bound, 9)
        return gap >= 0 if self.relation == ">=" else gap <= 0

    def __str__(self) -> str:
        return f"{self.measure} {self.relation} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Value:
    """One measured figure."""

    measure: MeasureName
    figure: Figure
    interval: Interval | None = None
    """Sampling error of the value; None while a question is unknown."""

    @property
    def value(self) -> float | None:
        return self.figure.value

    def end_for(self, bar: Bar) -> float | None:
        """Return the end that a required value judges: the lower for a minimum, the upper for a maximum."""
        return self.figure.lower if bar.relation == ">=" else self.figure.upper

    def clears(self, bar: Bar) -> bool:
        return bar.cleared_by(self.end_for(bar))

    def only_unknown_misses(self, bar: Bar) -> bool:
        """Return whether a bar is missed although it would be cleared, did every unknown question end well."""
        figure = self.figure
        best = figure.upper if bar.relation == ">=" else figure.lower
        # Where nothing limits the upper end, every bar might be cleared.
        reachable = bar.cleared_by(best) or (figure.unknown_n > 0 and figure.lower is not None and best is None)
        return figure.unknown_n > 0 and not self.clears(bar) and reachable


def measure_of(written: str) -> MeasureName:
    """``recall@5`` as a measure; hyphens do for underscores. Raises ``EvaluationError.unknown_measure``."""
    name, at, places = written.strip().lower().replace("-", "_").partition("@")
    cutoff = int(places) if places.isdecimal() and len(places) <= len(str(DEEPEST)) else 0
    if name not in MEASURE_NAMES or (at and (name not in _RANKED or not 1 <= cutoff <= DEEPEST)):
        known = ", ".join(f"{item}@K" if item in _RANKED else item for item in MEASURE_NAMES)
        raise EvaluationError.unknown_measure(measure=written, known=f"{known} (K from 1 to {DEEPEST})")
    if name not in _RANKED:
        return MeasureName(name)
    # Without a cut-off the reciprocal rank is that of the whole ranking.
    return MeasureName(name, cutoff or (DEEPEST if name == "mrr" else _USUAL_CUTOFF))


def bar_of(written: str, relation: Literal[">=", "<="]) -> Bar:
    """``recall@5=0.95`` as a bar; raises ``EvaluationError``, or ``InvalidConfig`` where no number follows."""
    name, _, number = written.partition("=")
    measure = measure_of(name)
    try:
        bound = float(number)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise InvalidConfig.bar_without_number(bar=written)
    return Bar(measure, relation, bound)


def values_of(
    measures: Sequence[MeasureName],
    cases: Sequence[Case],
    records: Mapping[str, RunRecord],
    said: Sequence[AnswerJudgement] = (),
    judge: str = "",
) -> dict[MeasureName, Value]:
    """Figures of cases that were run under one config, by case id; runs that failed are unknown in all but ``failed``.

    ``said`` is what people and models said of the answers; of the models only ``judge`` counts.
    """
    from engine.evaluation.aggregate import evaluate
    from engine.evaluation.evidence import gather
    from engine.evaluation.judgements import judged_answers, verdicts_of

    evidence = gather(cases, records, (), judged_answers(said), verdicts_of(said, judge))
    usable = [(case, records[case.id]) for case in evidence.cases]
    configs = [usable[0][1].config] if usable else []
    evaluations = {
        cutoff: evaluate(evidence, configs, cutoff=cutoff)
        for cutoff in sorted({item.cutoff or _USUAL_CUTOFF for item in measures})
        if usable
    }
    found: dict[MeasureName, Value] = {}
    for item in measures:
        if item.name == "failed":
            failed, n = float(len(evidence.failed)), len(cases)
            found[item] = Value(item, Figure(failed, failed, failed, n, n))
        elif item.name in _OF_RUNS:
            lost = sum(bool(case.expected) or item.name != "context_recall" for case in evidence.lost)
            found[item] = _mean(item, _figures(item.name, usable), lost)
        elif not usable:
            found[item] = Value(item, Figure(None, None, None, 0, len(cases)))
        else:
            evaluation = evaluations[item.cutoff or _USUAL_CUTOFF]
            measure = OF_EVALUATION[item.name]
            found[item] = Value(item, evaluation.figure(measure), _usable(item, evaluation.interval(measure)))
    return found


def answered_right_by(
    cases: Sequence[Case], records: Mapping[str, RunRecord], said: Sequence[AnswerJudgement] = ()
) -> dict[str, int]:
    """The basis of ``answered_right``, and the number of questions; ``nothing`` counts those without any label."""
    from engine.evaluation.aggregate import evaluate
    from engine.evaluation.answers import BASES
    from engine.evaluation.evidence import gather
    from engine.evaluation.judgements import judged_answers

    evidence = gather(cases, records, (), judged_answers(said))
    if not len(evidence):
        return {}
    by = evaluate(evidence, [records[evidence.cases[0].id].config]).right_by
    codes = by.basis[by.recorded]
    counts = {str(basis): int((codes == place).sum()) for place, basis in enumerate(BASES)}
    counts["nothing"] = int((codes < 0).sum())
    return {name: count for name, count in counts.items() if count}


def _figures(name: str, usable: Sequence[tuple[Case, RunRecord]]) -> list[float]:
    """One figure a question that can tell."""
    if name == "context_recall":
        return [_context_recall(case, record) for case, record in usable if case.expected]
    of_run: Callable[[RunRecord], float] = {
        "answered": lambda record: float(record.outcome in ANSWERED),
        "calls": lambda record: float(record.calls),
        "built_in_calls": lambda record: float(record.built_in_calls),
        "seconds": lambda record: record.duration_ms / 1000,
    }[name]
    return [of_run(record) for _, record in usable]


def _context_recall(case: Case, record: RunRecord) -> float:
    """Share of what is expected that the generator was given."""
    given = record.context.passages if record.context else ()
    return len({place for passage in given for place in met_by(case, passage)}) / len(case.expected)


def _mean(measure: MeasureName, figures: list[float], lost: int) -> Value:
    """The mean of what the runs say; ``lost`` are questions without a usable run."""
    from engine.evaluation.statistics import interval

    n = len(figures) + lost
    if not n:
        return Value(measure, Figure(None, None, None, 0, 0))
    total = sum(figures)
    most = None if lost and measure.name in _COUNTS else (total + lost) / n
    value = None if lost else total / n
    sampled = None if lost else _usable(measure, interval(np.array(figures, dtype=np.float64)))
    return Value(measure, Figure(value, total / n, most, len(figures), n), sampled)


def _usable(measure: MeasureName, found: Interval | None) -> Interval | None:
    # Wilson's interval is one of shares; that every run made no call says nothing about a share of runs.
    return None if found and found.method == "wilson" and measure.name in _COUNTS else found
