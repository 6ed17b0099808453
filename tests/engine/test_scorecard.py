"""What a rewrite was worth: figures before and after, passages that came and went, and the rule behind the label."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.events import fold_all
from engine.model.values import Decision, PassageId, Routing, RunRecord
from engine.replay.scorecard import distance_between, scorecard
from tests.components.sample_run import sample_record
from tests.support.recorded import recorded_run


def with_rates(record: RunRecord, *passed: int) -> RunRecord:
    decisions = tuple(
        replace(decision, passed=count, kept=5) for decision, count in zip(record.decisions, passed, strict=True)
    )
    return replace(record, decisions=decisions)


def without_new_passes(record: RunRecord) -> RunRecord:
    """The second round finds what the first one found."""
    first, second = record.rounds
    return replace(record, rounds=(first, replace(second, candidates=first.candidates, verdicts=first.verdicts)))


def test_a_rewrite_that_brings_passing_passages_helped() -> None:
    (score,) = scorecard(sample_record())
    assert score.effect == "helped"
    assert score.pass_rate == (0.25, 0.6)
    assert score.similarity == (0.52, 0.71)
    assert score.gained == (PassageId("symptoms"), PassageId("alarm"))
    assert score.lost == (PassageId("hostile"),)
    assert (score.gained_passing, score.lost_passing) == (2, 0)


@pytest.mark.parametrize(("rates", "effect"), [((2, 2), "none"), ((2, 1), "harmed"), ((1, 2), "helped")])
def test_without_new_passages_the_pass_rate_decides(rates: tuple[int, int], effect: str) -> None:
    record = with_rates(without_new_passes(sample_record()), *rates)
    (score,) = scorecard(record)
    assert score.effect == effect


def test_a_round_that_was_never_decided_has_no_effect_to_tell() -> None:
    record = sample_record()
    cut: tuple[Decision, ...] = record.decisions[:1]
    (score,) = scorecard(replace(record, decisions=cut))
    assert score.effect is None and score.pass_rate is None


def test_terms_of_the_question_are_kept_lost_or_added() -> None:
    (score,) = scorecard(sample_record())
    assert "感觉" in score.terms_kept
    assert {"症状", "口渴", "多尿"} <= set(score.terms_added)
    assert not set(score.terms_kept) & set(score.terms_lost)


def test_what_a_query_asks_of_the_router_is_no_term_that_the_rewrite_added() -> None:
    """QL-04: the words that name kinds of sources are not searched, and not measured against the question either."""
    record = sample_record()
    (plain,) = scorecard(record)
    first, second = record.rounds
    directed = replace(record.rewrites[0], rewritten_query=f"{record.question}（检索多个来源；扩大检索范围）")
    routed = replace(second, routing=Routing(record.question, {"vector": 1.0}))
    (score,) = scorecard(replace(record, rewrites=(directed,), rounds=(first, routed)))
    assert plain.terms_added and plain.distance > 0
    assert not any("检索" in term or "范围" in term for term in score.terms_added)
    assert score.distance == 0


def test_every_recorded_rewrite_gets_a_score() -> None:
    record = fold_all(recorded_run(3, "answered_forced"))
    scores = scorecard(record)
    assert [score.rewrite for score in scores] == list(record.rewrites)
    assert all(0 <= score.distance <= 1 for score in scores)


@given(st.text(), st.text())
def test_the_distance_is_symmetric_and_0_for_the_same_wording(one: str, other: str) -> None:
    assert 0 <= distance_between(one, other) == distance_between(other, one) <= 1
    assert distance_between(one, one) == 0
    assert distance_between("Early signs?", "early  SIGNS") == 0
