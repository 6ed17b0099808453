"""Retrieval measures against hand-made figures and a plain implementation."""

from __future__ import annotations

from math import log2
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_many_rankings_take_one_call_of_the_library_and_equal_ones_are_worked_out_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    real = ir_measures.pytrec_eval.iter_calc

    def counted(measures: Any, qrels: Any, run: dict[str, Any]) -> Any:
        asked.append(len(run))
        return real(measures, qrels, run)

    monkeypatch.setattr(ir_measures.pytrec_eval, "iter_calc", counted)
    rankings = [Ranking(7, (0, 1, 1)), Ranking(7, (1,)), Ranking(7, (0, 1, 1))] * 50
    first, again = scores_of(rankings), scores_of(rankings)
    assert asked == [2]
    assert first.recall.tolist() == again.recall.tolist()


def test_a_ranking_cannot_meet_more_than_there_is() -> None:
    with pytest.raises(ValueError, match="more"):
        Ranking(1, (1, 1))
    with pytest.raises(ValueError, match="at least one"):
        ranking_of([()], 0)
