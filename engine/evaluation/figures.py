"""What an evaluation says: figures of a batch for every setting of a grid, and how many questions each is based on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from engine.evaluation.statistics import Interval, PairedTest, interval, paired_means
from engine.model.values import Outcome
from engine.replay.masks import FloatArray, IntArray

if TYPE_CHECKING:
    from engine.model.config import RunConfig


Measure = Literal[
    "answered_right",
    "wrong_given",
    "exact_match",
    "f1",
    "containment",
    "citation_precision",
    "citation_recall",
    "claim_recall",
    "faithfulness",
    "quality",
    "context_hit",
    "context_hit_all",
    "recall",
    "rr",
    "ndcg",
    "pass_rate",
    "rewrites",
    "calls",
    "built_in_calls",
    "steps",
    "seconds",
    "false_rewrites",
    "missed_rewrites",
    "grader_precision",
    "grader_recall",
    "refused_unanswerable",
    "answered_answerable",
    "refused_answerable",
]
"""Each over the questions whose path is known and that can tell; all but costs and rewrites lie in [0, 1].

An answer is read where the run has it under the setting: never where it would have to be generated. One that says
that the sources do not answer the question counts as refused in the first five.
``answered_right``: by what the question has. Gold answers: the answer contains one (:func:`answers.match_of`).
Else what people said of exactly this answer (:func:`judgements.judged_answers`). Else expectations: as ``quality``.
Unanswerable: refused. Without any of these the question does not tell. What models say is never taken for it.
``wrong_given``: of the answers given, the share that are not right by the same rule.
``exact_match``, ``f1``, ``containment``: against the gold answers; a refused question counts 0.
``citation_precision``: of all pairs of a sentence and a passage that it cites, the share whose passage bears the
sentence out, by words and figures. ``citation_recall``: of all sentences that say something, the share that a passage
cited by them bears out. Pairs in two languages are left out (:func:`answers.cited_of`).
``claim_recall``, ``faithfulness``: of the answers that the judge of answers, a chat model, has judged readably: the
share of a gold answer's claims that the answer makes, and of the answer's claims that the passages given bear out.
``quality``: answerable: answered and an expected passage in the generator's context (any one of them; without
expectations: answered); unanswerable: refused; not known which: answered. It does not read the answer.
``context_hit``, ``context_hit_all``: any, or every, expectation met by what the generator is given (its token budget
aside); questions with expectations.
``recall``, ``rr``, ``ndcg``: of the passages that the last round kept, at the evaluation's cut-off.
``pass_rate``: passed / kept in the last round; 0 where nothing was kept.
``calls``: of chat models as if uncached; ``built_in_calls``: of built-in roles; ``steps``: both together.
``seconds``: by the run's own measured times, where it measured every step of the path.
``false_rewrites``: share of the rewrites that were made although the round had kept an expected passage.
``missed_rewrites``: share of the questions answered because the gate was met, in a round that kept no expected one.
``grader_precision``, ``grader_recall``: of the kept, judged passages over all rounds of the path, against the
expectations: what passed and is expected, over what passed, and over what is expected. Passages that no one labelled
count as not expected. Of questions with expectations, and of unanswerable ones, where nothing is expected; only with
the grader whose verdicts are recorded.
``refused_unanswerable``: share of the unanswerable questions that were refused. ``answered_answerable``: share of the
answerable ones that were answered, rightly or not; ``refused_answerable``: that were refused.
"""

MEASURES: tuple[Measure, ...] = get_args(Measure)
LOWER_IS_BETTER: frozenset[Measure] = frozenset(
    {
        "wrong_given",
        "refused_answerable",
        "rewrites",
        "calls",
        "built_in_calls",
        "steps",
        "seconds",
        "false_rewrites",
        "missed_rewrites",
    }
)
BOUNDED: frozenset[Measure] = frozenset(
    {
        "answered_right",
        "wrong_given",
        "exact_match",
        "f1",
        "containment",
        "claim_recall",
        "faithfulness",
        "quality",
        "context_hit",
        "context_hit_all",
        "recall",
        "rr",
        "ndcg",
        "pass_rate",
        "missed_rewrites",
        "refused_unanswerable",
        "answered_answerable",
        "refused_answerable",
    }
)
"""Means over questions of values from 0 to 1."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
ANSWERED: frozenset[Outcome] = frozenset({"answered", "answered_forced", "answered_unverified", "fallback"})


def ratio(total: NDArray[Any], weight: NDArray[Any], otherwise: float = np.nan) -> FloatArray:
    """``total`` over ``weight``, ``otherwise`` where that is 0."""
    return np.asarray(np.divide(total, weight, out=np.full(np.shape(weight), otherwise), where=weight > 0))


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure by question and setting, as the sum and the weight that it contributes to a ratio; both [N, S].

    A mean has weights 0 and 1; a share of rewrites has as many as the question was rewritten.
    """

    total: FloatArray
    weight: FloatArray
    """0 where the question cannot tell."""

    @property
    def value(self) -> FloatArray:
        """The ratio of sums by setting [S]; NaN where no question can tell."""
        return ratio(self.total.sum(axis=0), self.weight.sum(axis=0))

    @property
    def n(self) -> IntArray:
        """Questions that can tell, by setting [S]."""
        counted: IntArray = np.count_nonzero(self.weight, axis=0)
        return counted

    def of(self, setting: int) -> FloatArray:
        """Values by question [N] under one setting; NaN where the question cannot tell."""
        return ratio(self.total[:, setting], self.weight[:, setting])

    def quantile(self, share: float) -> FloatArray:
        """The quantile over the questions that can tell, by setting [S]; NaN where none can."""
        values = ratio(self.total, self.weight, otherwise=np.inf)
        values.sort(axis=0)
        n = self.n
        place = np.maximum(n - 1, 0) * share
        low = np.floor(place).astype(np.int64)
        high = np.minimum(low + 1, np.maximum(n - 1, 0))
        columns = np.arange(values.shape[1])
        if not len(values):
            return np.full(values.shape[1], np.nan)
        lower, upper = values[low, columns], values[high, columns]
        with np.errstate(invalid="ignore"):
            return np.where(n > 0, lower + (upper - lower) * (place - low), np.nan)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number for a card or a table."""

    value: float | None
    """None where no question can tell."""
    n: int


