"""Weights that are moved one at a time: no matter what is done to them, they sum to 1."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.workflows.config_options import STEP, rebalanced, scaled

USUAL = (0.4, 0.3, 0.2, 0.1)
fractions = st.floats(0, 1).map(lambda value: round(value, 4))
weights = st.lists(fractions, min_size=4, max_size=4).map(tuple)


@st.composite
def on_steps(draw: st.DrawFn) -> tuple[float, ...]:
    cuts = sorted(draw(st.lists(st.integers(0, 20), min_size=3, max_size=3)))
    ends = [0, *cuts, 20]
    return tuple(round((after - before) * STEP, 4) for before, after in pairwise(ends))


@given(weights, st.integers(0, 3))
def test_the_moved_weight_stays_and_the_sum_is_1(given_weights: tuple[float, ...], moved: int) -> None:
    """QL-01: they must sum to 1."""
    made = rebalanced(given_weights, moved)
    assert made[moved] == given_weights[moved]
    assert math.fsum(made) == pytest.approx(1, abs=4e-4)
    assert all(0 <= value <= 1 for value in made)


@given(on_steps(), st.integers(0, 3), st.integers(0, 20))
def test_what_begins_on_steps_of_the_slider_stays_on_them(begun: tuple[float, ...], moved: int, steps: int) -> None:
    made = rebalanced((*begun[:moved], steps * STEP, *begun[moved + 1 :]), moved)
    assert all(abs(value / STEP - round(value / STEP)) < 1e-3 for value in made)
    assert math.fsum(made) == pytest.approx(1)


@given(on_steps())
def test_any_wish_is_reached_by_setting_the_weights_from_top_to_bottom(wished: tuple[float, ...]) -> None:
    now: tuple[float, ...] = USUAL
    for place, value in enumerate(wished):
        now = rebalanced((*now[:place], value, *now[place + 1 :]), place)
    assert now == pytest.approx(wished)


def test_the_last_weight_takes_from_all_the_others() -> None:
    made = rebalanced((0.4, 0.3, 0.2, 0.55), 3)
    assert made == (0.2, 0.15, 0.1, 0.55)


@given(weights)
def test_scaled_weights_keep_their_proportion(given_weights: tuple[float, ...]) -> None:
    made = scaled(given_weights)
    assert math.fsum(made) == pytest.approx(1, abs=1e-9)
    total = math.fsum(given_weights)
    for before, after in zip(given_weights, made, strict=True):
        assert after == pytest.approx(before / total if total else 0.25, abs=3e-4)
