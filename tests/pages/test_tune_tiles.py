"""The four tiles of Tune: what stays, what changes, what is unknown, and what nothing can tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.common.i18n import UiLanguage, words_for
from components.sentences.measured import value_text
from engine.evaluation.aggregate import evaluate
from engine.evaluation.anytime import Drawn, anytime_of
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.figures import Evaluation, Measured
from engine.evaluation.judgements import Judged, pair_id
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import ANSWERED
from pages.parts.tune.tiles import AFTER, basis_text, tiles_of
from tests.evaluation.gathered import evidence_of, questions
from tests.truth.claims import numbers

EN = words_for("en")
BOTH: tuple[UiLanguage, ...] = ("en", "zh")
BEFORE = RunConfig(gate="pass_rate", grade_probe=True)
WHOLE = evaluate(evidence_of(12, BEFORE), [BEFORE, BEFORE])


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return evidence_of(24, BEFORE)


@pytest.mark.parametrize("language", BOTH)
def test_four_tiles_keep_their_places_whatever_the_questions_have(language: UiLanguage) -> None:
    """SC-08"""
    words = words_for(language)
    cases, records = questions(8, BEFORE)
    bare = [replace(case, expected=(), answerable=None) for case in cases]
    answerable = [case for case in cases if case.answerable]
    labels = [words("Answered right"), words("Wrong answers"), words("Cost"), words("Known")]
    for asked in (cases, answerable, bare):
        drawn = tiles_of(evaluate(gather(asked, records), [BEFORE, BEFORE]), words)
        assert [item.label for item in drawn] == labels
    known = tiles_of(evaluate(gather(cases, records), [BEFORE, BEFORE]), words)
    assert {item.note for item in known[:3]} == {words("same as baseline")}


def test_where_nothing_is_labelled_the_tiles_say_how_many_were_answered() -> None:
    cases, records = questions(8, BEFORE)
    bare = [replace(case, expected=(), answerable=None) for case in cases]
    right, wrong, cost, known = tiles_of(evaluate(gather(bare, records), [BEFORE, BEFORE]), EN)
    answered = sum(record.outcome not in ("abstained", "fallback") for record in records.values())
    assert (right.value, right.note) == ("–", f"no labels; {answered} of 8 answered")
    assert wrong.value == "–" and cost.value.endswith(" steps") and known.value == "8 of 8"


def test_fewer_steps_are_better_and_a_change_within_chance_is_said_to_be_one(evidence: Evidence) -> None:
    gentle = tiles_of(evaluate(evidence, [BEFORE, replace(BEFORE, grade_pass_threshold=0.0)]), EN)
    assert gentle[2].note.startswith("▼") and gentle[2].look == "pass"
    assert not any(item.look == "pass" and "may be chance" in item.note for item in gentle)


def test_answers_that_are_there_and_not_checked_are_not_called_missing() -> None:
    """Generating them again would tell nothing."""
    cases, records = questions(12, BEFORE)
    unsure = {
        name: replace(record, answer_note="unchecked") if record.outcome in ANSWERED else record
        for name, record in records.items()
    }
    evaluation = evaluate(gather(cases, unsure), [BEFORE, BEFORE])
    unknown = evaluation.figure("answered_right", AFTER).unknown_n
    known = tiles_of(evaluation, EN)[3]
    assert unknown > 0 and known.note == f"{unknown} answers not labelled or not checked"


def with_unknown(after: list[float | None], before: int = 9) -> Evaluation:
    """Twelve questions, ``before`` of them answered right; None where that is unknown afterwards."""
    rights = np.array([[float(place < before), 0.0 if value is None else value] for place, value in enumerate(after)])
    open_ = np.array([[False, value is None] for value in after])
    measured = Measured(rights * ~open_, (~open_).astype(float), open_.astype(float))
    return replace(WHOLE, measures={**WHOLE.measures, "answered_right": measured})


@given(st.lists(st.sampled_from([1.0, 0.0, None]), min_size=12, max_size=12))
def test_a_tile_over_part_of_the_questions_is_its_bounds_and_known_counts_the_rest(after: list[float | None]) -> None:
    """BE-01: all unknown wrong to all unknown right; what is not known improves nothing."""
    right, _, _, known = tiles_of(with_unknown(after), EN)
    low, unknown = after.count(1.0), after.count(None)
    ends = str(low) if not unknown else f"{low}–{low + unknown}"
    assert right.value == (f"{ends} of 12 · {unknown} unknown" if unknown else f"{ends} of 12")
    assert known.value == f"{12 - unknown} of 12"
    assert known.alarm == (12 - unknown < 0.9 * 12)
    if right.look == "pass":
        assert low > 9, "better also if every unknown one is wrong"


@pytest.mark.parametrize("language", BOTH)
def test_two_missed_questions_that_become_unknown_improve_nothing(language: UiLanguage) -> None:
    words = words_for(language)
    tile = tiles_of(with_unknown([*[1.0] * 9, 0.0, None, None]), words)[0]
    assert sorted(numbers(tile.value), key=int) == ["2", "9", "11", "12"]
    assert tile.note == words.count("same on 1 question", "same on {n} questions", 10)
    assert tile.look == "muted"


def test_settings_that_need_calls_leave_bounds_and_no_guess(evidence: Evidence) -> None:
    """SC-02"""
    other = replace(BEFORE, models=RoleModels(grader=RoleModel("ollama:qwen3:8b")), top_k=7, collection="elsewhere")
    evaluation = evaluate(evidence, [BEFORE, other])
    right, wrong, cost, known = tiles_of(evaluation, EN)
    assert right.value == "0–24 of 24 · 24 unknown"
    assert wrong.value.startswith("0–24 of 24") and cost.value.startswith("0.0–")
    assert known.value == "0 of 24" and known.alarm and known.note == "24 need more steps"


def test_a_share_that_moved_with_its_population_names_the_baseline() -> None:
    """A share of answers given can move although every question that gives one on both sides stays the same."""
    total, weight = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    whole = evaluate(evidence_of(3, BEFORE), [BEFORE, BEFORE])
    moved = replace(whole, measures={**whole.measures, "wrong_given": Measured(total, weight)})
    tile = tiles_of(moved, EN)[1]
    assert (tile.value, tile.note) == ("1 of 2", "baseline: 1 of 3")


def test_failed_questions_are_unknown_and_named() -> None:
    failed = replace(WHOLE, failed=("a", "b"))
    known = tiles_of(failed, EN)[3]
    assert (known.value, known.note, known.alarm) == ("12 of 14", "2 failed", True)


@pytest.mark.parametrize("language", BOTH)
def test_while_questions_run_a_tile_says_where_its_figure_will_end_and_no_change(
    evidence: Evidence, language: UiLanguage
) -> None:
    """Who looks again and again, and stops where it pleases, must not be misled."""
    words = words_for(language)
    names = tuple(case.id for case in evidence.cases)
    evaluation = evaluate(evidence, [BEFORE, replace(BEFORE, grade_pass_threshold=0.0)])
    so_far = Drawn((*names, *(f"to come {place}" for place in range(40))), frozenset(names))
    first, _, cost, _ = tiles_of(evaluation, words, so_far)
    interval = anytime_of(evaluation, "answered_right", AFTER, so_far)
    assert interval is not None and 0 < interval.low < interval.value < interval.high <= 1
    assert first.note == words("{low} – {high} at the end", low=f"{interval.low:.2f}", high=f"{interval.high:.2f}")
    assert cost.note == words("n = {n} so far", n=evaluation.figure("steps", AFTER).n)


def test_the_details_say_by_what_answers_are_decided_and_of_how_many() -> None:
    cases, records = questions(12, BEFORE)
    bare = [replace(case, expected=(), answerable=None) for case in cases[:4]]
    gold = [replace(case, gold_answers=("x",), answerable=True) for case in cases[4:6]]
    answered = [case for case in bare if records[case.id].answer]
    judged = {pair_id(answered[0].question, records[answered[0].id].answer): Judged(right=True, at_random=False)}
    evaluation = evaluate(gather([*bare, *gold, *cases[6:]], records, judged=judged), [BEFORE, BEFORE])
    refusals = sum(case.answerable is False for case in cases[6:])
    said = (
        f"by gold answers: 2, by people's labels: 1, by the passages given: {6 - refusals}, "
        f"by refusing what has no answer: {refusals}, not labelled: 3"
    )
    assert basis_text(evaluation, EN) == said
    assert said in tiles_of(evaluation, EN)[0].help


def test_a_figure_has_the_unit_of_its_measure() -> None:
    assert value_text("seconds", 1.24) == "1.2 s"
    assert value_text("steps", 6.14) == "6.1"
    assert value_text("quality", 0.934) == "0.93"
    assert value_text("quality", None) == value_text("quality", float("nan")) == "–"
