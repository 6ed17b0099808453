"""Roles that break their contracts and texts that no one expects, in the quality and the answer-evaluation loop."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.builtin.quality_rewriter import BuiltinQualityRewriter
from engine.builtin.rewriter import BuiltinRewriter
from engine.model.config import RunConfig
from engine.model.values import Evaluation, RunRecord
from engine.records.codec import record_from_dict
from engine.roles import RewriteRequest
from tests.api.served import engine_of, relevant
from tests.support import answer_fakes, loop_fakes
from tests.support.answer_fakes import FAILED, OFF, PASSED, AnswerResources, FakeEvaluator, FakeWriter, answering
from tests.support.fakes import FakeGenerator, FakeGrader
from tests.support.loop_fakes import LoopResources, ScriptedReranker, ScriptedRewriter

QUALITY = RunConfig(workflow="quality_loop")
NOWHERE = "[99]"
"""An answer of markers that point nowhere: nothing is left of it."""


def read_back(record: RunRecord) -> RunRecord:
    return record_from_dict(json.loads(json.dumps(record.to_dict())))


def test_a_record_of_the_built_in_roles_is_the_same_after_it_was_stored() -> None:
    """QL-04, SC-10: what a built-in router and rewriter report has lists, as JSON has, and no tuples."""
    record = loop_fakes.finished(LoopResources(rewriter=BuiltinQualityRewriter()), QUALITY, "逻辑")
    assert {call.role for call in record.model_calls if call.built_in} == {"router", "rewriter"}
    assert read_back(record) == record


def test_a_record_of_the_answer_loop_is_the_same_after_it_was_stored() -> None:
    """AE-01, SC-10"""
    fakes = AnswerResources(grader=FakeGrader(), evaluator=FakeEvaluator([FAILED]))
    fakes.rewriter = BuiltinRewriter()  # type: ignore[assignment]
    record = answer_fakes.finished(fakes, replace(answering(), answer_unverified=True), "Who wrote the first law?")
    assert record.rewrites and record.drafts
    assert read_back(record) == record


def test_half_a_surrogate_pair_in_a_rewrite_does_not_stop_a_run() -> None:
    """QL-05, SC-06: a model's reply can hold one, and the next rewriter is shown it."""
    fakes = LoopResources(reranker=ScriptedReranker(), rewriter=ScriptedRewriter(["bad \ud800 words", "more"]))
    record = loop_fakes.finished(fakes, QUALITY)
    assert (record.outcome, record.reason, len(record.rounds)) == ("abstained", "max_rewrites", 3)
    assert RewriteRequest("q", "\ud800", (), ()).digest() != RewriteRequest("q", "?", (), ()).digest()


def test_a_question_loses_half_a_surrogate_pair_before_it_is_asked(tmp_path: Path) -> None:
    """SC-10: a live record and a stored one would say different things otherwise."""
    with engine_of(tmp_path, relevant()) as engine:
        assert engine.run("what \udc80 is this").question == "what ? is this"


def test_a_first_answer_of_markers_that_point_nowhere_is_an_empty_one() -> None:
    """AE-01: nothing is left of it, and nothing must be shown or evaluated as an answer."""
    fakes = AnswerResources(writer=FakeWriter([NOWHERE]))
    record = answer_fakes.finished(fakes)
    assert (record.outcome, record.reason, record.answer, record.drafts) == ("failed", "WB408", "", ())
    assert not fakes.evaluator.requests


def test_a_revision_of_markers_that_point_nowhere_leaves_the_answer_before_it() -> None:
    """AE-07"""
    fakes = AnswerResources(writer=FakeWriter(["A good answer [1].", NOWHERE]), evaluator=FakeEvaluator([FAILED]))
    record = answer_fakes.finished(fakes)
    assert (record.outcome, record.reason) == ("answered_forced", "writer_failed")
    assert (record.answer, len(record.drafts)) == ("A good answer [1].", 1)
    assert [item.code for item in record.warnings] == ["WB408"]


def test_a_generation_of_markers_that_point_nowhere_is_an_empty_one() -> None:
    """QL-05, SC-07"""
    fakes = LoopResources(reranker=ScriptedReranker(otherwise=1.0), generator=FakeGenerator(text=NOWHERE))
    record = loop_fakes.finished(fakes, replace(QUALITY, max_rewrites=0))
    assert (record.outcome, record.reason, record.answer) == ("failed", "WB408", "")


@pytest.mark.parametrize("contradiction", [Evaluation(True, (OFF,)), Evaluation(False, ())])
def test_an_evaluation_that_contradicts_itself_is_none(contradiction: Evaluation) -> None:
    """AE-03: passed with suggestions, or failed without one; a comparison made of it would be false."""
    record = answer_fakes.finished(AnswerResources(evaluator=FakeEvaluator([contradiction, PASSED])))
    assert (record.outcome, record.reason) == ("answered_forced", "evaluator_failed")
    assert record.drafts[0].evaluation is None
    assert [item.code for item in record.warnings] == ["WB411"]
