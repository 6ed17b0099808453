"""Branches of runs in which something failed: a reply is evidence, a failure is tried again (SC-03, SC-04, SC-06)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.errors import ModelError
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import Comparison, PassageId, RunRecord
from engine.replay import what_if
from engine.replay.fork import fork_price
from tests.api.served import engine_of
from tests.engine import forking
from tests.support.fakes import FakeGrader, FakeResources, FakeRewriter

# The fakes report chat calls, so prices are those of chat models.
CHAT = RoleModel("ollama:fake")
CONFIG = RunConfig(gate="pass_rate", models=RoleModels(grader=CHAT, rewriter=CHAT, generator=CHAT))
DOWN = ModelError.ollama_unreachable(address="http://127.0.0.1:1")


@pytest.fixture
def fakes() -> FakeResources:
    return FakeResources(grader=FakeGrader(relevant=frozenset({"p1"})))


@pytest.fixture
def engine(fakes: FakeResources, tmp_path: Path) -> Iterator[Engine]:
    with engine_of(tmp_path, fakes) as opened:
        yield opened


def forked(engine: Engine, parent: RunRecord, config: RunConfig = CONFIG, **changes: object) -> RunRecord:
    return forking.forked(engine, parent, config, **changes)


def test_an_unreadable_verdict_is_a_reply_and_is_not_asked_for_again(engine: Engine, fakes: FakeResources) -> None:
    """SC-03"""
    fakes.grader.unreadable = frozenset({"p2"})
    parent = engine.run("first", replace(CONFIG, max_rewrites=0))
    asked = len(fakes.grader.asked)
    fakes.grader.unreadable = frozenset()
    branch = forked(engine, parent, replace(CONFIG, max_rewrites=0))
    assert len(fakes.grader.asked) == asked
    assert branch.rounds == parent.rounds
    assert branch.decisions == parent.decisions


def test_a_verdict_that_could_be_read_later_is_that_of_its_own_round(engine: Engine, fakes: FakeResources) -> None:
    """SC-03: round 0 had no readable verdict of p2, round 1 had."""
    fakes.grader.unreadable = frozenset({"p2"})
    fakes.grader.errors = [None, None]
    fakes.rewriter = FakeRewriter(queries=("second",))
    parent = engine.run("first", replace(CONFIG, max_rewrites=1))
    read = {PassageId("p2"): parent.rounds[0].verdicts[PassageId("p1")]}
    changed = replace(parent.rounds[1], verdicts={**parent.rounds[1].verdicts, **read})
    parent = replace(parent, rounds=(parent.rounds[0], changed))
    branch = forked(engine, parent, parent.config)
    assert [item.verdicts for item in branch.rounds] == [item.verdicts for item in parent.rounds]


def test_a_failed_rewrite_before_the_branch_stands_and_one_after_it_is_tried_again(
    engine: Engine, fakes: FakeResources
) -> None:
    """SC-06"""
    fakes.rewriter.error = DOWN
    parent = engine.run("first", CONFIG)
    assert parent.decisions[-1].reason == "rewriter_failed"
    fakes.rewriter = FakeRewriter()
    stands = forked(engine, parent, round=1)
    assert stands.rewrites == parent.rewrites
    assert stands.decisions == parent.decisions
    price = fork_price(parent, CONFIG)
    assert price.next.calls == 1
    again = forked(engine, parent)
    assert not again.rewrites[0].failed
    assert again.rounds[1].query == "second"
    assert what_if(again, CONFIG).same_path


def test_a_query_by_hand_gets_past_a_rewriter_that_failed(engine: Engine, fakes: FakeResources) -> None:
    """SC-06"""
    fakes.rewriter.error = DOWN
    parent = engine.run("first", CONFIG)
    branch = forked(engine, parent, replace(CONFIG, max_rewrites=1), round=1, query="by hand")
    assert fakes.retriever.queries[-1] == "by hand"
    assert branch.rounds[1].searched
    assert branch.decisions[-1].reason == "max_rewrites"


def test_a_rewrite_that_repeated_itself_does_so_again_without_being_asked(engine: Engine, fakes: FakeResources) -> None:
    """SC-06"""
    fakes.rewriter = FakeRewriter(queries=("first",))
    parent = engine.run("first", CONFIG)
    assert parent.decisions[-1].reason == "repeated_rewrite"
    asked = len(fakes.rewriter.requests)
    branch = forked(engine, parent, replace(CONFIG, top_k=4, grade_pass_threshold=0.9))
    assert len(fakes.rewriter.requests) == asked + 2, "other passages had failed, so it is another request"
    branch = forked(engine, parent, replace(CONFIG, grade_pass_threshold=0.9))
    assert len(fakes.rewriter.requests) == asked + 2
    assert branch.decisions[-1].reason == "repeated_rewrite"
    assert branch.rewrites == parent.rewrites


def test_a_proposal_that_was_refused_is_refused_again_and_the_next_one_taken(
    engine: Engine, fakes: FakeResources
) -> None:
    """SC-06"""
    fakes.rewriter = FakeRewriter(queries=("first", "second"))
    parent = engine.run("first", replace(CONFIG, max_rewrites=1))
    assert parent.rewrites[0].refused == ("first",)
    branch = forked(engine, parent, replace(CONFIG, max_rewrites=1))
    assert len(fakes.rewriter.requests) == 2
    assert branch.rewrites == parent.rewrites
    assert sum(call.role == "rewriter" for call in branch.model_calls) == 2


def test_passages_that_an_unreachable_grader_left_out_are_graded_now(engine: Engine, fakes: FakeResources) -> None:
    """SC-04"""
    fakes.retriever.hits = {"second": {"p6": 0.9, "p7": 0.8}}
    fakes.grader.errors = [None, DOWN]
    parent = engine.run("first", CONFIG)
    assert parent.decisions[-1].reason == "grader_unavailable"
    price = fork_price(parent, CONFIG, 1)
    branch = forked(engine, parent, replace(CONFIG, max_rewrites=1), round=1)
    assert fakes.grader.asked[-1] == ("first", ["p6", "p7"])
    assert price.next.calls >= 2
    assert branch.decisions[0] == parent.decisions[0]
    assert branch.decisions[1].reason == "max_rewrites"


def test_what_the_deadline_or_a_stop_left_undone_is_done_in_the_branch_which_has_time_of_its_own(
    engine: Engine, fakes: FakeResources
) -> None:
    """SC-04, SC-13"""
    config = replace(CONFIG, max_rewrites=0)
    whole = engine.run("first", config)
    judged = {name: item for name, item in whole.rounds[0].verdicts.items() if name in ("p1", "p2")}
    over = replace(whole.decisions[0], reason="deadline", comparisons=(Comparison("elapsed_s", 121, ">=", 120),))
    late = replace(whole, rounds=(replace(whole.rounds[0], verdicts=judged),), decisions=(over,))
    stopped = replace(late, decisions=(), context=None, answer="", outcome="cancelled", reason="cancelled")
    for parent in (late, stopped):
        price = fork_price(parent, config)
        branch = forked(engine, parent, config)
        assert fakes.grader.asked[-1] == ("first", ["p3", "p4", "p5"])
        assert branch.decisions == whole.decisions
        assert branch.answer == whole.answer
        paid = [call.role for call in branch.model_calls if not call.cached]
        # No one knows beforehand whether these verdicts meet the gate, so the answer is counted at worst alone.
        assert (price.next.calls, price.worst.calls) == (3, 4)
        # The first still has its answer, and what the generator would be shown is the same again.
        assert paid == ["grader"] * 3 + ["generator"] * (parent is stopped)


def test_a_model_that_never_replied_tells_no_time(engine: Engine) -> None:
    """A model that is not installed is refused within milliseconds, which is no time that a generation takes."""
    answered = engine.run("first", CONFIG)
    needed = what_if(answered, replace(CONFIG, max_rewrites=0, grade_pass_threshold=0.0, answer_unverified=True))
    calls = tuple(
        replace(call, reply="", error="WB402") if call.role == "generator" else call for call in answered.model_calls
    )
    refused = replace(answered, model_calls=calls, outcome="failed", answer="")
    for price in (what_if(refused, CONFIG).calls_needed.next, fork_price(refused, CONFIG).next):
        assert price.calls == 1
        assert price.seconds is None
    assert needed.calls_needed.next.seconds is not None or not needed.calls_needed.next.calls
    assert what_if(refused, replace(CONFIG, budget_s=90)).calls_needed.worst.seconds is None
