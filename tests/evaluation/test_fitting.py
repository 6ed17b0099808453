"""Fits of graders to judgements: the formulas, held out by question, and refused where they do not help."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.evaluation.fit_builtin import chances, refitted
from engine.evaluation.fit_scores import MOST, Calibration, Scored, table_of
from engine.evaluation.fitting import FOLDS, LEAST, LEAST_EACH, Subject, folds, judgements, trial
from engine.evaluation.grader_bench import Pair
from engine.model.grader_fit import GraderFit, calibrated, sigmoid
from engine.model.values import PassageId

SUBJECT = Subject("cross_encoder:x", "samples", 0.5)
JUDGED = st.lists(st.tuples(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]), st.booleans()), min_size=2, max_size=25)


def by_definition(scores: Sequence[float], labels: Sequence[bool], new: float) -> float:
    """Isotonic regression with the new score among the judged ones, once with each label (Vovk and Petej 2014)."""
    from sklearn.isotonic import IsotonicRegression

    p = []
    for label in (0.0, 1.0):
        model = IsotonicRegression().fit([*scores, new], [*map(float, labels), label])
        p.append(float(model.predict([new])[0]))
    return p[1] / (1 - p[0] + p[1])


@settings(max_examples=60, deadline=None)
@given(judged=JUDGED, new=st.sampled_from([-3.0, -2.0, -1.5, 0.0, 0.2, 1.0, 2.0, 3.0, 9.0]))
def test_a_calibration_is_the_venn_abers_predictor(judged: list[tuple[float, bool]], new: float) -> None:
    scores, labels = [item[0] for item in judged], [item[1] for item in judged]
    assert calibrated(table_of(scores, labels), new) == pytest.approx(by_definition(scores, labels, new), abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(judged=JUDGED)
def test_a_calibration_never_turns_the_order_and_never_is_sure(judged: list[tuple[float, bool]]) -> None:
    table = table_of([item[0] for item in judged], [item[1] for item in judged])
    assert all(first <= second + 1e-9 for first, second in pairwise(table["chances"]))
    assert 0 < min(table["chances"]) <= max(table["chances"]) < 1
    assert len(table["chances"]) == 2 * len(table["scores"]) + 1


def test_of_very_many_judgements_a_part_makes_the_table() -> None:
    scores = [place / 7 for place in range(5 * MOST)]
    table = table_of(scores, [place % 3 == 0 for place in range(len(scores))])
    assert len(table["scores"]) == MOST and table["scores"][-1] == scores[-1]


@pytest.mark.parametrize("strength", [0.3, 3.0, 100.0])
def test_refitted_coefficients_are_the_most_likely_under_the_prior(strength: float) -> None:
    from scipy.optimize import minimize

    chance = np.random.default_rng(5)
    features = chance.normal(size=(80, 3)) * (1.0, 3.0, 0.2)
    truth = features[:, 0] + chance.normal(size=80) > 0
    prior = np.array([0.5, -1.0, 2.0, 0.0])
    spread = np.concatenate(([1.0], features.std(axis=0)))

    def loss(found: np.ndarray) -> float:
        p = chances(np.column_stack([np.ones(80), features]), found)
        surprise = -np.log(np.clip(np.where(truth, p, 1 - p), 1e-12, 1)).sum()
        return float(surprise + strength / 2 * ((spread * (found - prior)) ** 2).sum())

    found = refitted(features, truth, prior, strength)
    best = minimize(loss, prior, method="BFGS", options={"gtol": 1e-8})
    assert loss(found) <= best.fun + 1e-5
    assert found == pytest.approx(best.x, abs=0.05)


def test_a_strong_prior_keeps_the_coefficients() -> None:
    features, truth = np.array([[0.0], [1.0]]), np.array([True, False])
    assert refitted(features, truth, np.array([0.0, 4.0]), 1e6) == pytest.approx([0.0, 4.0], abs=1e-3)


def test_all_of_a_question_are_in_one_fold() -> None:
    questions = [f"q{place % 13}" for place in range(60)]
    made = folds(questions, FOLDS)
    assert sorted(place for fold in made for place in fold) == list(range(60))
    of = [{questions[place] for place in fold} for fold in made]
    assert sum(len(fold) for fold in of) == 13
    assert folds(questions, FOLDS) == made
    # However it is spelt, a question is on one side.
    spaced = folds([*questions, *(f"  {text.upper()} " for text in questions)], FOLDS)
    both = [{questions[place % len(questions)] for place in fold} for fold in spaced]
    assert sum(len(fold) for fold in both) == 13


def judged(count: int, *, tells: float, questions: int = 12, seed: int = 3) -> list[Scored]:
    """Pairs whose raw score says ``tells`` of the truth, on another scale than the logistic function expects."""
    chance, made = random.Random(seed), []
    for place in range(count):
        relevant = chance.random() < 0.4
        raw = 6.0 + 2 * tells * relevant + chance.gauss(0, 1)
        pair = Pair(f"c{place % questions}", f"q{place % questions}", PassageId(f"p{place}"), sigmoid(raw), relevant)
        made.append(Scored(replace(pair, label_source="thumb", reach=sigmoid(raw)), raw, share=False))
    return made


def test_scores_on_another_scale_are_put_right_on_judgements_not_seen() -> None:
    found = trial(Calibration(), judged(120, tells=2.0), SUBJECT)
    assert found.helps and found.fit is not None and found.after is not None
    assert found.after.brier is not None and found.before.brier is not None
    assert found.after.brier < found.before.brier / 2
    assert found.after.ece is not None and found.before.ece is not None and found.after.ece < found.before.ece / 2
    assert found.fit.judgements == 120 and found.fit.figures["brier"] == (found.before.brier, found.after.brier)


@dataclass
class Parrot(Calibration):
    """Learns its pairs by heart and says the opposite of all others."""

    def learn(self, items: Sequence[Scored]) -> dict[str, dict[str, bool]]:
        return {"known": {item.pair.passage_id: bool(item.pair.label) for item in items}}

    def chances(self, data: object, items: Sequence[Scored]) -> list[float]:
        known = data["known"]  # type: ignore[index]
        return [float(known.get(item.pair.passage_id, not item.pair.label)) for item in items]


def test_what_is_only_right_on_pairs_it_has_seen_does_not_help() -> None:
    found = trial(Parrot(), judged(120, tells=2.0), SUBJECT)
    assert found.fit is not None and not found.helps
    assert found.after is not None and found.after.accuracy == 0.0


@pytest.mark.parametrize(("count", "questions"), [(LEAST - 1, 12), (LEAST, 4)])
def test_with_too_few_judgements_nothing_is_fitted_and_the_number_missing_is_said(count: int, questions: int) -> None:
    found = trial(Calibration(), judged(count, tells=2.0, questions=questions), SUBJECT)
    assert found.fit is None and found.after is None and not found.helps
    missing = judgements(item.pair for item in judged(count, tells=2.0, questions=questions)).missing
    assert missing[0] == max(0, LEAST - count) and missing[3] == max(0, 5 - questions)


def test_one_kind_of_judgement_alone_teaches_nothing() -> None:
    same_labels = [replace(item, pair=replace(item.pair, label=True)) for item in judged(60, tells=2.0)]
    found = trial(Calibration(), same_labels, SUBJECT)
    assert found.fit is None
    assert judgements(item.pair for item in same_labels).missing == (LEAST_EACH, 0, LEAST_EACH, 0)


def test_the_id_of_a_fit_stands_for_all_that_verdicts_depend_on() -> None:
    fit = GraderFit("calibration", "cross_encoder:x", "samples", {"scores": [1.0], "chances": [0.1, 0.5, 0.9]})
    others = [
        replace(fit, kind="examples"),
        replace(fit, model="cross_encoder:y"),
        replace(fit, collection="other"),
        replace(fit, data={"scores": [1.0], "chances": [0.1, 0.5, 0.8]}),
    ]
    assert len({item.id for item in (fit, *others)}) == 5
    assert replace(fit, judgements=9, author="ada", made_at="2026").id == fit.id
    assert len(fit.id) == 12
