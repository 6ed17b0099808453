"""Folding events: pure, deaf to what it has seen, and strict about the beginning."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import RunConfig
from engine.model.events import (
    Analysed,
    AnswerBegun,
    AnswerCompleted,
    ContextAssembled,
    Decided,
    Drafted,
    Evaluated,
    Event,
    Fused,
    MemoryKept,
    MemoryRecalled,
    ModelCalled,
    NodeFinished,
    NodeStarted,
    PassageGraded,
    PassageScreened,
    Prepared,
    QualityChecked,
    ReasonGiven,
    Reranked,
    Retrieved,
    Rewritten,
    RouteChosen,
    Routed,
    RouteTried,
    RunFinished,
    RunStarted,
    SetJudged,
    Surrounded,
    TokenStreamed,
    Warned,
    fold,
    fold_all,
)
from engine.model.values import (
    Candidate,
    Citation,
    Comparison,
    Context,
    Decision,
    Fault,
    Message,
    ModelCall,
    NodeExecution,
    Passage,
    PassageId,
    Rewrite,
    RunId,
    RunRecord,
    SetVerdict,
    Verdict,
)
from tests.components.loop_events import RUNS

P1 = Passage(PassageId("p1"), "p1.md", "text", 0.9, 0.95)
CANDIDATE = Candidate(P1, 1, "kept", 0.6)
VERDICT = Verdict(True, 0.9, "why")
CITATION = Citation(1, PassageId("p1"), "p1.md")
CALL = ModelCall("grader", "grade", 0, "fake", (Message("user", "?"),), "yes", passage_id=PassageId("p1"))
DECISION = Decision(0, "rewrite", "below_gate", (Comparison("pass_rate", 0.0, "<", 0.6),), 0, 1)
REWRITE = Rewrite(0, "first", "second", "other words")
WARNING = Fault("WB403", "Slow.", "Wait.")


def numbered(*events: Event) -> list[Event]:
    """Events with the numbers and times that a run would give them."""
    return [replace(event, seq=place, t_ms=place * 10.0) for place, event in enumerate(events, start=1)]


WHOLE: Sequence[Event] = numbered(
    RunStarted(run_id=RunId("r"), question="first", config=RunConfig(), started_at="2026-01-01T00:00:00Z"),
    Prepared(manifest={"grader": "fake"}),
    NodeStarted(node="retrieve", round=0, visit=1),
    Retrieved(round=0, query="first", candidates=(CANDIDATE,), floor=0.7, anchors="none"),
    NodeFinished(execution=NodeExecution("retrieve", 0, 1, 30.0, 20.0)),
    NodeStarted(node="grade", round=0, visit=1),
    PassageScreened(round=0, passage_id=P1.id, verdict=VERDICT),
    PassageGraded(round=0, passage_id=P1.id, verdict=VERDICT),
    ModelCalled(call=CALL),
    SetJudged(round=0, verdict=SetVerdict((P1.id,), "part", "One thing is missing.")),
    Decided(decision=DECISION),
    Rewritten(rewrite=REWRITE),
    Prepared(manifest={"rewriter": "fake"}),
    Retrieved(round=1, query="second", candidates=(CANDIDATE,), floor=0.7, anchors="none", rewrite_input="abc"),
    PassageGraded(round=1, passage_id=P1.id, verdict=VERDICT, reused=True),
    Warned(warning=WARNING),
    ContextAssembled(context=Context((P1,))),
    TokenStreamed(text="It is"),
    TokenStreamed(text=" so"),
    AnswerCompleted(answer="It is so [1].", citations=(CITATION,), removed_markers=("[9]",)),
    RunFinished(outcome="answered", reason="passed"),
)


LOOP_KINDS = {
    Routed,
    Fused,
    Reranked,
    QualityChecked,
    MemoryRecalled,
    RouteChosen,
    RouteTried,
    MemoryKept,
    AnswerBegun,
    Drafted,
    Evaluated,
    Analysed,
}
"""What only the loops beyond the four-node one have to say."""


def test_what_the_other_loops_say_finds_its_place_too() -> None:
    """SC-10, QL-03, DL-06, AE-07, GH-01"""
    names = ("quality: low, rewritten, high", "dual: corrected", "graph: at once")
    events = [event for name in names for event in RUNS[name].events()]
    assert {type(event) for event in events} >= LOOP_KINDS
    quality = fold_all(RUNS["quality: low, rewritten, high"].events())
    assert [item.quality.grade for item in quality.rounds if item.quality] == ["low", "high"]
    assert all(item.routing and item.reranked for item in quality.rounds)
    assert all(item.found_at for current in quality.rounds for item in current.candidates)
    dual = fold_all(RUNS["dual: corrected"].events())
    assert dual.recall is not None
    assert dual.route is not None
    assert dual.tried_routes[0].status == "searched"
    assert [item.evaluation.passed for item in dual.drafts if item.evaluation] == [False, True]
    assert dual.answer == dual.drafts[-1].text
    assert dual.remembered is not None
    graph = fold_all(RUNS["graph: at once"].events())
    assert graph.analysis is not None
    assert [item.node for item in graph.decisions] == ["route_query", "grade_documents"]
    assert graph.rounds[0].graph is not None
    assert graph.rounds[0].reranked


def test_every_kind_of_event_finds_its_place_in_the_picture() -> None:
    """SC-10"""
    record = fold_all(WHOLE)
    assert {type(event) for event in WHOLE} == {*Event.__args__} - LOOP_KINDS - {Surrounded, ReasonGiven}
    assert (record.id, record.question, record.started_at) == ("r", "first", "2026-01-01T00:00:00Z")
    assert record.manifest == {"grader": "fake", "rewriter": "fake"}
    assert [(item.node, item.duration_ms) for item in record.nodes] == [("retrieve", 20.0), ("grade", None)]
    assert [item.query for item in record.rounds] == ["first", "second"]
    assert [item.reused for item in record.rounds] == [(), ("p1",)]
    assert record.rounds[0].verdicts == {"p1": VERDICT}
    assert record.rounds[1].rewrite_input == "abc"
    assert (record.decisions, record.rewrites, record.model_calls) == ((DECISION,), (REWRITE,), (CALL,))
    assert (record.warnings, record.context) == ((WARNING,), Context((P1,)))
    assert (record.answer, record.citations, record.removed_markers) == ("It is so [1].", (CITATION,), ("[9]",))
    assert (record.outcome, record.reason, record.error) == ("answered", "passed", None)
    assert (record.last_seq, record.duration_ms) == (21, 210.0)


def test_folding_changes_neither_picture_nor_event() -> None:
    """A picture shown on one page must not change because another page folds further."""
    record: RunRecord | None = None
    for event in WHOLE:
        before, given_event = deepcopy(record), deepcopy(event)
        after = fold(record, event)
        assert record == before
        assert event == given_event
        assert fold(record, event) == after
        record = after


@given(st.lists(st.integers(1, len(WHOLE)), max_size=12))
def test_events_seen_before_change_nothing(restarts: list[int]) -> None:
    """A reconnecting reader is sent events again, from wherever it says."""
    record: RunRecord | None = None
    for place in [0, *(item - 1 for item in sorted(restarts))]:
        reached = record.last_seq if record else 0
        for event in WHOLE[min(place, reached) : max(reached, place + 1)]:
            record = fold(record, event)
    for event in WHOLE:
        record = fold(record, event)
    assert record == fold_all(WHOLE)


@given(st.integers(1, len(WHOLE)))
def test_the_picture_of_a_beginning_continues_to_the_same_end(cut: int) -> None:
    record = fold_all(WHOLE[:cut])
    assert record.last_seq == cut
    for event in WHOLE[cut:]:
        record = fold(record, event)
    assert record == fold_all(WHOLE)


def test_a_second_beginning_is_not_heard() -> None:
    record = fold_all(WHOLE)
    other = RunStarted(seq=99, run_id=RunId("x"), question="other", config=RunConfig(), started_at="")
    assert fold(record, other) is record


@pytest.mark.parametrize("event", WHOLE[1:], ids=lambda event: event.kind)
def test_no_picture_begins_with_anything_else(event: Event) -> None:
    with pytest.raises(ValueError, match=f"begins with run_started, not {event.kind}"):
        fold(None, event)


def test_nothing_makes_no_picture() -> None:
    with pytest.raises(ValueError, match="no events"):
        fold_all([])


def test_an_event_out_of_its_order_is_deafly_passed_over_and_a_verdict_without_a_round_is_a_fault() -> None:
    record = fold_all(WHOLE[:9])
    late = TokenStreamed(seq=5, t_ms=999.0, text="late")
    assert fold(record, late) is record
    with pytest.raises(IndexError):
        fold(record, PassageGraded(seq=10, round=3, passage_id=P1.id, verdict=VERDICT))


def test_tokens_alone_are_not_stored() -> None:
    assert {event.kind for event in WHOLE if not event.stored} == {"token_streamed"}


def test_time_never_goes_back() -> None:
    record = fold_all(WHOLE[:9])
    assert fold(record, TokenStreamed(seq=10, t_ms=1.0, text="x")).duration_ms == record.duration_ms
