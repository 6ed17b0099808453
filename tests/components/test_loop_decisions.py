"""Decision path, figures, timeline and budget of the three other loops, in words of both languages."""

from __future__ import annotations

from functools import cache
from typing import get_args

import pytest

from components.common.i18n import Words, words_for
from components.common.outcomes import reason_text
from components.common.phrases import inequality_text, node_text
from components.common.spans import spans
from components.common.workflow_view import view_of
from components.runs.figures import figures_of
from components.sentences.decisions import followed_text
from engine.model.config import RunConfig, WorkflowName
from engine.model.events import fold_all
from engine.model.values import QUANTITIES, Comparison, Decision, Quantity, Reason, RunRecord, operands
from engine.running.seed_response import decision_sentence
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from tests.components.loop_events import RUNS, drawn

EN, ZH = words_for("en"), words_for("zh")
LOOPS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation", "graph_hybrid")


@cache
def record(name: str) -> RunRecord:
    return fold_all(RUNS[name].events())


def test_every_quantity_has_an_english_name_and_true_operands() -> None:
    """SC-04: never ``0.50 < 0.50``."""
    assert set(QUANTITIES) == set(get_args(Quantity))
    assert operands(Comparison("quality_score", 0.4999, "<", 0.5)) == ("0.4999", "0.5000")
    assert operands(Comparison("suggestions", 2, ">=", 1)) == ("2", "1")


def test_a_decision_that_compared_nothing_shows_its_reason() -> None:
    """DL-02"""
    direct = Decision(0, "direct_response", "direct", (), 0, 0, node="route_query")
    assert decision_sentence(direct) == "round 0: direct_response (direct)"
    assert inequality_text(direct, EN) == "no search needed"
    assert inequality_text(direct, ZH) == "无需检索"


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_every_node_and_reason_of_the_loops_has_words(words: Words) -> None:
    names = [(workflow, name) for workflow in LOOPS for name in drawn(workflow).nodes]
    assert [name for workflow, name in names if node_text(name, workflow, words) == name] == []
    assert [code for code in get_args(Reason) if reason_text(code, words) == code] == []


def test_a_rewrite_of_the_quality_loop_shows_the_score_it_gained() -> None:
    """QL-04"""
    low = record("quality: low, rewritten, high")
    first = followed_text(low.decisions[0], low, EN)
    assert "score ▲ 0." in first and low.rewrites[0].rewritten_query in first


def test_the_dual_loop_names_the_next_search_and_the_corrected_query() -> None:
    """DL-03, DL-04"""
    tried = record("dual: next strategy")
    following = next(item for item in tried.decisions if item.reason == "next_strategy")
    assert followed_text(following, tried, EN) == EN("next search: {strategy}", strategy=EN("direct passage search"))
    corrected = record("dual: corrected")
    turned = next(item for item in corrected.decisions if item.reason == "answer_off")
    assert followed_text(turned, corrected, EN) == EN(
        "new query: {query}", query=corrected.rewrites[-1].rewritten_query
    )


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("name", RUNS)
def test_five_figures_go_by_what_the_loop_goes_by(name: str, words: Words) -> None:
    run = record(name)
    labels = [item.label for item in figures_of(run, words)]
    assert labels[1] == words("Quality score" if run.workflow == "quality_loop" else "Pass rate")
    second = {"quality_loop": "Best similarity", "graph_hybrid": "Context"}
    assert labels[2] == words(second.get(run.workflow, "Suggestions"))


def test_the_figures_say_score_grade_and_suggestions() -> None:
    """QL-02, AE-03"""
    _, quality, *_ = figures_of(record("quality: low, rewritten, high"), EN)
    assert quality.value.startswith("0.60 → 0.7")
    assert quality.note.endswith("high · bar 0.65")
    _, passed, suggested, *_ = figures_of(record("answers: revised"), EN)
    assert (suggested.value, suggested.note, suggested.look) == ("2 → 2 → 0", "", "pass")
    # One value a round of passages, no matter what else was decided about.
    assert "→" not in passed.value
    outcome, *_ = figures_of(record("dual: corrections used up"), EN)
    assert (outcome.value[-16:], outcome.note) == ("after 2 rewrites", "no correction left")


@pytest.mark.parametrize("name", RUNS)
def test_the_timeline_names_every_visit(name: str) -> None:
    drawn_spans = [span for span in spans(record(name), ZH) if span.row == 0]
    assert len(drawn_spans) == len(record(name).nodes)
    assert not any("_" in span.label for span in drawn_spans)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (RunConfig(workflow="quality_loop"), "3 rounds"),
        (RunConfig(workflow="dual_loop"), "3 passes of 2 searches"),
        (RunConfig(workflow="dual_loop", options=DualLoopOptions(0, web_search=True)), "1 pass of 3 searches"),
        (RunConfig(workflow="answer_evaluation"), "4 rounds and 3 answers"),
        (RunConfig(workflow="answer_evaluation", options=AnswerEvaluationOptions(1)), "4 rounds and 1 answer"),
    ],
)
def test_the_extent_of_a_run_is_said_before_it(config: RunConfig, said: str) -> None:
    assert view_of(config.workflow).extent(config, EN) == said
    assert not any(part in view_of(config.workflow).extent(config, ZH) for part in ("rounds", "pass", "answers"))
