"""Wherever an outcome stands, it says that its answer is not supported, and looks so."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from components.ask.answer import answer_badge
from components.ask.figures import figures_of
from components.ask.presenter_sentences import _ended
from components.common.html_text import html_of
from components.common.i18n import words_for
from components.common.phrases import OUTCOMES, ended_text, outcome_text
from components.picture.export import decision_path_dot, workflow_svg
from components.runs.lanes import answer_part, outcome_chip
from components.runs.report import report_html
from components.runs.run_list import RunLine, run_row
from engine.model.values import AnswerNote, Outcome, RunId, RunRecord, UnsupportedSentence
from engine.workflows import compiled
from engine.workflows.graph import graph_of
from tests.components.sample_run import sample_record

EN, ZH = words_for("en"), words_for("zh")


def unsupported() -> RunRecord:
    record = sample_record()
    answer = "A set is a collection [1]. It costs $10 <b>today</b> [1]."
    doubted = UnsupportedSentence("It costs $10 <b>today</b> [1].", ("$10",), (1,))
    return replace(record, answer=answer, unsupported_sentences=(doubted,), answer_note="unsupported")


@pytest.mark.parametrize("outcome", get_args(Outcome))
@pytest.mark.parametrize("note", get_args(AnswerNote))
def test_every_outcome_has_a_label_in_both_languages_that_carries_support(outcome: Outcome, note: AnswerNote) -> None:
    """SC-04: codes stay; the label says what became of the answer."""
    english, chinese = outcome_text(outcome, EN, note), outcome_text(outcome, ZH, note)
    assert english and chinese and english != chinese
    assert (note == "unsupported") == english.endswith(", not supported") == chinese.endswith("，缺乏依据")
    assert outcome in OUTCOMES


def test_no_place_shows_an_unsupported_answer_as_a_good_one() -> None:
    """SC-04, SC-07."""
    record = unsupported()
    assert ended_text(record, EN) == "Answered, not supported"
    assert answer_badge(record, EN) == ("warn", "! not supported")
    ended = next(item for item in figures_of(record, EN) if item.label == "Outcome")
    assert (ended.value, ended.look) == ("Answered, not supported", "warn")
    chip = html_of(outcome_chip(record, EN))
    assert "warn" in chip and "Answered, not supported" in chip
    line = run_row(RunLine(RunId("b" * 32), "q", "answered", "2025", 5.0, 0, 0, answer_note="unsupported"), EN)
    assert (line["outcome"], line["look"]) == ("! Answered, not supported", "warn")
    assert "not all of it is in what it cites" in _ended(record, EN)


def test_saved_pictures_and_the_report_say_it_too() -> None:
    record = unsupported()
    graph = graph_of(compiled(record.workflow))
    assert "not supported" in decision_path_dot(record, EN)
    assert "not supported" in workflow_svg(graph, record, EN)
    report = report_html(record, graph, EN)
    assert report.count("Answered, not supported") >= 2
    assert "Not in the passages cited: $10" in report and "<b>today" not in report


def test_the_sentence_that_fails_is_marked_in_the_answer_and_foreign_text_is_no_markup() -> None:
    drawn = html_of(answer_part(unsupported(), EN))
    marked = drawn.partition("doubted")[2]
    assert "It costs $10" in marked and "&lt;b&gt;today&lt;/b&gt;" in marked and "A set is" not in marked
    assert "Not in the passages cited: $10" in marked
