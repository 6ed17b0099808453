"""The tab *Questions*: where each question was lost, what changes, and the file of them."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from components.common.i18n import UiLanguage, words_for
from components.common.run_link import run_link, settings_in_url
from engine.evaluation.aggregate import evaluate
from engine.evaluation.evidence import gather
from engine.evaluation.question_changes import (
    ChangeReason,
    QuestionChange,
    QuestionChanges,
    Side,
    changes_between,
)
from engine.evaluation.question_results import QuestionResult, question_results
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import RunId
from pages.parts.tune.questions import LOST, RESULTS, change_text, changed_text, changes_csv, rows_of, side_text
from tests.evaluation.gathered import evidence_of, question_changes, questions

EN, ZH = words_for("en"), words_for("zh")
BOTH: tuple[UiLanguage, ...] = ("en", "zh")
BEFORE = RunConfig(gate="pass_rate", grade_probe=True)
REASONS: tuple[ChangeReason, ...] = (
    *("gained_expected", "lost_expected", "now_answers", "now_refuses", "now_refuses_unanswerable"),
    *("now_answers_unanswerable", "fewer_calls", "more_calls", "other_outcome"),
    *("unknown_before", "unknown_after"),
)


def change(reason: ChangeReason, *, steps: tuple[int, int] = (5, 4), question: str = "What is tea?") -> QuestionChange:
    sides = [Side(known=True, outcome="answered", round=1, steps=count, quality=1.0) for count in steps]
    return QuestionChange("case", question, RunId("run"), sides[0], sides[1], "better", reason)


@pytest.mark.parametrize("tried", [BEFORE, replace(BEFORE, grade_pass_threshold=0.4), replace(BEFORE, max_rewrites=0)])
def test_a_question_is_lost_where_its_expected_passage_was_last_seen(tried: RunConfig) -> None:
    """SC-04: by hand from the record, where the run itself has these settings; else by the measures alone."""
    made, records = questions(40, BEFORE)
    # A gold answer that no answer contains: wrong, although the right passage was given.
    cases = [replace(case, gold_answers=("x",)) if place % 3 == 0 else case for place, case in enumerate(made)]
    evidence = gather(cases, records)
    evaluation = evaluate(evidence, [BEFORE, tried])
    results = {item.case_id: item for item in question_results(evidence, evaluation, 1)}
    seen = set()
    for place, case in enumerate(cases):
        found, hit = results[case.id], evaluation.measures["context_hit"].of(1)[place]
        if found.result in ("right", "unknown", "unlabelled"):
            assert found.lost == ""
            continue
        assert (found.lost == "no_answer") == (case.answerable is False)
        assert (found.lost == "given") == (case.answerable is not False and hit > 0)
        if tried is BEFORE and case.expected:
            wanted = {item.value for item in case.expected}
            rounds = records[case.id].rounds
            there = any(item.passage.id in wanted for current in rounds for item in current.candidates)
            kept = any(item.id in wanted for current in rounds for item in current.kept)
            assert (found.lost == "not_found") == (not there)
            assert (found.lost == "not_kept") == (there and not kept)
        seen.add(found.lost)
    assert len(seen) > 2, "the questions are lost in different places"
    assert "given" in seen or tried.max_rewrites == 0


def test_wrong_ones_come_first_then_refused_unknown_and_right_ones_and_changed_before_others() -> None:
    evidence = evidence_of(24, BEFORE)
    evaluation = evaluate(evidence, [BEFORE, replace(BEFORE, grade_pass_threshold=0.0)])
    rows = rows_of(question_results(evidence, evaluation, 1), changes_between(evidence, evaluation, 0, 1))
    places = [list(RESULTS).index(item.result) for item, _ in rows]
    assert places == sorted(places) and len(rows) == 24
    for result in RESULTS:
        kept = [moved.verdict == "same" for item, moved in rows if item.result == result]
        assert kept == sorted(kept)


@pytest.mark.parametrize("language", BOTH)
def test_every_reason_and_every_place_has_words(language: UiLanguage) -> None:
    words = words_for(language)
    for said in (*(change_text(change(reason), words) for reason in REASONS), *(words(text) for text in LOST.values())):
        assert said and said.isascii() == (language == "en")


def test_one_step_is_one_step_and_what_stays_has_no_words() -> None:
    assert change_text(change("fewer_calls", steps=(5, 4)), EN) == "1 step fewer"
    assert change_text(change("more_calls", steps=(3, 6)), EN) == "3 steps more"
    assert change_text(replace(change("nothing"), verdict="same"), EN) == ""


def test_a_side_says_how_it_ends_and_after_how_many_rewrites() -> None:
    assert side_text(Side(known=True, outcome="answered", round=0), EN) == "Answered · as asked"
    assert side_text(Side(known=True, outcome="answered", round=1), EN) == "Answered · rewrite 1"
    doubted = Side(known=True, outcome="answered", answer_note="unsupported", round=2)
    assert side_text(doubted, EN) == "Answered, not supported · rewrite 2"
    assert side_text(Side(known=False), EN) == "unknown"


def test_unknown_questions_are_no_changes_and_are_counted() -> None:
    found = question_changes(evidence_of(12, BEFORE), BEFORE, replace(BEFORE, collection="elsewhere"))
    assert changed_text(found, EN).endswith("12 unknown")
    same = question_changes(evidence_of(12, BEFORE), BEFORE, BEFORE)
    assert changed_text(same, EN) == "same on 12 questions"


def test_the_file_has_every_question_and_no_formula() -> None:
    evidence = evidence_of(24, BEFORE)
    evaluation = evaluate(evidence, [BEFORE, replace(BEFORE, grade_pass_threshold=0.0)])
    found = changes_between(evidence, evaluation, 0, 1)
    rows = rows_of(question_results(evidence, evaluation, 1), found)
    lines = list(csv.DictReader(io.StringIO(changes_csv(rows, EN).decode("utf-8-sig"))))
    assert len(lines) == 24 and {line["verdict"] for line in lines} == {item.verdict for item in found.rows}
    hostile = QuestionChanges((change("now_answers", question="=HYPERLINK(1)"),), found.test)
    written = changes_csv(rows_of([QuestionResult("case", "right")], hostile), EN)
    assert "\n'=HYPERLINK(1)" in written.decode("utf-8-sig").replace("\r", "")


def test_a_link_to_a_run_holds_the_settings_that_are_not_the_defaults() -> None:
    """SC-12"""
    chat = RoleModel("ollama:qwen3:8b", num_ctx=4096)
    config = RunConfig(top_k=7, similarity_threshold=0.25, gate="min_relevant", models=RoleModels(grader=chat))
    address = urlsplit(run_link("r1", config, EN, "/base"))
    assert address.path == "/base/"
    named = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert named.pop("run") == "r1"
    assert named.pop("lang") == "en"
    assert named == {
        "top_k": "7",
        "similarity_threshold": "0.25",
        "gate": "min_relevant",
        "grader": "ollama:qwen3:8b",
        "num_ctx": "4096",
    }
    assert settings_in_url(RunConfig()) == {"gate": "min_relevant"}
    assert settings_in_url(RunConfig(grade_probe=True)) == {"gate": "min_relevant", "grade_probe": "true"}
