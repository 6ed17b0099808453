"""The share of wrong answers from few judgements and many verdicts: its interval covers what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.judgements import Judged, key_of, pair_id, request_of
from engine.evaluation.predicted import LEAST, drawn_at_random, estimate, predicted_wrong
from engine.evaluation.statistics import t_quantile
from engine.evaluation.values import AnswerJudgement
from engine.model.config import RunConfig
from tests.evaluation.gathered import questions

DRAWS = 500
ALL = 300


@pytest.mark.parametrize("wrong", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("judged", [LEAST, 100])
def test_the_interval_holds_the_true_share_as_often_as_it_says_whatever_the_model_is_worth(
    wrong: float, judged: int
) -> None:
    """EV-05"""
    chance = np.random.default_rng(judged + int(100 * wrong))
    for worth in (0.5, 0.8, 0.97):
        held = 0
        for _ in range(DRAWS):
            truth = (chance.random(judged + ALL) < wrong).astype(float)
            said = np.where(chance.random(judged + ALL) < worth, truth, 1 - truth)
            value, half, _ = estimate(truth[:judged], said[:judged], said[judged:])
            held += value - half <= wrong <= value + half
        # Three standard errors of the simulation below what is promised.
        assert held / DRAWS >= 0.95 - 3 * (0.05 * 0.95 / DRAWS) ** 0.5, (worth, held / DRAWS)


def test_a_good_model_narrows_the_interval_and_a_useless_one_leaves_it() -> None:
    chance = np.random.default_rng(4)
    widths: dict[str, list[float]] = {"good": [], "useless": [], "alone": []}
    for _ in range(300):
        truth = (chance.random(60 + ALL) < 0.3).astype(float)
        good = np.where(chance.random(60 + ALL) < 0.95, truth, 1 - truth)
        useless = (chance.random(60 + ALL) < 0.3).astype(float)
        for name, said in (("good", good), ("useless", useless), ("alone", np.zeros(60 + ALL))):
            _, half, believed = estimate(truth[:60], said[:60], said[60:])
            widths[name].append(half)
            assert name != "alone" or believed == 0.0
    mean = {name: float(np.mean(found)) for name, found in widths.items()}
    assert mean["good"] < 0.75 * mean["alone"]
    assert mean["useless"] == pytest.approx(mean["alone"], rel=0.03)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=30),
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=30),
)
def test_an_estimate_is_a_finite_number_and_a_model_is_believed_from_not_at_all_to_wholly(
    pairs: list[tuple[float, float]], rest: list[float]
) -> None:
    truth, said = (np.array(column) for column in zip(*pairs, strict=True))
    value, half, believed = estimate(truth, said, np.array(rest))
    assert -1 <= value <= 2 and 0 < half < np.inf and 0 <= believed <= 1
    if not rest:
        assert value == pytest.approx(truth.mean()) and believed == 0.0


def test_an_estimate_needs_two_judgements() -> None:
    with pytest.raises(ValueError, match="two judgements"):
        estimate(np.ones(1), np.ones(1), np.ones(4))


@pytest.mark.parametrize("freedom", [10, 14, 29, 99, 1000])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.975, 0.995])
def test_quantiles_are_those_of_student(freedom: int, share: float) -> None:
    from scipy.stats import t as student

    assert t_quantile(share, freedom) == pytest.approx(student.ppf(share, freedom), abs=2e-3)


def gathered(judged: int, *, at_random: bool = True, verdicts: bool = True) -> Evidence:
    """Runs whose answers a model calls wrong where the question's number is divisible by four, and people by eight."""
    cases, records = questions(80, RunConfig())
    # Answers of these worlds can be equal; every question is asked once, so that each is one of its own.
    given_ = [case for case in cases if records[case.id].answer and records[case.id].outcome != "abstained"]
    said = {
        pair_id(case.question, records[case.id].answer): Judged(int(case.id[5:]) % 8 != 0, at_random)
        for case in given_[:judged]
    }
    found = {
        key_of(request_of(case, records[case.id])): AnswerJudgement(
            case.question, records[case.id].answer, "no" if int(case.id[5:]) % 4 == 0 else "yes", by="model", judge="m"
        )
        for case in given_
    }
    return gather(cases, records, judged=said, verdicts=found if verdicts else {})


def test_the_estimate_of_a_gathering_counts_what_was_drawn_at_random_alone() -> None:
    found = predicted_wrong(gathered(24))
    assert found is not None
    assert found.judged == 24 and found.verdicts == found.n > 30
    assert found.low < found.value < found.high <= 1
    assert found.believed > 0
    assert found.high - found.low < found.alone[1] - found.alone[0]
    assert predicted_wrong(gathered(LEAST - 1)) is None
    few = gathered(LEAST - 1)
    assert predicted_wrong(replace(few, gathered=few.gathered * 2)) is None, "the same questions twice"
    assert predicted_wrong(gathered(40, at_random=False)) is None
    assert predicted_wrong(gathered(40, verdicts=False)) is None


def test_an_interval_is_between_0_and_1_and_holds_its_value_however_the_draw_fell() -> None:
    """The model calls wrong what was drawn and nothing else: the estimate itself would lie below 0."""
    whole = gathered(LEAST)
    rows = []
    for place, item in enumerate(whole.gathered):
        drawn = item.own.judged is not None
        verdict = item.own.verdict and replace(item.own.verdict, right="no" if drawn and place % 2 else "yes")
        judged = item.own.judged and replace(item.own.judged, right=place != 1)
        rows.append(replace(item, own=replace(item.own, verdict=verdict, judged=judged)))
    last = rows[-1]
    more = [replace(last, case=replace(last.case, question=f"Another {number}?")) for number in range(1000)]
    found = predicted_wrong(replace(whole, gathered=(*rows, *more)))
    assert found is not None and found.believed > 0.5
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_judged_answer_that_says_that_it_cannot_tell_is_none_of_those_counted() -> None:
    """Else the page would say that 15 are enough and that there are 15, and still give no estimate."""
    whole = gathered(LEAST)
    place = next(place for place, item in enumerate(whole.gathered) if item.own.judged is not None)
    item = whole.gathered[place]
    assert item.own.checked is not None
    denies = replace(item, own=replace(item.own, checked=replace(item.own.checked, note="cannot_tell")))
    fewer = replace(whole, gathered=(*whole.gathered[:place], denies, *whole.gathered[place + 1 :]))
    assert (drawn_at_random(whole), drawn_at_random(fewer)) == (LEAST, LEAST - 1)
    assert predicted_wrong(whole) is not None and predicted_wrong(fewer) is None


def test_answers_that_the_model_has_not_read_say_nothing() -> None:
    whole = gathered(24)
    half = replace(
        whole,
        gathered=tuple(
            item if place % 2 else replace(item, own=replace(item.own, verdict=None))
            for place, item in enumerate(whole.gathered)
        ),
    )
    less, more = predicted_wrong(half), predicted_wrong(whole)
    assert less is not None and more is not None
    assert less.verdicts < more.verdicts and less.n == more.n
    assert less.believed < more.believed
