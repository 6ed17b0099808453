"""The tab *Does correction pay?*, drawn from values."""

from __future__ import annotations

from components.common.i18n import words_for
from engine.evaluation.cases import sample_set
from engine.evaluation.correction import correction
from engine.evaluation.evidence import gather
from engine.evaluation.values import shipped_batch
from engine.model.config import RunConfig, config_from_dict
from engine.samples.shipped import shipped_record
from pages.parts.tune.correction import cost_texts, heading, nothing_to_compare, questions_csv

EN, ZH = words_for("en"), words_for("zh")
EVIDENCE = gather(sample_set().cases, {case: shipped_record(run) for case, run in shipped_batch().runs.items()})


def test_what_is_known_is_a_number_and_what_is_not_is_bounds_with_its_price() -> None:
    """BE-01"""
    known = correction(EVIDENCE, shipped_batch().config)
    assert heading(known, EN) == "Correction helped 1 of 74 questions and harmed 0"
    steps, right = cost_texts(known, EN)
    assert steps.startswith("Steps a question: ") and "model calls" not in steps
    assert "58/74 with correction, 57/74 without, 58/74" in right and "hindsight" in right
    unknown = correction(EVIDENCE, RunConfig(similarity_threshold=0.4))
    assert heading(unknown, EN).startswith("Correction helped 0–")
    assert heading(unknown, EN).endswith(f" · {unknown.count('unknown')} unknown")
    price = unknown.price.built_in_calls
    assert (
        f"{len(unknown.missing)} answers" in cost_texts(unknown, EN)[-1]
        and f"{price} steps" in cost_texts(unknown, EN)[-1]
    )
    assert all("{" not in text for text in (heading(unknown, ZH), *cost_texts(unknown, ZH)))


def test_every_question_is_in_the_file_and_says_why_it_is_unknown() -> None:
    lines = questions_csv(correction(EVIDENCE, RunConfig(similarity_threshold=0.4)), EN).decode().splitlines()
    assert len(lines) == len(EVIDENCE) + 1
    assert any(",unknown,not_generated," in line for line in lines)


def test_settings_that_never_correct_name_the_setting_to_raise() -> None:
    assert nothing_to_compare(RunConfig(max_rewrites=0), EN) == "Max rewrites is 0: raise it to compare."
    assert nothing_to_compare(config_from_dict({"workflow": "dual_loop"}), EN).startswith("Corrections at most is 0")
