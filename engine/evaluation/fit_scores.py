"""Calibration of graders that give scores, on the judgements of a collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.evaluation.grader_bench import Pair
from engine.evaluation.venn_abers import table_of
from engine.llm.scoring import sigmoid
from engine.model.config import RERANK_SERVER
from engine.model.grader_fit import FitKind, calibrated
from engine.model.values import RunRecord


@dataclass(frozen=True, slots=True)
class Scored:
    """A labelled pair with its raw score."""

    pair: Pair
    raw: float
    share: bool
    """Whether the score was taken as P(relevant) itself."""


class Calibration:
    """A table from raw scores to P(relevant) (``engine.evaluation.fitting.Method``)."""

    kind: FitKind = "calibration"

    def shipped(self, items: Sequence[Scored]) -> list[float]:
        """As without a calibration."""
        return [item.raw if item.share else sigmoid(item.raw) for item in items]

    def learn(self, items: Sequence[Scored]) -> dict[str, Any]:
        """A Venn-Abers table."""
        return dict(table_of([item.raw for item in items], [bool(item.pair.label) for item in items]))

    def chances(self, data: Mapping[str, Any], items: Sequence[Scored]) -> list[float]:
        """Look every score up."""
        return [calibrated(data, item.raw) for item in items]


def scored_pairs(graded: Iterable[Pair], records: Mapping[str, RunRecord]) -> list[Scored]:
    """The labelled pairs that have a raw score; ``records`` go by case id."""
    verdicts = {case: record.first_verdicts(by_hand=False) for case, record in records.items()}
    found: list[Scored] = []
    for pair in graded:
        verdict = verdicts.get(pair.case_id, {}).get(pair.passage_id)
        if pair.label is None or verdict is None or verdict.raw is None:
            continue
        record = records[pair.case_id]
        served = record.config.models.grader.model.startswith(RERANK_SERVER)
        found.append(Scored(pair, verdict.raw, served and record.manifest.get("rerank_scores") == "share"))
    return found
