"""Intervals while results come in: right for who looks after every one, and stops where it pleases (TM-17)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.evaluation.aggregate import evaluate
from engine.evaluation.anytime import SHUFFLED_FROM, Drawn, anytime_interval, anytime_of, drawn, run_order
from engine.evaluation.evidence import gather
from engine.evaluation.figures import Measured
from engine.evaluation.statistics import interval
from engine.model.config import RunConfig
from engine.replay.masks import FloatArray
from tests.evaluation.gathered import questions

POPULATIONS = 150
Draw = Callable[[np.random.Generator, int], FloatArray]
KINDS: dict[str, Draw] = {
    "mostly_right": lambda random, n: (random.random(n) < 0.7).astype(np.float64),
    "seldom": lambda random, n: (random.random(n) < 0.05).astype(np.float64),
    "anything": lambda random, n: random.random(n),
    "close": lambda random, n: random.beta(10, 30, n),
}
NUMBERS = st.lists(st.floats(0, 1), min_size=1, max_size=60).map(np.array)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [60, 300])
def test_who_stops_where_the_interval_is_wrong_finds_such_a_place_in_one_of_twenty_at_most(
    kind: str, size: int
) -> None:
    """The interval leaves out what it left out at any earlier moment, so one look before the end tells of all."""
    random = np.random.default_rng(7)
    missed = 0
    for _ in range(POPULATIONS):
        values = KINDS[kind](random, size)
        found = anytime_interval(values[:-1], size)
        assert found is not None
        missed += not found.low - 1e-9 <= values.mean() <= found.high + 1e-9
    assert missed <= 0.05 * POPULATIONS


def test_an_interval_for_one_look_is_wrong_far_more_often_with_a_look_after_each() -> None:
    random = np.random.default_rng(7)
    missed = 0
    for _ in range(40):
        values = KINDS["mostly_right"](random, 300)
        looks = [interval(values[:n]) for n in range(10, 200, 10)]
        missed += any(look is not None and not look.low <= 0.7 <= look.high for look in looks)
    assert missed > 0.1 * 40


def test_it_narrows_and_is_the_mean_itself_at_the_end() -> None:
    values = KINDS["mostly_right"](np.random.default_rng(3), 400)
    found = [anytime_interval(values[:n], 400) for n in (20, 100, 200, 399, 400)]
    widths = [item.high - item.low for item in found if item is not None]
    assert widths == sorted(widths, reverse=True)
    assert widths[2] < 0.2 and widths[-1] == 0.0
    assert found[-1] is not None and found[-1].value == found[-1].low == pytest.approx(values.mean())


@given(NUMBERS, st.integers(1, 50), st.integers(1, 2000))
def test_the_interval_of_a_larger_number_contains_that_of_a_smaller(values: FloatArray, more: int, still: int) -> None:
    """Not every question can tell, and how many of those to come can is not known."""
    small, large = (anytime_interval(values, len(values) + left) for left in (more, more + still))
    assert small is not None and large is not None
    assert large.low <= small.low + 0.002 and small.high <= large.high + 0.002


@given(NUMBERS, st.integers(0, 50))
@example(np.array([5e-324, 0.0]), 1)
def test_it_never_says_what_is_impossible(values: FloatArray, left: int) -> None:
    found = anytime_interval(values, len(values) + left)
    assert found is not None
    least, most = values.sum() / (len(values) + left), (values.sum() + left) / (len(values) + left)
    assert least - 1e-9 <= found.low <= found.high <= most + 1e-9


def test_nothing_drawn_says_nothing() -> None:
    assert anytime_interval(np.array([]), 10) is None


def test_questions_that_ended_out_of_turn_wait_for_those_before_them() -> None:
    """Quick ones end first, and are no random part of all."""
    assert Drawn(("a", "b", "c", "d"), frozenset("acd")).unbroken == ("a",)
    assert Drawn(("a", "b"), frozenset("ab")).unbroken == ("a", "b")


def test_a_large_batch_runs_in_random_order_that_a_restart_finds_again() -> None:
    names = [f"c{place}" for place in range(SHUFFLED_FROM)]
    assert run_order("one", names) == run_order("one", tuple(reversed(names)))
    assert run_order("one", names) != run_order("two", names) and sorted(run_order("one", names)) == sorted(names)
    assert run_order("one", names[1:]) == tuple(names[1:]) and drawn("one", names[1:], ()) is None


def test_an_unknown_or_failed_question_that_has_run_counts_at_both_ends() -> None:
    """BE-01: what is left out would be the hard questions."""
    cases, records = questions(40, RunConfig())
    order = tuple(case.id for case in cases) + tuple(f"to come {place}" for place in range(20))
    so_far = Drawn(order, frozenset(records))
    whole = evaluate(gather(cases, records), [RunConfig()])
    known = anytime_of(whole, "quality", 0, so_far)
    lost = {name: record for name, record in records.items() if name not in ("case-0", "case-1", "case-2")}
    failed = anytime_of(evaluate(gather(cases, lost), [RunConfig()]), "quality", 0, so_far)
    quality = whole.measures["quality"]
    hidden = quality.weight.copy()
    hidden[:3] = 0.0
    partly = Measured(quality.total * hidden, hidden, hidden == 0.0)
    unknown = anytime_of(replace(whole, measures={**whole.measures, "quality": partly}), "quality", 0, so_far)
    assert known is not None and failed is not None and unknown is not None
    assert failed.low == unknown.low <= known.low and known.high <= unknown.high == failed.high
    assert unknown.high - unknown.low > known.high - known.low
