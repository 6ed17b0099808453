"""What a change of settings does to each question of a set."""

from __future__ import annotations

import numpy as np

from engine.evaluation.aggregate import evaluate
from engine.evaluation.cases import Case
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import OUTCOMES, Evaluation
from engine.evaluation.flip_values import Flip, FlipReason, Flips, FlipVerdict, Side
from engine.evaluation.statistics import mcnemar
from engine.model.config import RunConfig
from engine.model.values import RunId

_ORDER: tuple[FlipVerdict, ...] = ("better", "worse", "unknown", "same")
_REFUSED = "abstained"


def flips(evidence: Evidence, before: RunConfig, after: RunConfig) -> Flips:
    """Every gathered question under both settings, and which of the two serves it better.

    Quality decides (see ``figures.Measure``). Where it is equal, a path with other rewrites or another outcome is
    better where it takes fewer steps. A question is unknown where either side does not tell its quality.
    """
    return flips_between(evidence, evaluate(evidence, [before, after]), 0, 1)


def flips_between(evidence: Evidence, evaluation: Evaluation, before: int, after: int) -> Flips:
    """:func:`flips` of two settings that are evaluated already."""
    old, new = (_sides(evaluation, setting) for setting in (before, after))
    rows = [
        _flip(item.case, item.run_id, first, second)
        for item, first, second in zip(evidence.gathered, old, new, strict=True)
    ]
    quality = evaluation.measures["quality"]
    return Flips(
        before=evaluation.configs[before],
        after=evaluation.configs[after],
        rows=tuple(sorted(rows, key=lambda row: _ORDER.index(row.verdict))),
        test=mcnemar(quality.of(before), quality.of(after)),
    )


def _sides(evaluation: Evaluation, setting: int) -> list[Side]:
    columns = {name: evaluation.measures[name].of(setting) for name in ("quality", "context_hit", "rewrites", "steps")}
    return [
        _side(
            bool(evaluation.path_known[row, setting]),
            int(evaluation.outcomes[row, setting]),
            {name: None if np.isnan(values[row]) else float(values[row]) for name, values in columns.items()},
        )
        for row in range(len(evaluation.case_ids))
    ]


def _side(known: bool, outcome: int, values: dict[str, float | None]) -> Side:
    if not known:
        return Side(known=False)
    rewrites, steps, hit = values["rewrites"], values["steps"], values["context_hit"]
    return Side(
        known=True,
        outcome=OUTCOMES[outcome] if outcome >= 0 else None,
        round=None if rewrites is None else int(rewrites),
        steps=None if steps is None else int(steps),
        hit=None if hit is None else bool(hit),
        quality=values["quality"],
    )


def _flip(case: Case, run_id: RunId, before: Side, after: Side) -> Flip:
    verdict, reason = _judged(case, before, after)
    return Flip(case.id, case.question, run_id, before, after, verdict, reason)


def _judged(case: Case, before: Side, after: Side) -> tuple[FlipVerdict, FlipReason]:
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


def _gain(case: Case, before: Side, after: Side) -> FlipReason:
    if case.answerable is False:
        return "now_refuses_unanswerable"
    return "gained_expected" if after.hit and not before.hit else "now_answers"


def _loss(case: Case, after: Side) -> FlipReason:
    if case.answerable is False:
        return "now_answers_unanswerable"
    return "now_refuses" if after.outcome == _REFUSED else "lost_expected"
