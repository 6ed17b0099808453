"""The what-if card on runs of the other loops: every gap and every end has its words in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, get_args

import pytest

from components.ask.what_if_text import consequence_text, gap_text, sentence_text
from components.common.i18n import Words, words_for
from engine.model.config import Options, RoleModel, RunConfig, WorkflowName
from engine.model.values import RunRecord
from engine.replay import Gap, WhatIf, what_if
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QualityOptions
from pages.parts.ask.passages import counterfactual_notes
from pages.parts.ask.what_if_details import detail_nodes
from tests.engine.whatif.loops import LoopWorld, run_in

LOOPS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation")
_OPTIONS: dict[WorkflowName, tuple[Options, ...]] = {
    "quality_loop": (QualityOptions(), QualityOptions(grade_on="top3"), QualityOptions(medium_score=0.3)),
    "dual_loop": (
        DualLoopOptions(),
        DualLoopOptions(memory=False),
        DualLoopOptions(web_search=True),
        DualLoopOptions(max_corrections=0),
        DualLoopOptions(max_corrections=5),
    ),
    "answer_evaluation": (AnswerEvaluationOptions(), AnswerEvaluationOptions(1), AnswerEvaluationOptions(5)),
}
_OTHER = RoleModel("ollama:m")


@pytest.fixture(params=["en", "zh"])
def words(request: pytest.FixtureRequest) -> Words:
    return words_for(request.param)


@cache
def runs_of(workflow: WorkflowName) -> tuple[tuple[RunRecord, WhatIf], ...]:
    """Runs in several worlds under many other settings."""
    return tuple(_runs_of(workflow))


def _runs_of(workflow: WorkflowName) -> Iterator[tuple[RunRecord, WhatIf]]:
    for seed in range(6):
        for options in _OPTIONS[workflow][:3]:
            config = RunConfig(workflow=workflow, gate="pass_rate", options=options, max_rewrites=1, top_k=5, probe_k=6)
            record = run_in(LoopWorld(seed, memories=seed % 2, strict=0.7), config)
            for change in _changes(config):
                yield record, what_if(record, replace(config, **change))


def _changes(config: RunConfig) -> Iterator[dict[str, Any]]:
    yield {}
    yield from ({"options": options} for options in _OPTIONS[config.workflow])
    yield from ({"top_k": top_k, "similarity_threshold": 0.0} for top_k in (1, 5, 9, 20))
    yield from ({"min_confidence": bar} for bar in (0.0, 1.0))
    yield {"max_rewrites": 3}
    yield {"collection": "other"}
    for role in ("grader", "rewriter", "generator", "evaluator", "router"):
        yield {"models": replace(config.models, **{role: _OTHER})}


@pytest.mark.parametrize("workflow", LOOPS)
def test_every_what_if_of_a_loop_is_said_in_whole_sentences(workflow: WorkflowName, words: Words) -> None:
    """QL-05, DL-03, AE-01: no text is missing, none names a figure that it does not have."""
    gaps: set[Gap | None] = set()
    for record, found in runs_of(workflow):
        gaps.add(found.gap)
        sentence = sentence_text(found, record, words)
        assert "{" not in sentence and "whatif." not in sentence and sentence.endswith((".", "。"))
        for note in counterfactual_notes(record, found, words).values():
            assert note and "{" not in note
    common: set[Gap | None] = {None, "retrieval", "rewrite", "verdicts"}
    own: dict[WorkflowName, set[Gap | None]] = {
        "quality_loop": {"routing", "answer", "candidates"},
        "dual_loop": {"routing", "memory", "web", "answer", "evaluation"},
        "answer_evaluation": {"answer", "evaluation", "candidates"},
    }
    assert gaps >= common | own[workflow]


@pytest.mark.parametrize("gap", get_args(Gap))
@pytest.mark.parametrize("workflow", LOOPS)
def test_every_gap_has_words_before_and_after_the_first_round(workflow: WorkflowName, gap: Gap, words: Words) -> None:
    record = run_in(LoopWorld(1), RunConfig(workflow=workflow))
    found = what_if(record, replace(record.config, collection="other"))
    known = what_if(record, record.config)
    for steps, opening in (((), ()), ((), known.decisions[:1]), (known.steps, known.opening)):
        text = gap_text(replace(found, gap=gap, steps=steps, opening=opening), record, words)
        assert text and "whatif" not in text and "{" not in text


def test_a_lower_limit_of_answers_says_which_answer_stands(words: Words) -> None:
    """AE-01"""
    config = RunConfig(workflow="answer_evaluation", options=AnswerEvaluationOptions(3))
    records = (run_in(LoopWorld(seed, strict=0.9), config) for seed in range(60))
    record = next(item for item in records if len(item.drafts) == 3)
    found = what_if(record, replace(config, options=AnswerEvaluationOptions(2)))
    text = consequence_text(found, record, words)
    assert ("as answer 2" in text and "1 answer" in text) if words.language == "en" else "采用第 2 稿" in text


def test_a_branch_is_offered_where_calls_are_missing(words: Words) -> None:
    config = RunConfig(workflow="dual_loop")
    record = run_in(LoopWorld(2, strict=0.9), config)
    found = what_if(record, replace(config, models=replace(config.models, evaluator=_OTHER)))
    assert found.state == "needs_calls"
    assert "'fork'" in str(detail_nodes(found, record, words))


def test_an_open_round_never_names_a_bar_that_is_outside_of_its_scores(words: Words) -> None:
    """QL-05: where the score is settled either way, the grader that could not be read is what is open."""
    config = RunConfig(workflow="quality_loop", top_k=5, probe_k=6)
    record = run_in(LoopWorld(1), config)
    found = what_if(record, config)
    ungraded = tuple(item.id for item in found.steps[0].round.kept[:2])
    for score, shown in (((0.08, 0.38), False), ((0.55, 0.8), False), ((0.4, 0.6), True)):
        step = replace(found.steps[0], decision=None, ungraded=ungraded, score=score)
        text = gap_text(replace(found, gap="verdicts", steps=(step,)), record, words)
        assert ("0.50" in text) is shown
        assert "{" not in text and "whatif" not in text
