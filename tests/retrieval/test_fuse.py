"""Fusing the lists of several source kinds: QL-03."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import RunConfig
from engine.model.values import SOURCE_KINDS, Candidate, Passage, Routing, SourceKind
from engine.retrieval.fuse import Lists, fuse, listed, lists_of, quotas
from tests.support.loop_fakes import ALL_LISTS, a_list, passage

CONFIG = RunConfig(workflow="quality_loop")


def routing(wide: bool = False, **shares: float) -> Routing:
    return Routing("q", {kind: shares[kind] for kind in SOURCE_KINDS if kind in shares}, wide=wide)


def selected(candidates: Sequence[Candidate], config: RunConfig = CONFIG) -> list[str]:
    return [item.passage.id for item in candidates if item.rank <= config.top_k]


def test_places_follow_the_shares_and_ranks_the_reciprocal_ranks() -> None:
    """QL-03"""
    fused = fuse(ALL_LISTS, routing(vector=0.3, graph=0.2, temporal=0.5), CONFIG)
    chosen = selected(fused)
    assert sorted(chosen) == ["g1", "g2", "t1", "t2", "t3", "t4", "t5", "v1", "v2", "v3"]
    # First places are equal by reciprocal rank: the kind with the higher share leads.
    assert chosen[:6] == ["t1", "v1", "g1", "t2", "v2", "g2"]
    assert [item.rank for item in fused] == [*range(1, 11), *range(11, 37)]
    assert fused[0].fused == pytest.approx(1 / 61)


def test_another_routing_selects_other_passages() -> None:
    """QL-03"""
    plain = selected(fuse(ALL_LISTS, routing(vector=1.0), CONFIG))
    asked = selected(fuse(ALL_LISTS, routing(vector=0.5, temporal=0.5), CONFIG))
    assert all(name.startswith("v") for name in plain)
    assert sum(name.startswith("t") for name in asked) == 5


def test_without_a_wider_scope_a_place_is_kept_for_its_kind_and_may_be_lost_at_the_gate() -> None:
    """QL-03"""
    lists: Lists = {"vector": a_list("vector"), "temporal": (passage("t1", 0.1), passage("t2", 0.05))}
    narrow = fuse(lists, routing(vector=0.5, temporal=0.5), CONFIG)
    assert sorted(selected(narrow)) == ["t1", "t2", "v1", "v2", "v3", "v4", "v5"]
    assert [item.gate for item in narrow if item.passage.id == "t1"] == ["below_threshold"]
    assert sum(item.gate == "kept" for item in narrow) == 5


def test_a_wider_scope_gives_free_places_to_the_best_of_the_rest() -> None:
    """QL-03"""
    lists: Lists = {"vector": a_list("vector"), "temporal": (passage("t1", 0.9), passage("t2", 0.05))}
    wide = fuse(lists, routing(wide=True, vector=0.5, temporal=0.5), CONFIG)
    assert sum(item.gate == "kept" for item in wide) == 10
    assert sum(name.startswith("v") for name in selected(wide)) == 9
    assert next(item for item in wide if item.passage.id == "t2").rank > CONFIG.top_k


def test_a_passage_of_two_lists_adds_its_ranks_and_counts_once() -> None:
    """QL-03"""
    both = passage("both", 0.9)
    lists: Lists = {"vector": (passage("v1"), both), "graph": (both, passage("g1"))}
    fused = fuse(lists, routing(vector=0.5, graph=0.5), CONFIG)
    assert fused[0].passage.id == "both"
    assert fused[0].kind == "graph"
    assert fused[0].found_at == {"vector": 2, "graph": 1}
    assert fused[0].fused == pytest.approx(1 / 61 + 1 / 62)
    assert len(fused) == 3


def test_a_list_that_names_a_passage_twice_has_it_once() -> None:
    twice = (passage("v1", 0.9), passage("v2", 0.8), passage("v1", 0.9))
    assert [item.passage.id for item in listed({"vector": twice}, CONFIG)] == ["v1", "v2"]


def test_a_search_leaves_the_lists_one_after_the_other() -> None:
    """QL-03"""
    found = listed({"temporal": a_list("temporal", 2), "vector": a_list("vector", 2)}, CONFIG)
    assert [(item.passage.id, item.rank, item.kind, dict(item.found_at)) for item in found] == [
        ("v1", 1, "vector", {"vector": 1}),
        ("v2", 2, "vector", {"vector": 2}),
        ("t1", 3, "temporal", {"temporal": 1}),
        ("t2", 4, "temporal", {"temporal": 2}),
    ]


def test_the_largest_remainders_get_what_rounding_leaves() -> None:
    """QL-03"""
    assert quotas({"vector": 1, "graph": 1, "temporal": 1}, 10) == {"vector": 4, "graph": 3, "temporal": 3}
    assert quotas({"vector": 0.375, "graph": 0.125, "temporal": 0.5}, 10) == {"vector": 4, "graph": 1, "temporal": 5}
    assert quotas({"vector": 0.3, "temporal": 0.7}, 10) == {"vector": 3, "temporal": 7}
    assert quotas({}, 10) == {}


SHARES = st.dictionaries(st.sampled_from(SOURCE_KINDS), st.floats(0.01, 1), min_size=1)


@st.composite
def lists(draw: st.DrawFn) -> Mapping[SourceKind, tuple[Passage, ...]]:
    names = st.lists(st.integers(0, 15), max_size=12, unique=True)
    made: dict[SourceKind, tuple[Passage, ...]] = {}
    for kind in draw(st.sets(st.sampled_from(SOURCE_KINDS))):
        # A passage has one similarity to one query, whichever list it stands in; lists are best first.
        found = [passage(f"p{number}", round((number * 7 % 16) / 15, 3)) for number in draw(names)]
        made[kind] = tuple(sorted(found, key=lambda item: -item.similarity))
    return made


@given(SHARES, st.integers(1, 20))
def test_places_always_sum_to_the_whole(shares: dict[SourceKind, float], places: int) -> None:
    """QL-03"""
    given_places = quotas(shares, places)
    assert sum(given_places.values()) == places
    total = sum(shares.values())
    assert all(abs(count - places * shares[kind] / total) < 1 for kind, count in given_places.items())


@given(lists(), SHARES, st.booleans(), st.integers(1, 20), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_no_passage_is_lost_and_every_rank_is_used_once(
    found: Mapping[SourceKind, tuple[Passage, ...]],
    shares: dict[SourceKind, float],
    wide: bool,
    top_k: int,
    threshold: float,
) -> None:
    """QL-03"""
    config = RunConfig(workflow="quality_loop", top_k=top_k, similarity_threshold=threshold)
    chosen = Routing("q", shares, wide=wide)
    fused = fuse(found, chosen, config)
    distinct = {item.id for items in found.values() for item in items}
    assert {item.passage.id for item in fused} == distinct
    assert len(fused) == len(distinct)
    ranks = [item.rank for item in fused]
    assert ranks == sorted(set(ranks))
    within = [rank for rank in ranks if rank <= top_k]
    assert within == list(range(1, len(within) + 1))
    assert [rank for rank in ranks if rank > top_k] == list(range(top_k + 1, top_k + 1 + len(ranks) - len(within)))
    for item in fused:
        expected = "beyond_top_k" if item.rank > top_k else "kept"
        below = item.passage.similarity < threshold
        assert item.gate == ("below_threshold" if expected == "kept" and below else expected)
    if wide:
        near = sum(1 for name in distinct if _similarity(found, name) >= threshold)
        assert sum(item.gate == "kept" for item in fused) == min(near, top_k)
    assert lists_of(fused) == {kind: items for kind, items in found.items() if items}
    assert fuse(lists_of(fused), chosen, config) == fused


def _similarity(found: Mapping[SourceKind, tuple[Passage, ...]], name: str) -> float:
    return next(item.similarity for items in found.values() for item in items if item.id == name)
