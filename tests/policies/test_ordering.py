"""The order of graph + vector retrieval as pure functions: GH-04 and GH-08."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import Mode, RunConfig
from engine.model.decide import gate_in
from engine.model.values import RETRIEVAL_LISTS, Candidate, Passage, PassageId, RetrievalList
from engine.retrieval.graph_options import GraphOptions
from engine.retrieval.ordering import (
    LEAST_SHARE,
    Found,
    freshness_of,
    lists_of,
    order,
    repeated_shares,
    rerank_window,
    reranks,
    rescored,
)

Lists = Mapping[RetrievalList, Sequence[Found]]

SENTENCE = "Rapid-acting insulin is injected into the abdomen, where it is taken up fastest. "


def config(top_k: int = 5, similarity_threshold: float = 0.0, probe_k: int = 20, **options: Any) -> RunConfig:
    # No threshold but those that a test sets.
    options = {"rerank_threshold": 0.0, **options}
    return RunConfig(
        workflow="graph_hybrid",
        top_k=top_k,
        similarity_threshold=similarity_threshold,
        probe_k=probe_k,
        options=GraphOptions(**options),
    )


def found(
    name: str, similarity: float = 0.5, graph: float | None = None, text: str = "", dated: str = "", via: str = ""
) -> Found:
    passage = Passage(
        PassageId(name), f"{name}.md", text or f"{name}: {name * 9}.", similarity, similarity, dated=dated
    )
    return Found(passage, graph, (via,) if via else ())


def ids(candidates: Sequence[Candidate]) -> list[str]:
    return [item.passage.id for item in candidates]


def gates(candidates: Sequence[Candidate]) -> dict[str, str]:
    return {item.passage.id: item.gate for item in candidates}


def test_one_list_keeps_its_order_and_a_place_in_two_lists_counts_more_than_in_one() -> None:
    """GH-04"""
    vector = [found("a", 0.9), found("b", 0.8), found("c", 0.7)]
    assert ids(order({"vector": vector}, config())) == ["a", "b", "c"]
    local = [found("c", 0.7, 0.9, via="insulin"), found("d", 0.1, 0.8)]
    both = order({"vector": vector, "local": local}, config())
    assert ids(both)[0] == "c" and set(ids(both)) == {"a", "b", "c", "d"}
    assert both[0].found_in == {"vector": 3, "local": 1} and both[0].via == ("insulin",)
    assert [item.places["fused"] for item in both] == [1, 2, 3, 4]


def test_the_share_of_the_graph_says_which_list_leads() -> None:
    """GH-02"""
    lists: Lists = {"vector": [found("v", 0.9)], "local": [found("g", 0.1, 0.9)]}
    assert ids(order(lists, config(graph_weight=0.9)))[0] == "g"
    assert ids(order(lists, config(graph_weight=0.1)))[0] == "v"
    # Where the graph stands alone there is nothing to share with.
    alone: Lists = {"local": [found("g", 0.1, 0.9), found("h", 0.9, 0.5)]}
    assert ids(order(alone, config(graph_weight=0.0))) == ["g", "h"]


def test_a_near_duplicate_is_pushed_below_everything_that_is_none_and_names_what_it_repeats() -> None:
    """GH-04: and what holds more than a passage above it is no duplicate of it."""
    text = SENTENCE * 3 + "It acts within fifteen minutes."
    lists: Lists = {
        "vector": [
            found("first", text=text),
            found("copy", text=text.replace("fastest", "quickest", 1)),
            found("longer", text=text + "The thigh is slower, and the upper arm lies between the two of them. " * 3),
            found("other"),
        ]
    }
    ranked = order(lists, config())
    assert ids(ranked) == ["first", "longer", "other", "copy"]
    assert [item.duplicate_of for item in ranked] == [None, None, None, "first"]
    assert ids(order(lists, config(duplicate_threshold=1.0)))[1] == "copy"


def test_of_what_is_about_as_relevant_the_newer_comes_first_and_dates_are_not_needed() -> None:
    """GH-04"""
    lists: Lists = {
        "vector": [found("old", dated="2023-01-05"), found("new", dated="2024-11-30T08:00:00Z"), found("undated")]
    }
    assert ids(order(lists, config())) == ["new", "old", "undated"]
    assert ids(order(lists, config(freshness_weight=0.0))) == ["old", "new", "undated"]
    assert [item.freshness for item in order(lists, config(freshness_weight=0.0))] == [0.0, 1.0, None]


def test_a_far_better_passage_is_not_overtaken_by_a_new_one() -> None:
    """GH-04: relevance first."""
    many = [found(f"p{place}") for place in range(10)]
    lists: Lists = {"vector": [*many, found("new", dated="2025-01-01"), found("old", dated="2020-01-01")]}
    assert ids(order(lists, config()))[0] == "p0"


@pytest.mark.parametrize(
    ("dated", "expected"),
    [("2024", 0.0), ("2025-01", 1.0), ("2024-07-02", 0.5), ("last spring", None), ("", None), ("0000-13", None)],
)
def test_a_date_may_be_a_year_a_month_a_day_or_nothing_readable(dated: str, expected: float | None) -> None:
    """GH-04"""
    passages = [found("x", dated=dated), found("from", dated="2024-01-01"), found("to", dated="2025-01-01T00:00:00")]
    fresh = freshness_of([item.passage for item in passages]).get(PassageId("x"))
    assert fresh == (expected if expected is None else pytest.approx(expected, abs=0.01))


def test_each_stage_has_a_threshold_of_its_own_and_similarity_never_cuts_what_the_graph_found() -> None:
    """GH-04"""
    lists: Lists = {
        "vector": [found("near", 0.9), found("far", 0.1)],
        "local": [found("chain", 0.05, 0.6), found("loose", 0.9, 0.2)],
    }
    strict = config(similarity_threshold=0.3, graph_threshold=0.5, top_k=20)
    assert gates(order(lists, strict)) == {
        "near": "kept",
        "far": "below_threshold",
        "chain": "kept",
        "loose": "below_graph",
    }
    attached = order({"attachment": [found("photo", 0.05)]}, strict)
    assert gates(attached) == {"photo": "kept"}
    scores = {PassageId(name): 0.1 for name in ("near", "far", "chain", "loose")}
    again = rescored(order(lists, strict), scores, strict)
    assert gates(again)["near"] == "kept"
    cut = config(similarity_threshold=0.3, graph_threshold=0.5, top_k=20, rerank_threshold=0.2)
    assert gates(rescored(order(lists, cut), scores, cut))["near"] == "below_rerank"


def test_scores_are_non_increasing_and_what_has_none_follows_in_its_former_order() -> None:
    """GH-04"""
    lists: Lists = {"vector": [found(name) for name in "abcde"]}
    three = config(rerank_k=3)
    before = order(lists, three)
    assert ids(rerank_window(before, three)) == ["a", "b", "c"]
    after = rescored(before, {PassageId(n): s for n, s in zip("abce", (0.2, 0.9, 0.5, 1.0), strict=True)}, three)
    assert ids(after) == ["b", "c", "a", "d", "e"]
    assert [item.rerank_score for item in after] == [0.9, 0.5, 0.2, None, None]
    assert [item.places["reranked"] for item in after] == [1, 2, 3, 4, 5]
    assert [item.places["ranked"] for item in after] == [2, 3, 1, 4, 5]
    assert rescored(before, {}, three) == before


def test_a_near_duplicate_is_not_scored_and_does_not_outlive_the_threshold_that_may_cut_its_original() -> None:
    """GH-04"""
    lists: Lists = {"vector": [found("a", text=SENTENCE * 4), found("copy", text=SENTENCE * 4), found("z")]}
    strict = config(rerank_threshold=0.5)
    assert ids(rerank_window(order(lists, strict), strict)) == ["a", "z"]
    scores = {PassageId("a"): 0.4, PassageId("z"): 0.9, PassageId("copy"): 0.99}
    after = rescored(order(lists, strict), scores, strict)
    assert ids(after) == ["z", "a", "copy"] and after[2].rerank_score is None
    assert gates(after) == {"z": "kept", "a": "below_rerank", "copy": "below_rerank"}
    assert gates(rescored(order(lists, config()), scores, config()))["copy"] == "kept"


@pytest.mark.parametrize("mode", get_args(Mode))
def test_hybrid_and_mix_are_scored_again_unless_the_config_says_otherwise(mode: Mode) -> None:
    """GH-02, GH-04"""
    assert reranks(mode, config()) == (mode in ("hybrid", "mix"))
    assert reranks(mode, config(rerank="always")) and not reranks(mode, config(rerank="never"))


def test_likeness_looks_at_letters_and_is_one_sided() -> None:
    """GH-04"""

    def repeated_share(text: str, other: str) -> float:
        return repeated_shares((text, other)).get((0, 1), 0.0)

    assert repeated_share("Insulin lowers BLOOD sugar!", "insulin lowers  blood sugar, and much else besides") == 1.0
    assert repeated_share("insulin lowers blood sugar, and much else besides", "Insulin lowers blood sugar") < 0.6
    assert repeated_share("胰岛素降低血糖。", "胰岛素降低血糖") == 1.0
    assert repeated_share("…", "!") == 0.0 and repeated_share("", "") == 1.0
    texts = (SENTENCE * 2, "Nothing of the kind, in other words altogether.", SENTENCE)
    assert repeated_shares(texts) == {(0, 2): 1.0, (2, 0): pytest.approx(1.0, abs=0.1)} | {
        pair: share for pair, share in repeated_shares(texts).items() if share >= LEAST_SHARE
    }


_names = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=8)
_scores = st.sampled_from([0.0, 0.2, 0.5, 0.9])
_texts = {name: (SENTENCE * 3 if name in "aei" else "") for name in "abcdefghij"}
_dates = {"b": "2024-01-01", "c": "2025-06-01", "d": "2023"}


@st.composite
def all_lists(draw: st.DrawFn) -> Lists:
    """Lists in which one passage is everywhere the same, as the engine makes them."""
    drawn: dict[RetrievalList, list[Found]] = {}
    similarity = {name: draw(_scores) for name in "abcdefghij"}
    for kind in RETRIEVAL_LISTS:
        of_graph = kind in ("local", "global")
        drawn[kind] = [
            found(name, similarity[name], 0.5 if of_graph else None, _texts[name], _dates.get(name, ""))
            for name in draw(_names)
        ]
    return drawn


@st.composite
def configs(draw: st.DrawFn) -> RunConfig:
    return config(
        top_k=draw(st.integers(1, 10)),
        similarity_threshold=draw(_scores),
        probe_k=draw(st.sampled_from([2, 5, 20])),
        graph_weight=draw(st.sampled_from([0.0, 0.3, 1.0])),
        graph_threshold=draw(_scores),
        rerank_k=draw(st.integers(1, 10)),
        rerank_threshold=draw(_scores),
        duplicate_threshold=draw(st.sampled_from([0.5, 0.9, 1.0])),
        freshness_weight=draw(st.sampled_from([0.0, 0.1, 1.0])),
    )


@given(all_lists(), configs(), configs())
def test_ordering_the_recorded_candidates_again_is_ordering_the_lists(
    lists: Lists, recorded: RunConfig, asked: RunConfig
) -> None:
    """GH-04: what a what-if is based on; a list that was recorded to some depth tells every shallower one."""
    candidates = order(lists, recorded)
    if asked.fetch_k <= recorded.fetch_k:
        assert order(lists_of(candidates), asked) == order(lists, asked)
    scores = {item.passage.id: 0.5 for item in candidates}
    after = rescored(candidates, scores, recorded)
    assert order(lists_of(after), recorded) == candidates


@given(all_lists(), configs(), st.dictionaries(st.sampled_from([PassageId(n) for n in "abcdefghij"]), _scores))
def test_nothing_is_lost_and_every_stage_keeps_its_promise(
    lists: Lists, chosen: RunConfig, scores: Mapping[PassageId, float]
) -> None:
    """GH-04, GH-08"""
    before = order(lists, chosen)
    depths = {name: None if name == "attachment" else chosen.fetch_k for name in lists}
    assert sorted(ids(before)) == sorted({item.passage.id for name in lists for item in lists[name][: depths[name]]})
    for candidates in (before, rescored(before, scores, chosen)):
        assert [item.rank for item in candidates] == list(range(1, len(candidates) + 1))
        assert all(item.gate == gate_in(item, chosen) for item in candidates)
        repeating = [item.duplicate_of is not None for item in candidates]
        assert repeating == sorted(repeating)
        given_scores = [item.rerank_score for item in candidates if item.rerank_score is not None]
        assert given_scores == sorted(given_scores, reverse=True)
        assert all(score >= 0 for score in given_scores) and all(item.fused >= 0 for item in candidates)


@given(all_lists(), st.integers(1, 10))
def test_without_a_threshold_as_many_are_kept_as_were_asked_for_where_there_are_so_many(
    lists: Lists, top_k: int
) -> None:
    """GH-08"""
    candidates = order(lists, config(top_k=top_k))
    scores = {item.passage.id: 0.0 for item in candidates}
    kept = [item for item in rescored(candidates, scores, config(top_k=top_k)) if item.gate == "kept"]
    attached = {item.passage.id for item in candidates if "attachment" in item.found_in}
    assert len([item for item in kept if item.rank <= top_k]) == min(top_k, len(candidates))
    assert {item.passage.id for item in kept if item.rank > top_k} <= attached <= {item.passage.id for item in kept}


@given(all_lists(), configs(), st.dictionaries(st.sampled_from([PassageId(n) for n in "abcdefghij"]), _scores))
def test_what_was_attached_is_kept_by_every_gate(
    lists: Lists, chosen: RunConfig, scores: Mapping[PassageId, float]
) -> None:
    """GH-05"""
    before = order(lists, chosen)
    for candidates in (before, rescored(before, scores, chosen)):
        kept = {item.passage.id for item in candidates if item.gate == "kept"}
        assert {item.passage.id for item in lists["attachment"]} <= kept


@given(all_lists(), configs())
def test_what_fills_places_stays_below_what_the_mode_found(lists: Lists, chosen: RunConfig) -> None:
    """GH-08"""
    assert isinstance(chosen.options, GraphOptions)
    candidates = order(lists, replace(chosen, options=replace(chosen.options, freshness_weight=0.0)))
    distinct = [item for item in candidates if item.duplicate_of is None]
    filling = [item.found_in.keys() == {"near"} for item in distinct]
    assert filling == sorted(filling)
    assert not any(item.found_in.keys() == {"near"} for item in rerank_window(candidates, chosen))
