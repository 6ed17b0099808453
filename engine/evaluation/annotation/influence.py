"""On which pairs settings differ: whose judgement could change which of them is best."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from engine.evaluation.aggregate import evaluate, replay_all
from engine.evaluation.annotation.pairs import Kind, passage_item_id
from engine.evaluation.annotation.queue import influence_of
from engine.evaluation.evidence import Evidence
from engine.evaluation.judgements import pair_id
from engine.evaluation.kept_passages import passing_under
from engine.model.config import RunConfig
from engine.model.values import RunRecord

_SIMILARITIES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_CONFIDENCES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_DEPTHS = (3, 5, 8)


def lattice(base: RunConfig) -> tuple[RunConfig, ...]:
    """Settings around ``base`` that are compared: thresholds of similarity and confidence, and how many are kept."""
    made = (
        replace(base, similarity_threshold=similarity, min_confidence=confidence, top_k=top_k)
        for similarity, confidence, top_k in product(_SIMILARITIES, _CONFIDENCES, _DEPTHS)
    )
    return tuple(dict.fromkeys((base, *made)))


def influences(evidence: Evidence, records: dict[str, RunRecord], base: RunConfig, kind: Kind) -> dict[str, float]:
    """Return each pair's possible influence on the best setting, by the pair's id; calls nothing.

    An answer counts under the settings that lead to it, and settings are compared by *answered right*; a passage under
    those that let it pass, and settings are compared by *found and answered*. ``records`` by case id.
    """
    if not len(evidence):
        return {}
    configs = lattice(base)
    evaluation = evaluate(evidence, configs)
    scores = evaluation.figures("answered_right" if kind == "answer" else "quality").worse
    n = len(evidence)
    if kind == "answer":
        answer = replay_all(evidence, configs).answer
        return {
            pair_id(item.case.question, records[item.case.id].answer): influence_of(answer[row] == 0, scores, n)
            for row, item in enumerate(evidence.gathered)
            if item.case.id in records
        }
    replayed = replay_all(evidence, configs)
    reached = np.where(replayed.path_known, replayed.round, -1)
    found: dict[str, float] = {}
    for row, passage_id, mask in passing_under(evidence, configs, reached):
        question = evidence.gathered[row].case.question
        found[passage_item_id(question, passage_id)] = influence_of(mask, scores, n)
    return found
