"""The answer-evaluation loop with hand-written roles: its graph, its limits, and what faults leave of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ModelError, ModelInterrupted, PromptTooLong, RecordError, StoreError, UnreadableReply
from engine.flow import compiled, workflow
from engine.flow.graph import graph_of
from engine.model.config import RoleModel, RoleModels
from engine.model.events import AnswerBegun, RunFinished, TokenStreamed, fold_all
from engine.model.values import Evaluation, RunRecord
from tests.support.answer_fakes import (
    FAILED,
    NAME,
    PASSED,
    AnswerResources,
    FakeEvaluator,
    FakeWriter,
    answering,
    events_of,
    finished,
)
from tests.support.fakes import FakeGrader, FakeRetriever, path

SEARCH = ["retrieve", "grade", "prepare"]
GONE = ModelError.ollama_unreachable(address="http://127.0.0.1:1")


def ended(record: RunRecord) -> tuple[str | None, str]:
    return record.outcome, record.reason


def codes(record: RunRecord) -> list[str]:
    return [item.code for item in record.warnings]


def test_the_compiled_graph_draws_its_true_edges() -> None:
    """AE-01, AE-06: retrieval and grading are the shared nodes, a preparing step comes before the writer."""
    edges = {(edge.source, edge.target) for edge in graph_of(compiled(NAME)).edges}
    assert edges == {
        ("__start__", "retrieve"),
        ("retrieve", "grade"),
        ("grade", "rewrite"),
        ("grade", "prepare"),
        ("grade", "__end__"),
        ("rewrite", "retrieve"),
        ("prepare", "generate_answer"),
        ("prepare", "__end__"),
        ("generate_answer", "eval_answer"),
        ("eval_answer", "generate_answer"),
        ("eval_answer", "__end__"),
    }


def test_a_criticised_answer_is_revised_and_every_answer_is_kept() -> None:
    """AE-01, AE-07"""
    events = events_of(AnswerResources(evaluator=FakeEvaluator([FAILED, FAILED])))
    record = fold_all(events)
    assert path(record) == [*SEARCH, *["generate_answer", "eval_answer"] * 3]
    assert [item.evaluation for item in record.drafts] == [FAILED, FAILED, PASSED]
    assert [(item.node, item.route, item.reason) for item in record.decisions] == [
        ("grade", "prepare", "passed"),
        ("eval_answer", "generate_answer", "revise"),
        ("eval_answer", "generate_answer", "revise"),
        ("eval_answer", "end", "evaluation_passed"),
    ]
    assert [event.draft for event in events if isinstance(event, AnswerBegun)] == [1, 2]
    assert record.answer == record.drafts[-1].text
    assert record.citations == record.drafts[-1].citations != ()


def test_a_gate_of_passages_that_was_not_met_is_said_although_the_answer_passed() -> None:
    """SC-04"""
    record = finished(
        AnswerResources(grader=FakeGrader(relevant=frozenset({"p1"}))), answering(max_rewrites=1, gate="pass_rate")
    )
    assert ended(record) == ("answered_forced", "max_rewrites")
    assert [item.passage_id for item in record.citations] == ["p1"]


def test_with_nothing_passed_it_abstains_and_asks_neither_writer_nor_evaluator() -> None:
    """SC-07"""
    resources = AnswerResources(grader=FakeGrader())
    record = finished(resources, answering(max_rewrites=0))
    assert path(record) == SEARCH
    assert record.outcome == "abstained"
    assert record.answer and not record.drafts
    assert not resources.writer.conversations and not resources.evaluator.requests and not resources.observed


def test_unreadable_verdicts_alone_end_the_run() -> None:
    """SC-03"""
    unreadable = FakeGrader(unreadable=frozenset({"p1", "p2", "p3", "p4", "p5"}))
    record = finished(AnswerResources(grader=unreadable))
    assert path(record) == ["retrieve", "grade"]
    assert ended(record) == ("failed", "grader_failed")


@pytest.mark.parametrize(
    "fault", [GONE, UnreadableReply(model="fake"), StoreError.unreachable(address="http://127.0.0.1:1")]
)
@pytest.mark.parametrize("former", [[], [FAILED]])
def test_an_evaluator_that_fails_leaves_the_newest_answer_standing(
    fault: Exception, former: list[Evaluation | Exception | None]
) -> None:
    """AE-01: best partial result with its reason."""
    resources = AnswerResources(evaluator=FakeEvaluator([*former, fault]))
    record = finished(resources)
    assert ended(record) == ("answered_forced", "evaluator_failed")
    assert record.answer == record.drafts[-1].text == f"Answer number {len(former) + 1} [1][2][3][4][5] ."
    assert record.drafts[-1].evaluation is None
    assert codes(record) == [fault.code]  # type: ignore[attr-defined]
    assert not resources.observed, "an answer that nobody passed is no observation"


@pytest.mark.parametrize(
    "fault", [GONE, PromptTooLong(model="fake", tokens=9000, num_ctx=8192), ModelInterrupted.mid_reply(model="fake")]
)
def test_a_revision_that_does_not_come_about_leaves_the_answer_before_it_standing(fault: Exception) -> None:
    """AE-07"""
    record = finished(AnswerResources(evaluator=FakeEvaluator([FAILED] * 9), writer=FakeWriter(["First [1].", fault])))
    assert ended(record) == ("answered_forced", "writer_failed")
    assert record.answer == "First [1]."
    assert len(record.drafts) == 1
    assert [item.marker for item in record.citations] == [1]
    assert codes(record) == [fault.code]  # type: ignore[attr-defined]


def test_a_first_answer_that_breaks_off_is_kept_and_fails_the_run() -> None:
    """SC-13"""
    record = finished(AnswerResources(writer=FakeWriter([ModelInterrupted.mid_reply(model="fake")])))
    assert ended(record) == ("failed", "WB404")
    assert record.answer == "Half"
    assert record.error is not None
    assert record.error.node == "generate_answer"


@pytest.mark.parametrize(("texts", "expected"), [(["  "], ("failed", "WB408")), (["First [1].", " "], None)])
def test_blank_text_is_never_an_answer(texts: list[str | Exception | None], expected: tuple[str, str] | None) -> None:
    record = finished(AnswerResources(evaluator=FakeEvaluator([FAILED] * 3), writer=FakeWriter(texts)))
    assert ended(record) == (expected or ("answered_forced", "writer_failed"))
    assert record.answer.strip() == ("" if expected else "First [1].")


def test_markers_that_point_nowhere_are_taken_out_and_the_evaluator_learns_of_it() -> None:
    """AE-02"""
    resources = AnswerResources(writer=FakeWriter(["It is so [1][9]."]))
    events = events_of(resources)
    record = fold_all(events)
    assert "".join(event.text for event in events if isinstance(event, TokenStreamed)) == "It is so [1]."
    assert record.drafts[0].text == resources.evaluator.requests[0].answer == "It is so [1]."
    assert record.drafts[0].removed_markers == resources.evaluator.requests[0].removed_markers == ("[9]",)


def test_passages_beyond_top_k_are_counted_for_the_evaluator_and_not_shown() -> None:
    """AE-04: the union of two rounds may hold more passages than one search may keep."""
    retriever = FakeRetriever(hits={"second": {"x1": 0.9, "x2": 0.8}})
    grader = FakeGrader(relevant=frozenset({"p1", "x1", "x2"}))
    resources = AnswerResources(retriever=retriever, grader=grader)
    finished(resources, answering(top_k=2, gate="pass_rate"))
    (request,) = resources.evaluator.requests
    assert (len(request.passages), request.unseen) == (2, 1)


def test_a_full_disk_is_warned_of_and_loses_no_run() -> None:
    """AE-08"""
    record = finished(
        AnswerResources(observing=RecordError.observation_lost(path="o.json", why="No space left on device."))
    )
    assert ended(record) == ("answered", "evaluation_passed")
    assert codes(record) == ["WB512"]


# Time


BEFORE_THE_FIRST_ANSWER = ("retrieve", "grade", "prepare", "generate_answer")


@pytest.mark.parametrize("node", BEFORE_THE_FIRST_ANSWER)
def test_time_that_is_over_before_the_first_answer_leaves_one_generation_or_an_abstention(node: str) -> None:
    """SC-13: after the deadline only one generation with its reserved allowance."""
    resources = AnswerResources(evaluator=FakeEvaluator([FAILED] * 9))
    record = finished(resources, leap_at=(node, 1))
    if node in ("retrieve", "grade"):
        assert ended(record) == ("abstained", "deadline")
        assert not resources.writer.conversations
    else:
        assert ended(record) == ("answered_forced", "deadline")
        assert record.answer == "Answer number 1 [1][2][3][4][5] ."
    assert len(resources.writer.conversations) <= 1
    assert not resources.evaluator.requests


@pytest.mark.parametrize(
    ("node", "visit", "drafts"), [("eval_answer", 1, 1), ("generate_answer", 2, 1), ("eval_answer", 2, 2)]
)
def test_time_that_is_over_later_leaves_the_newest_complete_answer(node: str, visit: int, drafts: int) -> None:
    """SC-13"""
    resources = AnswerResources(evaluator=FakeEvaluator([FAILED] * 9), writer=FakeWriter(["First [1].", "Second [2]."]))
    record = finished(resources, leap_at=(node, visit))
    assert ended(record) == ("answered_forced", "deadline")
    assert len(record.drafts) == drafts
    assert record.answer == record.drafts[-1].text


def test_an_evaluator_that_hangs_ends_with_the_budget() -> None:
    """SC-13"""
    record = finished(AnswerResources(evaluator=FakeEvaluator([None])), left_s=0.5)
    assert record.outcome == "answered_forced"
    assert record.answer == "Answer number 1 [1][2][3][4][5] ."
    assert codes(record) == ["WB413"]


def test_a_revision_that_hangs_ends_with_the_budget_and_leaves_the_first_answer() -> None:
    """SC-13"""
    writer = FakeWriter(["First [1].", None])
    record = finished(AnswerResources(evaluator=FakeEvaluator([FAILED] * 9), writer=writer), left_s=0.5)
    assert record.outcome == "answered_forced"
    assert record.answer == "First [1]."
    assert codes(record) == ["WB413"]


def test_a_first_answer_that_hangs_ends_with_its_allowance() -> None:
    """SC-13"""
    resources = AnswerResources(writer=FakeWriter([None]))
    resources.settings = resources.settings.model_copy(update={"generation_allowance_s": 0.05})
    assert ended(finished(resources, left_s=0.2)) == ("failed", "WB413")


# Limits


evaluations = st.lists(
    st.one_of(
        st.just(PASSED),
        st.just(FAILED),
        # Against the contract: no matter what an evaluator says, the loop must end.
        st.just(replace(FAILED, suggestions=())),
        st.just(replace(PASSED, suggestions=FAILED.suggestions)),
        st.just(GONE),
        st.just(RuntimeError("a bug")),
    ),
    max_size=12,
)
texts = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
        st.sampled_from(["", "[1]", "[99]", "It is so [1]."]),
        st.just(GONE),
        st.just(RuntimeError("a bug")),
    ),
    max_size=12,
)


@settings(max_examples=80)
@given(st.integers(1, 5), evaluations, texts, st.sets(st.sampled_from(["p1", "p2", "p3"])), st.integers(0, 2))
def test_whatever_the_roles_do_there_are_never_more_answers_than_the_limit_and_always_one_outcome(
    limit: int,
    judged: list[Evaluation | Exception | None],
    written: list[str | Exception | None],
    relevant: set[str],
    rewrites: int,
) -> None:
    """AE-01: at most GENER_EPOCH generations."""
    resources = AnswerResources(
        grader=FakeGrader(relevant=frozenset(relevant)),
        evaluator=FakeEvaluator(judged),
        writer=FakeWriter(written),
    )
    config = answering(limit, max_rewrites=rewrites, gate="min_relevant")
    events = events_of(resources, config)
    record = fold_all(events)
    assert [event for event in events if isinstance(event, RunFinished)] == events[-1:]
    assert len(resources.writer.conversations) <= limit
    assert len(record.nodes) < workflow(NAME).recursion_limit(config)
    if record.outcome != "failed" and record.drafts:
        assert record.answer == record.drafts[-1].text
    assert record.outcome in ("answered", "answered_forced", "abstained", "failed")


@given(st.integers(1, 10), st.integers(0, 5), st.integers(1, 20), st.booleans())
def test_the_worst_case_counts_every_call_that_the_limits_allow(
    limit: int, rewrites: int, top_k: int, probe: bool
) -> None:
    """SC-13"""
    chat = RoleModel("ollama:a")
    everywhere = RoleModels(grader=chat, rewriter=chat, generator=chat, evaluator=chat)
    shared: Mapping[str, Any] = {"max_rewrites": rewrites, "top_k": top_k, "probe_k": 20, "grade_probe": probe}
    worst = workflow(NAME).worst_case_calls(answering(limit, models=everywhere, **shared))
    assert worst == (20 if probe else top_k) * (rewrites + 1) + 2 * rewrites + 2 * limit
    assert workflow(NAME).worst_case_calls(answering(limit, **shared)) == 0
