"""Coefficients of the built-in grader, refitted to the judgements of a collection.

The most likely coefficients of a logistic regression under a normal prior around the shipped ones: minimise the log
loss plus ``strength / 2 * sum((spread * (w - w0))²)``, where ``spread`` is how far a feature varies among the
judgements, so that the strength means the same for every feature. Newton's method; the problem is convex.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.builtin.evidence import FEATURES, Question, read_question, weigh
from engine.builtin.grader import Coefficients, ModelName, coefficients_of, load_coefficients, model_for
from engine.evaluation.fitting import folds
from engine.evaluation.grader_bench import Pair
from engine.model.grader_fit import FitKind
from engine.model.values import Passage, PassageId, RunRecord
from engine.replay.masks import BoolArray, FloatArray

_LEAST = 20
"""Judgements of a language without which its shipped coefficients stay."""
_LEAST_EACH = 5
_INNER = 4
_DECIMALS = 6
STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Of the prior, weakest first; cross-validation picks one."""
_STEPS = 50
_CLOSE = 1e-8
_LEAST_SPREAD = 1e-3


@dataclass(frozen=True, slots=True)
class Weighed:
    """A labelled pair with the features that the grader sees."""

    pair: Pair
    language: ModelName
    options: tuple[tuple[float, ...], ...]
    """Of the whole question, then of each of its parts; the best of them counts."""

    def chance(self, model: Coefficients) -> float:
        return max(model.probability(features) for features in self.options)


class Refit:
    """Coefficients by language (``engine.evaluation.fitting.Method``); languages with few judgements keep theirs."""

    kind: FitKind = "coefficients"

    def shipped(self, items: Sequence[Weighed]) -> list[float]:
        """By the shipped coefficients."""
        return self.chances({"languages": {}}, items)

    def learn(self, items: Sequence[Weighed]) -> dict[str, Any]:
        """Coefficients of each language with enough judgements, and the strength of the prior that they have."""
        made: dict[str, Any] = {}
        for language, prior in load_coefficients().items():
            own = [item for item in items if item.language == language]
            relevant = sum(bool(item.pair.label) for item in own)
            if len(own) >= _LEAST and min(relevant, len(own) - relevant) >= _LEAST_EACH:
                made[language] = _learnt(own, prior)
        return {"languages": made}

    def chances(self, data: Mapping[str, Any], items: Sequence[Weighed]) -> list[float]:
        """By the coefficients learnt, and by the shipped ones where a language has none."""
        models = coefficients_of(data)
        return [item.chance(models[item.language]) for item in items]


def weighed_pairs(graded: Iterable[Pair], records: Mapping[str, RunRecord]) -> list[Weighed]:
    """The labelled pairs that the built-in grader judged; ``records`` go by case id.

    The similarity is the recorded one, all else is read from question and passage as the grader reads it.
    """
    found: list[Weighed] = []
    known: dict[str, tuple[Question, Mapping[PassageId, Passage], Mapping[PassageId, float]]] = {}
    for pair in graded:
        record = records.get(pair.case_id)
        if pair.label is None or record is None:
            continue
        if pair.case_id not in known:
            known[pair.case_id] = (read_question(record.question), record.passages, _similarities(record))
        question, passages, similarities = known[pair.case_id]
        passage, similarity = passages.get(pair.passage_id), similarities.get(pair.passage_id)
        if passage is not None and similarity is not None:
            found.append(_weighed(pair, question, passage, similarity))
    return found


def _weighed(pair: Pair, question: Question, passage: Passage, similarity: float) -> Weighed:
    read = (question, *question.parts)
    options = tuple(weigh(part, passage.text, similarity, heading=passage.above).features for part in read)
    return Weighed(pair, model_for(question.language, passage.text), options)


def _similarities(record: RunRecord) -> dict[PassageId, float]:
    """Return the similarity that the grader was given for each passage."""
    found: dict[PassageId, float] = {}
    for call in record.model_calls:
        if call.role == "grader" and call.built_in and call.passage_id and call.parsed:
            value = call.parsed.get("similarity")
            if isinstance(value, int | float):
                found.setdefault(call.passage_id, float(value))
    return found


def _learnt(items: Sequence[Weighed], prior: Coefficients) -> dict[str, Any]:
    features, truth, start = _arrays(items, prior)
    strength = _strength(items, prior)
    made = refitted(features, truth, start, strength)
    weights = {name: round(float(value), _DECIMALS) for name, value in zip(FEATURES, made[1:], strict=True)}
    return {"intercept": round(float(made[0]), _DECIMALS), "weights": weights, "strength": strength}


def _strength(items: Sequence[Weighed], prior: Coefficients) -> float:
    """The strength whose coefficients are least surprised by the questions that they have not seen."""
    features, truth, start = _arrays(items, prior)
    losses = dict.fromkeys(STRENGTHS, 0.0)
    for places in folds([item.pair.question for item in items], _INNER):
        out = np.zeros(len(items), dtype=bool)
        out[places] = True
        if out.all():
            continue
        design = np.column_stack([np.ones(len(places)), features[out]])
        for strength in STRENGTHS:
            made = refitted(features[~out], truth[~out], start, strength)
            losses[strength] += log_loss(chances(design, made), truth[out])
    # Of equals the strongest: it changes least.
    return min(STRENGTHS, key=lambda strength: (round(losses[strength], 9), -strength))


def _arrays(items: Sequence[Weighed], prior: Coefficients) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Features of the part that the shipped grader goes by, labels, and the prior's coefficients."""
    features = np.array([max(item.options, key=prior.probability) for item in items], dtype=np.float64)
    truth = np.array([bool(item.pair.label) for item in items], dtype=bool)
    return features, truth, np.array([prior.intercept, *(prior.weights[name] for name in FEATURES)])


def refitted(features: FloatArray, truth: BoolArray, prior: FloatArray, strength: float) -> FloatArray:
    """Intercept and weights [1 + F] from features [N, F], labels [N] and the prior's [1 + F]."""
    design = np.column_stack([np.ones(len(features)), features])
    spread = np.concatenate(([1.0], np.maximum(features.std(axis=0), _LEAST_SPREAD)))
    pull = strength * spread**2
    found = prior.copy()
    for _ in range(_STEPS):
        chance = chances(design, found)
        slope = design.T @ (chance - truth) + pull * (found - prior)
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(pull)
        step = np.linalg.solve(curve, slope)
        # Newton's step may lead too far where chances are close to 0 and 1.
        while _loss(design, truth, prior, pull, found - step) > _loss(design, truth, prior, pull, found) + _CLOSE:
            step = step / 2
        found = found - step
        if float(np.abs(step).max()) < _CLOSE:
            break
    return found


def chances(design: FloatArray, coefficients: FloatArray) -> FloatArray:
    """P(relevant) of rows that begin with 1."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(design @ coefficients, -60.0, 60.0))), dtype=np.float64)


def log_loss(chance: FloatArray, truth: BoolArray) -> float:
    """Sum over rows."""
    sure = np.clip(np.where(truth, chance, 1.0 - chance), 1e-12, 1.0)
    return float(-np.log(sure).sum())


def _loss(design: FloatArray, truth: BoolArray, prior: FloatArray, pull: FloatArray, found: FloatArray) -> float:
    return log_loss(chances(design, found), truth) + float((pull * (found - prior) ** 2).sum()) / 2
