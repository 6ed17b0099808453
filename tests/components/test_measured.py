"""What the page says of graders that were measured is what the file of the benchmark holds, and no more."""

from __future__ import annotations

import re

import pytest

from components.common.i18n import words_for
from components.common.widgets import measured_graders
from engine.evaluation.measured_models import measured_models
from tests.docs.model_tables import graders_table

EN, ZH = words_for("en"), words_for("zh")


def test_every_interval_on_the_page_is_one_of_the_table_in_the_documentation() -> None:
    said, table = measured_graders(EN), graders_table(measured_models())
    for entry in measured_models().graders:
        for name, figures in entry["sets"].items():
            if name != "all" and figures["auc"]:
                interval = "{:.2f} ({:.2f}–{:.2f})".format(*figures["auc"])
                assert interval in table
                assert interval in said or "fitted_on" in entry or "compared_with" in entry


def test_a_set_that_the_built_in_grader_was_fitted_on_is_marked() -> None:
    line = next(line for line in measured_graders(EN).splitlines() if line.startswith("- **built-in**"))
    assert [part.endswith("fitted on it") for part in line.split(" · ") if "XQuAD" in part] == [True]
    assert line.count("fitted on it") == 1


def test_what_was_measured_on_too_few_pairs_is_not_listed() -> None:
    listed = [line for line in measured_graders(EN).splitlines() if line.startswith("- ")]
    assert listed and all(re.search(r": .*\d\.\d\d \(", line) for line in listed)


@pytest.mark.parametrize(("words", "nothing"), [(EN, "No other model was measured."), (ZH, "其他模型没有测过。")])
def test_of_models_that_were_not_measured_it_says_so(words: object, nothing: str) -> None:
    assert measured_graders(words).splitlines()[-1].startswith(nothing)  # type: ignore[arg-type]
