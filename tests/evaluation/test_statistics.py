"""Intervals and paired tests against SciPy and against what they promise."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.statistics import (
    PairedTest,
    corrected_p,
    interval,
    mcnemar,
    paired_means,
    sign_test,
    with_correction,
)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_scipys_exact_binomial_test(gained: int, lost: int) -> None:
    from scipy.stats import binomtest

    expected = binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1.0
    assert sign_test(gained, lost) == pytest.approx(expected)


@pytest.mark.parametrize(("value", "n"), [(1.0, 10), (0.0, 3), (1.0, 400)])
def test_a_share_that_never_varies_gets_wilsons_interval(value: float, n: int) -> None:
    from scipy.stats import binomtest

    found = interval(np.full(n, value))
    bounds = binomtest(int(value * n), n).proportion_ci(0.95, method="wilson")
    assert found is not None
    assert found.method == "wilson"
    assert (found.low, found.high) == pytest.approx((bounds.low, bounds.high))


def test_an_interval_leaves_unknown_values_out_and_repeats_exactly() -> None:
    values = np.array([0.0, 1.0, np.nan, 1.0, 1.0, np.nan])
    first, again = interval(values), interval(values)
    assert first == again
    assert first is not None
    assert (first.n, first.value) == (4, 0.75)
    assert first.low <= first.value <= first.high
    assert interval(np.array([np.nan])) is None
    assert interval(np.array([])) is None


def test_the_interval_of_a_mean_is_near_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(5).normal(10.0, 2.0, 400)
    found = interval(values)
    assert found is not None
    error = 1.96 * values.std() / 20
    assert found.low == pytest.approx(values.mean() - error, abs=0.03)
    assert found.high == pytest.approx(values.mean() + error, abs=0.03)


def test_the_interval_of_a_ratio_is_that_of_the_ratio_and_not_of_the_mean_of_shares() -> None:
    shares, passages = np.array([1.0] * 12 + [0.1] * 12), np.array([1.0] * 12 + [30.0] * 12)
    found = interval(shares, weights=passages)
    assert found is not None
    assert found.value == pytest.approx(48 / 372)
    assert found.low < found.value < found.high < 0.3
    assert interval(shares, weights=np.ones(24)) == interval(shares)


def test_the_paired_test_of_a_ratio_goes_by_the_ratio() -> None:
    """Twelve questions of one passage lose a half; twelve of thirty gain a tenth, which is more passages."""
    before, after = np.array([1.0] * 12 + [0.1] * 12), np.array([0.5] * 12 + [0.2] * 12)
    passages = np.array([1.0] * 12 + [30.0] * 12)
    assert paired_means(before, after, lower_is_better=False).verdict == "worse"
    found = paired_means(before, after, lower_is_better=False, weights=(passages, passages))
    assert found.verdict == "better"
    assert found.difference is not None
    assert found.difference.value == pytest.approx((6 + 72) / 372 - (12 + 36) / 372)


def test_one_gain_in_forty_is_not_distinguishable_and_nine_of_nine_are() -> None:
    before = np.zeros(40)
    one, nine = before.copy(), before.copy()
    one[0], nine[:9] = 1.0, 1.0
    assert mcnemar(before, one).verdict == "not_distinguishable"
    better = mcnemar(before, nine)
    assert (better.verdict, better.gained, better.lost, better.n) == ("better", 9, 0, 40)
    assert better.p == pytest.approx(2 / 2**9)
    assert mcnemar(nine, before).verdict == "worse"


def test_questions_unknown_on_one_side_are_in_no_paired_test() -> None:
    before, after = np.array([0.0, np.nan, 1.0]), np.array([np.nan, 1.0, 1.0])
    test = mcnemar(before, after)
    assert (test.n, test.gained, test.lost, test.p) == (1, 0, 0, 1.0)
    empty = mcnemar(np.array([np.nan]), np.array([1.0]))
    assert (empty.n, empty.difference, empty.verdict) == (0, None, "not_distinguishable")


def test_fewer_calls_are_better_and_few_questions_prove_nothing() -> None:
    random = np.random.default_rng(3)
    before = random.integers(5, 15, 40).astype(float)
    fewer = paired_means(before, before - random.integers(0, 4, 40), lower_is_better=True)
    assert fewer.verdict == "better"
    assert fewer.difference is not None
    assert fewer.difference.high < 0
    assert paired_means(before, before, lower_is_better=True).p == 1.0
    assert paired_means(before[:3], before[:3] - 1, lower_is_better=True).verdict == "not_distinguishable"


def test_the_corrected_p_is_that_of_all_flips_of_signs() -> None:
    baseline = np.zeros(8)
    columns = np.array([[1, 1, 1, 1, 1, 1, 0, -1], [1, 0, 0, 0, -1, 1, 0, 0], [0] * 8], dtype=float).T
    spread = np.sqrt((columns**2).sum(axis=0))
    scaled = np.divide(columns, spread, out=np.zeros_like(columns), where=spread > 0)
    observed = np.abs(scaled.sum(axis=0))
    greatest = np.array([np.abs(np.array(signs) @ scaled).max() for signs in product((-1, 1), repeat=8)])
    exact = [float((greatest >= value - 1e-9).mean()) for value in observed]
    assert corrected_p(baseline, columns).tolist() == pytest.approx(exact, abs=0.04)


def test_the_luckiest_of_many_settings_is_seldom_called_better() -> None:
    random = np.random.default_rng(11)
    called, plain = 0, 0
    for _ in range(40):
        baseline = random.integers(0, 2, 60).astype(float)
        columns = random.integers(0, 2, (60, 100)).astype(float)
        best = int(np.argmax(columns.sum(axis=0)))
        called += corrected_p(baseline, columns)[best] < 0.05
        plain += mcnemar(baseline, columns[:, best]).p < 0.05
    assert called <= 6
    assert plain > called


def test_settings_that_decide_the_same_cost_nothing_in_the_correction() -> None:
    baseline = np.zeros(40)
    gain = np.zeros(40)
    gain[:9] = 1.0
    alone = corrected_p(baseline, gain[:, None])
    assert corrected_p(baseline, np.repeat(gain[:, None], 300, axis=1)).tolist() == [alone[0]] * 300


def test_unknown_questions_count_as_no_difference_in_the_correction() -> None:
    assert corrected_p(np.array([0.0, np.nan]), np.array([[np.nan], [1.0]])).tolist() == [1.0]


def test_a_correction_can_take_a_verdict_back_and_never_make_one() -> None:
    test = PairedTest("better", 0.01, 40, 9, 1)
    assert with_correction(test, 0.2).verdict == "not_distinguishable"
    assert with_correction(test, 0.02) == PairedTest("better", 0.02, 40, 9, 1)
    assert with_correction(PairedTest("not_distinguishable", 0.3, 40, 3, 1), 0.01).p == 0.3


@pytest.mark.parametrize(
    ("unknown", "verdict"), [(0, "better"), (1, "better"), (2, "not_distinguishable"), (20, "not_distinguishable")]
)
def test_unknown_questions_count_against_what_the_known_ones_say(unknown: int, verdict: str) -> None:
    """BE-01: nine gained and none lost, were it not for those that are not known on both sides."""
    before, after = np.zeros(9), np.ones(9)
    found = mcnemar(before, after, unknown)
    assert (found.verdict, found.unknown, found.n) == (verdict, unknown, 9)
    assert found.p == (1.0 if unknown > 9 else sign_test(9, unknown))
    assert mcnemar(after, before, unknown).verdict == ("worse" if verdict == "better" else verdict)
