"""The tab *Scores*: every measure in one of four groups, why F1 is low, and how the questions end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.common.outcomes import outcome_text
from engine.evaluation.aggregate import evaluate
from engine.evaluation.evidence import gather
from engine.evaluation.measures import MEASURES
from engine.model.config import RunConfig
from pages.parts.tune.scores import GROUPS, outcome_rows
from tests.evaluation.gathered import questions
from tests.pages.driving import inline

BOTH: tuple[UiLanguage, ...] = ("en", "zh")
BEFORE = RunConfig(gate="pass_rate", grade_probe=True)


def test_every_measure_is_in_one_group() -> None:
    placed = Counter(measure for group in GROUPS.values() for measure in group)
    assert placed == Counter(MEASURES.keys())
    assert len(GROUPS) == 4


def drawn(gold: bool) -> str:
    def page(gold: bool) -> None:
        from dataclasses import replace

        from components.common.i18n import words_for
        from engine.evaluation.aggregate import evaluate
        from engine.evaluation.evidence import gather
        from engine.model.config import RunConfig
        from pages.parts.tune.scores import view
        from tests.evaluation.gathered import questions

        config = RunConfig(gate="pass_rate", grade_probe=True)
        cases, records = questions(8, config)
        if gold:
            cases = [replace(case, gold_answers=("x",)) for case in cases]
        view(evaluate(gather(cases, records), [config, config]), {"uncited": 3}, words_for("en"), key="scores")

    app = AppTest.from_function(page, kwargs={"gold": gold}, default_timeout=60).run()
    assert not app.exception, app.exception
    assert "3 recorded answers name no source." in next(item.value for item in app.caption)
    return inline(app)


def test_the_groups_are_folded_and_f1_says_why_it_is_low_where_it_is_measured() -> None:
    said = drawn(gold=True)
    assert said.count('"details"') == 4
    assert "F1 counts shared words" in said
    assert "F1 counts shared words" not in drawn(gold=False)
    assert json.dumps("known for 8 of 8") in said


@pytest.mark.parametrize("language", BOTH)
def test_an_answer_that_is_not_supported_is_no_part_of_the_green_bar(language: UiLanguage) -> None:
    """SC-04: it has a label of its own, on both sides where it stands under both settings."""
    words = words_for(language)
    made, records = questions(12, BEFORE)
    answered = [item.id for item in made if records[item.id].answer and records[item.id].outcome == "answered"]
    doubted = replace(records[answered[0]], answer_note="unsupported")
    evaluation = evaluate(gather(made, {**records, answered[0]: doubted}), [BEFORE, BEFORE])
    rows = outcome_rows(evaluation, words)
    for side in (words("Baseline"), words("Now")):
        counts = {row["outcome"]: row["count"] for row in rows if row["side"] == side}
        assert counts[outcome_text("answered", words, "unsupported")] == 1
        assert counts[outcome_text("answered", words)] == len(answered) - 1
        assert sum(int(count) for count in counts.values()) == len(made)