@dataclass(frozen=True, slots=True)
class RightBy:
    """By what is told whether N questions ended right under S settings; all [N, S]."""

    basis: IntArray
    """Index into ``answers.BASES``; -1 where nothing could tell."""
    recorded: NDArray[np.bool_]
    """An answer, or a refusal, is recorded."""
    given: NDArray[np.bool_]
    """Of these, answers that do not say that they cannot tell."""
    otherwise: NDArray[np.bool_]
    """The question has something that tells beside what people said of the answer."""
    at_random: NDArray[np.bool_]
    """People judged the answer, and it was drawn for that by chance."""
    first: NDArray[np.bool_]
    """No question before it is the same but for case and white space: such a one tells nothing more."""

    @property
    def tells(self) -> NDArray[np.bool_]:
        """It is known whether the question ended right."""
        return self.recorded & (self.basis >= 0)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Figures of N gathered questions under S settings; what is not known is left out and counted, never guessed."""

    configs: tuple[RunConfig, ...]
    """The settings [S]."""
    case_ids: tuple[str, ...]
    """The gathered questions [N], without the failed ones."""
    failed: tuple[str, ...]
    """Questions without a usable run; in no figure."""
    cutoff: int
    """k of recall, reciprocal rank and nDCG."""
    outcomes: IntArray
    """[N, S]: index into ``OUTCOMES``; -1 where it is not known."""
    path_known: NDArray[np.bool_]
    """[N, S]"""
    measures: Mapping[Measure, Measured]
    right_by: RightBy

    def only(self, settings: Sequence[int]) -> Evaluation:
        """The figures of some of the settings, in the order given."""
        places = list(settings)
        measures = {
            name: Measured(found.total[:, places], found.weight[:, places]) for name, found in self.measures.items()
        }
        by = {item.name: getattr(self.right_by, item.name) for item in fields(self.right_by)}
        return replace(
            self,
            configs=tuple(self.configs[place] for place in places),
            outcomes=self.outcomes[:, places],
            path_known=self.path_known[:, places],
            measures=measures,
            right_by=RightBy(**{name: values[:, places] for name, values in by.items()}),
        )

    @property
    def known_n(self) -> IntArray:
        """Questions whose path is known, by setting [S]."""
        counted: IntArray = self.path_known.sum(axis=0)
        return counted

    @property
    def unknown_n(self) -> IntArray:
        """Questions that would need calls to tell, by setting [S]."""
        return len(self.case_ids) - self.known_n

    def value(self, measure: Measure) -> FloatArray:
        """[S]; NaN where no question can tell."""
        return self.measures[measure].value

    def n(self, measure: Measure) -> IntArray:
        """Questions behind the value, by setting [S]."""
        return self.measures[measure].n

    def figure(self, measure: Measure, setting: int = 0) -> Figure:
        values = self.measures[measure]
        value = float(values.value[setting])
        return Figure(None if np.isnan(value) else value, int(values.n[setting]))

    def interval(self, measure: Measure, setting: int = 0) -> Interval | None:
        """The value with its 95 % interval over questions; None where no question can tell."""
        measured = self.measures[measure]
        return interval(measured.of(setting), weights=measured.weight[:, setting])

    def paired(self, measure: Measure, before: int, after: int) -> PairedTest:
        """The paired test of two settings over the questions that can tell under both."""
        measured = self.measures[measure]
        return paired_means(
            measured.of(before),
            measured.of(after),
            lower_is_better=measure in LOWER_IS_BETTER,
            weights=(measured.weight[:, before], measured.weight[:, after]),
        )

    def quantile(self, measure: Measure, share: float, setting: int = 0) -> float | None:
        """Return a quantile over the questions, e.g. the median (0.5) or the 90th percentile of ``seconds``."""
        value = float(self.measures[measure].quantile(share)[setting])
        return None if np.isnan(value) else value

    def outcome_counts(self, setting: int = 0) -> dict[Outcome | None, int]:
        """How many questions end how, in the order of ``OUTCOMES``; None counts those that are not known."""
        codes = self.outcomes[:, setting]
        counts: dict[Outcome | None, int] = {
            outcome: int(np.sum(codes == code)) for code, outcome in enumerate(OUTCOMES) if np.any(codes == code)
        }
        if np.any(codes < 0):
            counts[None] = int(np.sum(codes < 0))
        return counts

    def pass_rates(self, setting: int = 0) -> FloatArray:
        """Pass rates of the last round of the questions whose path is known, ascending."""
        values = self.measures["pass_rate"].of(setting)
        return np.sort(values[~np.isnan(values)])
