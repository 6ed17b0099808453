"""Passages on two principal components: exact, the same each time, and with everything that a question found."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.passage_map import MOST_POINTS, passage_map, principal_axes, sampled
from engine.library.values import PassageMap
from engine.model.values import PassageId
from engine.roles import StoredPassage, Vector


class Rows:
    """A store of one collection."""

    def __init__(self, vectors: Vector) -> None:
        self.vectors = vectors
        self.asked: list[int] = []

    async def ids(self, collection: str) -> list[PassageId]:
        return [PassageId(f"p{place:05d}") for place in range(len(self.vectors))]

    async def page(self, collection: str, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        self.asked.append(len(ids))
        return [(StoredPassage(item, "a.md", f"text {item}" * 99), self.vectors[int(item[1:])]) for item in ids]


def drawn(vectors: Vector, most: int = 100, query: Vector | None = None, hits: Sequence[str] = ()) -> PassageMap:
    return asyncio.run(passage_map(Rows(vectors), "c", most, query, [PassageId(item) for item in hits]))


def test_axes_are_those_along_which_the_vectors_vary_most() -> None:
    draw = np.random.default_rng(3)
    spread = draw.normal(size=(500, 6)) * np.asarray([0.1, 5.0, 0.2, 2.0, 0.1, 0.1])
    axes = principal_axes((spread + 7.0).astype(np.float32))
    assert np.abs(axes.directions[0]) == pytest.approx(np.eye(6)[1], abs=0.05)
    assert np.abs(axes.directions[1]) == pytest.approx(np.eye(6)[3], abs=0.05)
    variances = np.sort(np.linalg.eigvalsh(np.cov(spread.T)))[::-1]
    assert axes.explained == pytest.approx(tuple(variances[:2] / variances.sum()), abs=1e-3)


def test_the_same_vectors_in_another_order_have_the_same_axes() -> None:
    vectors = np.random.default_rng(4).normal(size=(50, 8)).astype(np.float32)
    one, other = principal_axes(vectors), principal_axes(vectors[::-1])
    assert one.directions == pytest.approx(other.directions, abs=1e-4)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_equal_vectors_have_one_place_and_no_variance(count: int) -> None:
    found = drawn(np.ones((count, 8), dtype=np.float32))
    assert found.explained == (0.0, 0.0)
    assert {(point.x, point.y) for point in found.points} == {(0.0, 0.0)}


def test_nothing_is_drawn_of_an_empty_collection() -> None:
    assert drawn(np.empty((0, 8), dtype=np.float32)) == PassageMap((), (0.0, 0.0), 0)


def test_vectors_of_any_length_lie_where_their_direction_is() -> None:
    vectors = np.random.default_rng(5).normal(size=(30, 8)).astype(np.float32)
    longer = vectors * np.linspace(1, 9, 30, dtype=np.float32)[:, np.newaxis]
    one, other = drawn(vectors, query=vectors[0]), drawn(longer, query=longer[0] * 3)
    places = [np.asarray([(point.x, point.y) for point in found.points]) for found in (one, other)]
    assert places[0] == pytest.approx(places[1], abs=1e-4)
    assert one.query == pytest.approx(other.query, abs=1e-4)
    assert one.query == pytest.approx((one.points[0].x, one.points[0].y), abs=1e-5)


def test_points_hold_the_beginning_of_a_passage_only() -> None:
    (point,) = drawn(np.ones((1, 4), dtype=np.float32)).points
    assert point.text.startswith("text p00000")
    assert len(point.text) == 240


def test_a_large_collection_is_read_in_pages_and_never_drawn_whole() -> None:
    store = Rows(np.random.default_rng(6).normal(size=(MOST_POINTS + 700, 4)).astype(np.float32))
    found = asyncio.run(passage_map(store, "c", 10**9))
    assert (len(found.points), found.total) == (MOST_POINTS, MOST_POINTS + 700)
    assert max(store.asked) <= 500


@given(st.integers(0, 60), st.integers(2, 40), st.lists(st.integers(0, 80), max_size=12))
def test_a_sample_holds_what_it_must_and_no_more_than_it_may(count: int, most: int, always: list[int]) -> None:
    ids = [PassageId(str(place)) for place in range(count)]
    wanted = [PassageId(str(place)) for place in always]
    kept = sampled(ids, most, wanted)
    assert len(kept) == len(set(kept)) == min(count, most)
    assert set(kept) <= set(ids)
    there = [item for item in dict.fromkeys(wanted) if item in set(ids)]
    assert set(there[:most]) <= set(kept)
    assert kept == sampled(ids, most, wanted)


def test_hits_are_drawn_whatever_the_sample_and_keep_their_order() -> None:
    vectors = np.random.default_rng(8).normal(size=(300, 4)).astype(np.float32)
    found = drawn(vectors, most=20, query=vectors[250], hits=["p00250", "p00003", "gone"])
    assert found.hits == ("p00250", "p00003")
    assert {"p00250", "p00003"} <= {point.id for point in found.points}
    assert len(found.points) == 20
