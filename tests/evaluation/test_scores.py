"""Retrieval measures against hand-made figures and a plain implementation."""

from __future__ import annotations

from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, nDCG

from engine.evaluation.scores import MAX_CUTOFF, Ranking, ranking_of, scores_of

met_lists = st.lists(st.lists(st.integers(0, 4), max_size=1), max_size=MAX_CUTOFF)


def test_a_right_passage_in_second_place_scores_as_worked_out_by_hand() -> None:
    scores = scores_of([ranking_of([(), (0,), (1,)], expected=2)])
    ideal = 1 + 1 / log2(3)
    assert scores.recall[0, :4].tolist() == [0.0, 0.0, 0.5, 1.0]
    assert scores.rr[0, :4].tolist() == [0.0, 0.0, 0.5, 0.5]
    assert scores.ndcg[0, 2] == pytest.approx((1 / log2(3)) / ideal)
    assert scores.ndcg[0, 3] == pytest.approx((1 / log2(3) + 1 / log2(4)) / ideal)


def test_several_passages_that_meet_one_expectation_count_once() -> None:
    scores = scores_of([ranking_of([(0,), (0,), (0,)], expected=2)])
    assert scores.recall[0].max() == 0.5


def test_one_passage_that_meets_several_expectations_meets_them_at_its_own_place() -> None:
    scores = scores_of([ranking_of([(), (0, 1), (2,)], expected=3)])
    assert scores.recall[0, 1:4].tolist() == pytest.approx([0.0, 2 / 3, 1.0])
    assert scores.rr[0, 2] == 0.5


def test_nothing_kept_and_nothing_met_score_zero() -> None:
    scores = scores_of([ranking_of([], expected=3), ranking_of([(), ()], expected=1)])
    assert scores.recall.max() == scores.rr.max() == scores.ndcg.max() == 0.0
    assert len(scores_of([])) == 0


@given(st.lists(met_lists, min_size=1, max_size=5))
def test_scores_are_those_of_a_plain_implementation(lists: list[list[list[int]]]) -> None:
    scores = scores_of([ranking_of(met, 5) for met in lists])
    for row, met in enumerate(lists):
        for k in range(MAX_CUTOFF + 1):
            found: set[int] = set()
            gain, first = 0.0, 0
            for place, indices in enumerate(met[:k], start=1):
                fresh = set(indices) - found
                found |= fresh
                gain += bool(fresh) / log2(place + 1)
                first = first or (place if fresh else 0)
            ideal = sum(1 / log2(place + 1) for place in range(1, min(k, 5) + 1))
            assert scores.recall[row, k] == pytest.approx(len(found) / 5)
            assert scores.rr[row, k] == pytest.approx(1 / first if first else 0.0)
            assert scores.ndcg[row, k] == pytest.approx(gain / ideal if ideal else 0.0)


@given(st.lists(met_lists, min_size=1, max_size=5))
def test_scores_are_those_of_ir_measures(lists: list[list[list[int]]]) -> None:
    cutoffs = range(1, MAX_CUTOFF + 1)
    measures = [RR, *(measure @ k for k in cutoffs for measure in (R, nDCG))]
    qrels = {str(row): {f"e{n}": 1 for n in range(5)} for row in range(len(lists))}
    scores = scores_of([ranking_of(met, 5) for met in lists])
    for row, met in enumerate(lists):
        names: dict[str, float] = {}
        for place, indices in enumerate(met):
            name = f"e{indices[0]}" if indices else f"unmet{place}"
            names[f"again{place}" if name in names else name] = float(-place)
        run = {str(row): names or {"none": 0.0}}
        found = {
            str(item.measure): item.value
            for item in ir_measures.pytrec_eval.iter_calc(measures, qrels, run)
            if item.query_id == str(row)
        }
        assert scores.recall[row, 1:] == pytest.approx([found[f"R@{k}"] for k in cutoffs])
        assert scores.ndcg[row, 1:] == pytest.approx([found[f"nDCG@{k}"] for k in cutoffs])
        assert scores.rr[row, MAX_CUTOFF] == pytest.approx(found["RR"])


def test_a_ranking_cannot_meet_more_than_there_is() -> None:
    with pytest.raises(ValueError, match="more"):
        Ranking(1, (1, 1))
    with pytest.raises(ValueError, match="at least one"):
        ranking_of([()], 0)
