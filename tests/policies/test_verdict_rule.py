"""Which verdicts pass: SC-03."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.grader_bench import Pair
from engine.model.config import RunConfig
from engine.model.decide import Evidence, decide, gated
from engine.model.events import PassageGraded
from engine.model.values import BY_HAND, Passage, PassageId, Round, Verdict
from engine.records.codec import event_from_json, event_to_json, record_from_dict
from engine.replay import what_if
from engine.replay.grid import paths
from engine.replay.settings import SettingsGrid
from engine.replay.table import run_table
from tests.engine.whatif.world import World, run_in

TIE = Verdict(False, 0.5, "The passage does not provide any information.", grader="ollama:small")
"""What a real small model says of a passage that does not help."""
FOUND = tuple(Passage(PassageId(f"p{place}"), "a.md", "text", 0.9 - place / 10, 0.9) for place in range(3))
bars = st.integers(0, 10_000).map(lambda part: part / 10_000)


@given(st.floats(0, 1), bars)
def test_a_no_never_passes_from_a_bar_of_one_half_on(confidence: float, bar: float) -> None:
    """SC-03: below it the cut is on P(relevant)."""
    verdict = Verdict(False, confidence, "")
    assert verdict.passes(bar) == (bar < 0.5 and round(1 - confidence, 9) >= bar)


@given(st.floats(0, 1), bars)
def test_a_yes_passes_where_its_confidence_reaches_the_bar(confidence: float, bar: float) -> None:
    """SC-03"""
    assert Verdict(True, confidence, "").passes(bar) == (round(confidence, 9) >= bar)


@given(bars)
def test_what_cannot_be_read_never_passes(bar: float) -> None:
    """SC-03: not at a bar of 0 either."""
    assert not Verdict(None, 0.0, "").passes(bar)


def test_three_undecided_noes_do_not_meet_the_gate() -> None:
    """SC-03, SC-04: a run whose grader says no three times is not answered."""
    judged = Round(0, "q", gated(FOUND, RunConfig()), verdicts={item.id: TIE for item in FOUND})
    made = decide(Evidence((judged,)), RunConfig(gate="pass_rate"))
    assert (made.passed, made.kept, made.route) == (0, 3, "rewrite")


def test_a_what_if_and_the_grid_hold_the_same_noes_back() -> None:
    """SC-03: at 0.5 none passes, at 0.4999 all do, whichever way it is computed."""
    world = World(found=((*((place, 0.9) for place in range(3)),),), verdicts=(TIE,) * 3, rewriting=("repeated",))
    recorded = run_in(world, RunConfig(gate="pass_rate", max_rewrites=0))
    values = [0.4, 0.4999, 0.5, 0.6]
    every = paths(run_table(recorded), SettingsGrid.product(recorded.config, {"min_confidence": values}))
    assert every.passed.tolist() == [3, 3, 0, 0]
    for value, passed in zip(values, every.passed, strict=True):
        assert what_if(recorded, replace(recorded.config, min_confidence=value)).decisions[-1].passed == passed


def test_a_pair_of_the_grader_bench_passes_as_its_verdict_does() -> None:
    """SC-03"""
    pair = Pair("case", "?", PassageId("p"), TIE.p_relevant, False, reach=TIE.reach)
    assert pair.passes(0.4)
    assert not pair.passes(0.5)


def test_an_older_record_keeps_the_rule_that_decided_it() -> None:
    """SC-03: written before verdicts named their policy, so that it passes as it did."""
    stored = json.loads(event_to_json(PassageGraded(round=0, passage_id=PassageId("p0"), verdict=TIE)))
    assert stored["verdict"].pop("policy") == 2
    older = event_from_json(json.dumps(stored))
    assert isinstance(older, PassageGraded)
    assert older.verdict == replace(TIE, policy=1)
    assert older.verdict.passes(0.5)
    assert not older.verdict.held_back(0.5)


def test_an_exported_record_keeps_the_rule_that_decided_it() -> None:
    """SC-03"""
    world = World(found=(((0, 0.9),),), verdicts=(TIE,), rewriting=("repeated",))
    plain = run_in(world, RunConfig(max_rewrites=0)).to_dict()
    assert not next(iter(record_from_dict(plain).rounds[0].verdicts.values())).passes(0.5)
    del plain["rounds"][0]["verdicts"]["p00"]["policy"]
    assert next(iter(record_from_dict(plain).rounds[0].verdicts.values())).passes(0.5)


@pytest.mark.parametrize("reason", ['"policy":2', 'policy":2'])
def test_a_reason_that_names_a_policy_is_not_taken_for_one(reason: str) -> None:
    """SC-03"""
    event = PassageGraded(round=0, passage_id=PassageId("p0"), verdict=replace(TIE, reason=reason, policy=1))
    stored = json.loads(event_to_json(event))
    del stored["verdict"]["policy"]
    read = event_from_json(json.dumps(stored, separators=(",", ":")))
    assert isinstance(read, PassageGraded)
    assert read.verdict.policy == 1


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        (Verdict(True, 0.9, ""), "builtin"),
        (Verdict(True, 0.9, "", grader="ollama:small"), "said"),
        (Verdict(True, 0.9, "", grader="ollama:small", raw=2.2, kind="token"), "token"),
        (Verdict(True, 0.9, "", grader="cross_encoder:mini"), "score"),
        (Verdict(True, 0.9, "", grader="rerank:bge", raw=2.2), "score"),
        (Verdict(True, 1.0, "", grader=BY_HAND), "said"),
    ],
    ids=["built-in", "chat", "token", "cross encoder", "rerank server", "reader"],
)
def test_a_verdict_says_what_its_probability_is_and_an_older_one_what_it_was(verdict: Verdict, kind: str) -> None:
    """BE-03"""
    stored = json.loads(event_to_json(PassageGraded(round=0, passage_id=PassageId("p0"), verdict=verdict)))
    assert stored["verdict"]["kind"] == kind
    read = event_from_json(json.dumps(stored))
    assert isinstance(read, PassageGraded)
    assert read.verdict == verdict
    del stored["verdict"]["kind"]
    older = event_from_json(json.dumps(stored))
    assert isinstance(older, PassageGraded)
    assert older.verdict.kind == (kind if kind != "token" else "score")
