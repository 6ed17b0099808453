"""Calibration of graders by the numbers behind their verdicts, on the judgements of a collection.

By inductive Venn-Abers predictors, one for each kind of verdict: scores, log-odds of a token, self-reported P.

Source: Vovk and Petej, *Venn-Abers predictors*, UAI 2014. A new score is put among the judged ones once as relevant and
once as not; isotonic regression gives it a chance each time, p1 and p0, and P = p1 / (1 - p0 + p1). With few judgements
that stays away from 0 and 1, where isotonic regression alone would be sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.evaluation.grader_bench import Pair
from engine.model.grader_fit import FitKind, calibrated, chance_of, raw_of
from engine.model.values import RunRecord
from engine.replay.masks import FloatArray
from engine.replay.rejudged import takes_share, tells_scores

MOST = 600
"""Judged scores that a table is made of; of more, every n-th in their order counts."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A labelled pair with the number behind its verdict (:func:`engine.model.grader_fit.raw_of`)."""

    pair: Pair
    raw: float
    share: bool
    """Whether the score was taken as P(relevant) itself."""


class Calibration:
    """A table from raw scores to P(relevant) (``engine.evaluation.fitting.Method``)."""

    kind: FitKind = "calibration"

    def shipped(self, items: Sequence[Scored]) -> list[float]:
        """As without a calibration."""
        return [chance_of(item.raw, item.pair.kind, share=item.share) for item in items]

    def learn(self, items: Sequence[Scored]) -> dict[str, Any]:
        """A Venn-Abers table; raises ``ValueError`` for verdicts of more than one kind."""
        kinds = {item.pair.kind for item in items}
        if len(kinds) > 1:
            raise ValueError("a calibration is of one kind of verdict")
        table = table_of([item.raw for item in items], [bool(item.pair.label) for item in items])
        # Those of scores were without a name before there were others, and keep their ids.
        return table if kinds <= {"score"} else {**table, "of": kinds.pop()}

    def chances(self, data: Mapping[str, Any], items: Sequence[Scored]) -> list[float]:
        """Look every score up."""
        return [calibrated(data, item.raw) for item in items]


def scored_pairs(graded: Iterable[Pair], records: Mapping[str, RunRecord]) -> list[Scored]:
    """The labelled pairs that can be calibrated; ``records`` go by case id."""
    verdicts = {case: record.first_verdicts(by_hand=False) for case, record in records.items()}
    found: list[Scored] = []
    for pair in graded:
        verdict = verdicts.get(pair.case_id, {}).get(pair.passage_id)
        # What a cascade's screener settled is of another model.
        raw = raw_of(verdict) if verdict is not None and not verdict.by_cut else None
        record = records[pair.case_id]
        if pair.label is not None and raw is not None and tells_scores(record):
            found.append(Scored(pair, raw, takes_share(record)))
    return found


def table_of(scores: Sequence[float], labels: Sequence[bool]) -> dict[str, list[float]]:
    """The table that :func:`engine.model.grader_fit.calibrated` reads; both labels must occur."""
    order = np.argsort(np.asarray(scores, dtype=np.float64), kind="stable")
    if len(order) > MOST:
        order = order[np.linspace(0, len(order) - 1, MOST).round().astype(int)]
    known, place = np.unique(np.asarray(scores, dtype=np.float64)[order], return_inverse=True)
    count: FloatArray = np.bincount(place).astype(float)
    relevant: FloatArray = np.bincount(place, weights=np.asarray(labels, dtype=np.float64)[order]).astype(float)
    chances = [_chance(relevant, count, cell) for cell in range(2 * len(known) + 1)]
    return {"scores": known.tolist(), "chances": [round(value, 9) for value in chances]}


def _chance(relevant: FloatArray, count: FloatArray, cell: int) -> float:
    """P of a score in a cell: cells of odd number are the known scores, those of even number lie between them."""
    place, between = cell // 2, cell % 2 == 0
    if between:
        relevant, count = np.insert(relevant, place, 0.0), np.insert(count, place, 0.0)
    p0, p1 = (_fitted(relevant, count, place, label) for label in (0.0, 1.0))
    return p1 / (1.0 - p0 + p1)


def _fitted(relevant: FloatArray, count: FloatArray, place: int, label: float) -> float:
    """Isotonic regression at a place, with one more score of this label there (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []
    for at in range(len(count)):
        total, n, first = float(relevant[at]), float(count[at]), at
        if at == place:
            total, n = total + label, n + 1.0
        while blocks and blocks[-1][0] * n >= total * blocks[-1][1]:
            before = blocks.pop()
            total, n, first = total + before[0], n + before[1], before[2]
        blocks.append((total, n, first))
    total, n, _ = next(block for block in reversed(blocks) if block[2] <= place)
    return total / n
