"""Effect of a settings change on each question of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.evaluation.cases import Case
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import NOTES, OUTCOMES, Evaluation
from engine.evaluation.statistics import PairedTest, mcnemar
from engine.model.values import AnswerNote, Outcome, RunId

ChangeVerdict = Literal["better", "worse", "same", "unknown"]

ChangeReason = Literal[
    "gained_expected",
    "lost_expected",
    "now_answers",
    "now_refuses",
    "now_refuses_unanswerable",
    "now_answers_unanswerable",
    "fewer_calls",
    "more_calls",
    "other_outcome",
    "nothing",
    "unknown_before",
    "unknown_after",
]
"""What decides the verdict; the first that holds. Quality goes before cost, and cost counts only where the path
changed: one grading less on the same path changes nothing."""

_ORDER: tuple[ChangeVerdict, ...] = ("better", "worse", "unknown", "same")
_REFUSED = "abstained"


@dataclass(frozen=True, slots=True)
class Side:
    """One question under one of the two settings."""

    known: bool
    """Whether the path is known; if not, everything else here is empty."""
    outcome: Outcome | None = None
    answer_note: AnswerNote = ""
    """What is to be said of its answer, where one is recorded."""
    round: int | None = None
    """The round that led to the outcome, from 0; as many rewrites came before it."""
    steps: int | None = None
    """Calls of chat models and built-in roles, as if uncached."""
    hit: bool | None = None
    """Whether the generator is given an expected passage; None without expectations, or where that is not known."""
    quality: float | None = None
    """1 or 0; see ``figures.Measure``. None where not known."""

    @property
    def rewrites(self) -> int | None:
        return self.round


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """One question before and after."""

    case_id: str
    question: str
    run_id: RunId
    """Its recorded run."""
    before: Side
    after: Side
    verdict: ChangeVerdict
    reason: ChangeReason

    @property
    def steps_change(self) -> int | None:
        """Steps more (positive) or fewer (negative) than before; None where not known."""
        if self.before.steps is None or self.after.steps is None:
            return None
        return self.after.steps - self.before.steps


@dataclass(frozen=True, slots=True)
class QuestionChanges:
    """Every gathered question; better, worse, unknown, then the rest, each in the order of the set."""

    rows: tuple[QuestionChange, ...]
    test: PairedTest
    """On quality, over the questions known on both sides; the others count against its verdict."""

    @property
    def n(self) -> int:
        return len(self.rows)

    @property
    def better(self) -> int:
        return self._count("better")

    @property
    def worse(self) -> int:
        return self._count("worse")

    @property
    def unknown(self) -> int:
        return self._count("unknown")

    @property
    def changed(self) -> int:
        """The questions that are better or worse; unknown ones are not counted, because they may not change."""
        return self.better + self.worse

    @property
    def shown(self) -> tuple[QuestionChange, ...]:
        """All but those that stay the same."""
        return tuple(row for row in self.rows if row.verdict != "same")

    def _count(self, verdict: ChangeVerdict) -> int:
        return sum(row.verdict == verdict for row in self.rows)


def changes_between(evidence: Evidence, evaluation: Evaluation, before: int, after: int) -> QuestionChanges:
    """Compare every gathered question under two settings that are evaluated, by which of the two serves it better.

    Quality decides (see ``figures.Measure``). Where it is equal, a path with other rewrites or another outcome is
    better where it takes fewer steps. A question is unknown where either side does not tell its quality.
    """
    old, new = (_sides(evaluation, setting) for setting in (before, after))
    rows = [
        _change(item.case, item.run_id, first, second)
        for item, first, second in zip(evidence.gathered, old, new, strict=True)
    ]
    quality = evaluation.measures["quality"]
    return QuestionChanges(
        rows=tuple(sorted(rows, key=lambda row: _ORDER.index(row.verdict))),
        test=mcnemar(quality.of(before), quality.of(after), evaluation.unknown_between("quality", before, after)),
    )


def _sides(evaluation: Evaluation, setting: int) -> list[Side]:
    columns = {name: evaluation.measures[name].of(setting) for name in ("quality", "context_hit", "rewrites", "steps")}
    return [
        _side(
            bool(evaluation.path_known[row, setting]),
            (int(evaluation.outcomes[row, setting]), int(evaluation.notes[row, setting])),
            {name: None if np.isnan(values[row]) else float(values[row]) for name, values in columns.items()},
        )
        for row in range(len(evaluation.case_ids))
    ]


def _side(known: bool, end: tuple[int, int], values: dict[str, float | None]) -> Side:
    if not known:
        return Side(known=False)
    outcome, note = end
    rewrites, steps, hit = values["rewrites"], values["steps"], values["context_hit"]
    return Side(
        known=True,
        outcome=OUTCOMES[outcome] if outcome >= 0 else None,
        answer_note=NOTES[note],
        round=None if rewrites is None else int(rewrites),
        steps=None if steps is None else int(steps),
        hit=None if hit is None else bool(hit),
        quality=values["quality"],
    )


def _change(case: Case, run_id: RunId, before: Side, after: Side) -> QuestionChange:
    verdict, reason = _judged(case, before, after)
    return QuestionChange(case.id, case.question, run_id, before, after, verdict, reason)


def _judged(case: Case, before: Side, after: Side) -> tuple[ChangeVerdict, ChangeReason]:
    if before.quality is None:
        return "unknown", "unknown_before"
    if after.quality is None:
        return "unknown", "unknown_after"
    if after.quality > before.quality:
        return "better", _gain(case, before, after)
    if after.quality < before.quality:
        return "worse", _loss(case, after)
    if before.outcome == after.outcome and before.round == after.round and before.hit == after.hit:
        return "same", "nothing"
    fewer = (after.steps or 0) - (before.steps or 0)
    if before.round != after.round or before.outcome != after.outcome:
        if fewer < 0:
            return "better", "fewer_calls"
        if fewer > 0:
            return "worse", "more_calls"
    return "same", "other_outcome"


def _gain(case: Case, before: Side, after: Side) -> ChangeReason:
    if case.answerable is False:
        return "now_refuses_unanswerable"
    return "gained_expected" if after.hit and not before.hit else "now_answers"


def _loss(case: Case, after: Side) -> ChangeReason:
    if case.answerable is False:
        return "now_answers_unanswerable"
    return "now_refuses" if after.outcome == _REFUSED else "lost_expected"
