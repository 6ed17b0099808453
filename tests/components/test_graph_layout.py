"""Where entities are drawn: the same places for the same graph, no one over another, no part lost in the distance."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import dist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.common.graph_view import layout_of

LINES = [("a", "b", 1.0), ("b", "c", 2.0), ("c", "d", 1.0), ("e", "f", 1.0)]
IDS = ["a", "b", "c", "d", "e", "f", "alone"]


def test_a_graph_of_nothing_has_no_places() -> None:
    """GH-03: an empty graph is drawn as an empty picture."""
    assert layout_of([], []) == {}
    assert layout_of(["one"], []) == {"one": (0.0, 0.0)}


@given(st.permutations(IDS), st.permutations(LINES))
@settings(max_examples=10, deadline=None)
def test_places_do_not_depend_on_the_order_of_what_is_given(
    ids: list[str], lines: list[tuple[str, str, float]]
) -> None:
    assert layout_of(ids, lines) == layout_of(IDS, LINES)


def test_joined_entities_stand_nearer_than_those_of_another_part() -> None:
    places = layout_of(IDS, LINES)
    assert dist(places["a"], places["b"]) < dist(places["a"], places["f"])
    assert dist(places["e"], places["f"]) < dist(places["e"], places["a"])


def test_a_chain_is_unrolled() -> None:
    """GH-03: what is joined stands nearer than what is not."""
    ids = [f"n{place}" for place in range(12)]
    places = layout_of(ids, [(*pair, 1.0) for pair in pairwise(ids)])
    apart = [
        dist(places[one], places[other]) for one, other in combinations(ids, 2) if (one, other) not in pairwise(ids)
    ]
    assert max(dist(places[one], places[other]) for one, other in pairwise(ids)) < min(apart)


@pytest.mark.parametrize("number", [2, 40, 300])
def test_no_two_entities_lie_on_each_other(number: int) -> None:
    """A graph of many entities can be looked at: every one has a place of its own."""
    ids = [f"e{place}" for place in range(number)]
    lines = [(ids[place], ids[place // 3], 1.0) for place in range(1, number)]
    places = layout_of(ids, lines, [f"c{place % 7}" for place in range(number)], [9.0] * number)
    assert set(places) == set(ids)
    assert min(dist(one, other) for one, other in combinations(places.values(), 2)) > 18


def test_parts_that_nothing_joins_stay_in_sight_of_each_other() -> None:
    ids = [f"e{place}" for place in range(30)]
    places = layout_of(ids, [])
    nearest = [min(dist(places[one], places[other]) for other in ids if other != one) for one in ids]
    assert max(nearest) < 400


def test_relationships_with_entities_that_are_not_shown_and_with_oneself_are_no_springs() -> None:
    assert layout_of(["a", "b"], [("a", "a", 1.0), ("a", "gone", 1.0)]) == layout_of(["a", "b"], [])
