"""The quality-control loop where roles break down or their contract, and where the budget runs out in a node."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from engine.errors import ModelInterrupted, UnreadableReply
from engine.model.values import Routing
from tests.support.fakes import FakeGenerator, FakeGrader, path
from tests.support.loop_fakes import (
    HANG,
    FakeKinds,
    LoopResources,
    ScriptedReranker,
    ScriptedRewriter,
    ScriptedRouter,
    a_list,
    finished,
    verdict,
)
from tests.workflows.quality_runs import GONE, NO_STORE, config, good, hanging, knowledge_base

# What a role that breaks down, or breaks its contract, costs.


@pytest.mark.parametrize("said", [UnreadableReply(model="x"), GONE, HANG], ids=["unreadable", "gone", "hangs"])
def test_a_router_that_fails_is_replaced_by_the_built_in_one(said: object) -> None:
    """QL-03, SC-13"""
    resources = LoopResources(router=ScriptedRouter([said]), reranker=ScriptedReranker(otherwise=0.9))
    record = finished(
        resources, config(budget_s=1, max_rewrites=0), question="A and B: what is the difference between them?"
    )
    assert record.rounds[0].routing is not None
    assert record.rounds[0].routing.code == "relations"
    assert record.warnings[0].node == "question_router"
    assert record.outcome in ("answered", "abstained")


@pytest.mark.parametrize(
    "said",
    [
        Routing("", {"vector": 1.0}),
        Routing("q", {}),
        Routing("q", {"graph": float("nan")}),
        Routing("q", {"vector": -1.0, "graph": 0.0}),
        Routing("q", {"elsewhere": 1.0}),  # type: ignore[dict-item]
        Routing("q", {"vector": float("inf")}),
        Routing("q", {"vector": 1e308, "graph": 1e308}),
    ],
)
def test_a_routing_that_breaks_the_contract_still_searches_something(said: Routing) -> None:
    """QL-03, SC-13"""
    resources = LoopResources(router=ScriptedRouter([said]), reranker=ScriptedReranker(otherwise=0.9))
    record = finished(resources, config(max_rewrites=0))
    routing = record.rounds[0].routing
    assert routing is not None
    assert routing.query.strip()
    assert sum(routing.shares.values()) == pytest.approx(1.0)
    assert record.rounds[0].kept
    assert record.outcome in ("answered", "answered_forced")


def test_one_kind_that_cannot_be_searched_costs_only_its_own_passages() -> None:
    """SC-13"""
    router = ScriptedRouter([Routing("q", {"vector": 0.5, "graph": 0.5})])
    kinds = FakeKinds(errors={"graph": NO_STORE})
    record = finished(LoopResources(kinds=kinds, router=router, reranker=ScriptedReranker(otherwise=0.9)))
    assert {item.kind for item in record.rounds[0].candidates} == {"vector", "temporal"}
    assert record.warnings[0].node == "retrieve"
    assert record.outcome in ("answered", "answered_forced")


def test_a_store_that_is_never_there_fails_the_run_once() -> None:
    """SC-13"""
    kinds = FakeKinds(errors=dict.fromkeys(("vector", "graph", "temporal"), NO_STORE))
    record = finished(LoopResources(kinds=kinds))
    assert (record.outcome, record.reason) == ("failed", NO_STORE.code)
    assert finished(LoopResources(kinds=FakeKinds(kinds_error=NO_STORE))).reason == NO_STORE.code


def test_a_store_that_goes_later_leaves_the_former_passages() -> None:
    """SC-13"""
    kinds = FakeKinds(errors=dict.fromkeys(("vector", "graph", "temporal"), NO_STORE), from_round=1)
    reranker = ScriptedReranker(otherwise=0.5)
    record = finished(LoopResources(kinds=kinds, reranker=reranker), config(max_rewrites=1))
    assert [item.searched for item in record.rounds] == [True, False]
    assert record.rounds[1].candidates == record.rounds[0].candidates
    assert (record.outcome, record.reason) == ("answered_forced", "max_rewrites")
    assert [item.code for item in record.warnings] == [NO_STORE.code, "WB601"]


def test_kinds_that_cannot_be_learned_later_fall_back_to_the_knowledge_base() -> None:
    """SC-13"""

    class GoneLater(FakeKinds):
        async def kinds(self, question: str = "") -> Any:
            self.kinds_error = NO_STORE if self.searched else None
            return await super().kinds()

    resources = LoopResources(kinds=GoneLater(), reranker=ScriptedReranker(otherwise=0.5))
    record = finished(resources, config(max_rewrites=1))
    assert record.rounds[1].routing is not None
    assert dict(record.rounds[1].routing.shares) == {"vector": 1.0}
    assert record.outcome == "answered_forced"


def test_a_reranker_that_dies_later_loses_nothing_that_had_passed() -> None:
    """SC-13"""
    router = ScriptedRouter([Routing("q", {"vector": 1.0}), Routing("q", {"graph": 1.0})])
    reranker = ScriptedReranker(relevance={"v1": 0.9}, script=[None, GONE])
    record = finished(LoopResources(router=router, reranker=reranker))
    assert (record.outcome, record.reason) == ("answered_forced", "grader_unavailable")
    assert [item.passage_id for item in record.citations] == ["v1"]


def test_a_reranker_that_is_never_there_fails_the_run() -> None:
    """SC-13"""
    record = finished(LoopResources(reranker=ScriptedReranker(script=[GONE])))
    assert (record.outcome, record.reason) == ("failed", GONE.code)


def test_a_reranker_that_names_strangers_and_forgets_some_is_read_as_far_as_it_goes() -> None:
    """SC-13"""
    strange = [(a_list("graph", 1)[0], verdict(1.0)), (a_list("vector", 1)[0], verdict(0.9))]
    record = finished(
        LoopResources(kinds=knowledge_base(), reranker=ScriptedReranker(script=[strange])), config(max_rewrites=0)
    )
    assert set(record.rounds[0].verdicts) == {"v1"}
    assert record.outcome == "answered_forced"


@pytest.mark.parametrize("said", [GONE, UnreadableReply(model="x")])
def test_a_rewriter_that_fails_leaves_what_there_is(said: Exception) -> None:
    """SC-13"""
    resources = LoopResources(reranker=ScriptedReranker(relevance={"v1": 0.9}), rewriter=ScriptedRewriter([said]))
    record = finished(resources)
    assert (record.outcome, record.reason) == ("answered_forced", "rewriter_failed")
    assert [item.passage_id for item in record.citations] == ["v1"]


def test_a_generation_that_breaks_off_keeps_its_partial_text() -> None:
    """SC-13"""
    generator = FakeGenerator(error=ModelInterrupted.mid_reply(model="fake"), error_after=2)
    record = finished(replace(good(), generator=generator), question="图论")
    assert (record.outcome, record.reason, record.answer) == ("failed", "WB404", "It is")


# The budget, reached in every node (QL-05).


@pytest.mark.parametrize(
    ("node", "outcome", "code"),
    [
        ("kinds", "abstained", "WB214"),
        ("question_router", "abstained", "WB413"),
        ("retrieve", "abstained", "WB214"),
        ("rerank", "abstained", "WB413"),
        ("rewrite", "answered_forced", "WB413"),
    ],
)
def test_a_budget_that_runs_out_ends_in_one_answer_and_a_warning_names_its_seconds(
    node: str, outcome: str, code: str
) -> None:
    """QL-05, SC-13: the deadline is before the end of the budget, which is not spent yet."""
    record = finished(hanging(node), config(budget_s=1))
    assert (record.outcome, record.reason) == (outcome, "deadline")
    assert path(record)[-1] == "generate"
    assert [(item.code, item.params["seconds"]) for item in record.warnings if item.code == code] == [(code, "0.9")]


def test_passages_judged_in_time_count_when_the_reranker_is_cut_off() -> None:
    """QL-05, SC-13"""
    grader = FakeGrader(relevant=frozenset({"v1"}), gate=asyncio.Event)
    record = finished(LoopResources(grader=grader), config(budget_s=1))
    assert (record.outcome, record.reason) == ("answered_forced", "deadline")
    assert [item.passage_id for item in record.citations] == ["v1"]


def test_the_budget_includes_the_generation() -> None:
    """QL-05: no allowance beyond it."""
    resources = replace(good(), generator=FakeGenerator(gate=asyncio.Event))
    record = finished(resources, config(budget_s=1), question="图论")
    assert (record.outcome, record.reason) == ("failed", "WB413")


def test_a_hanging_kind_costs_the_time_and_not_the_lists_that_came() -> None:
    """QL-05, SC-13"""
    router = ScriptedRouter([Routing("q", {"vector": 0.5, "graph": 0.5})])
    kinds = FakeKinds(hanging=frozenset({"graph"}))
    record = finished(LoopResources(kinds=kinds, router=router), config(budget_s=1))
    assert [item.passage.id for item in record.rounds[0].candidates if item.gate == "kept"]
    assert record.reason == "deadline"
