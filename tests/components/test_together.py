"""What passages say together stands beside the verdicts where the run asked for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.ask.notes import set_verdicts
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import PassageId, RunRecord, SetVerdict
from engine.settings import Settings
from tests.pages.driving import inline

QUESTION = "How many rows does a truth table with five variables need?"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    folder: Path = tmp_path_factory.mktemp("together")
    with Engine.open(Settings.load(data_dir=folder, ollama_url="http://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        return engine.run(QUESTION, RunConfig(max_rewrites=0))


def drawn(record: RunRecord, language: str) -> str:
    def page(record: object, language: str) -> None:
        from components.ask.notes import together_lines
        from components.common.i18n import words_for

        together_lines(record, words_for(language), key="together")  # type: ignore[arg-type]

    app = AppTest.from_function(page, args=(record, language)).run()
    assert not app.exception
    return inline(app)


def test_a_run_that_was_not_asked_to_says_nothing_of_its_passages_together(record: RunRecord) -> None:
    """That they cover the words of the question would read as if they answered it."""
    assert set_verdicts(record) == {}


@pytest.mark.parametrize("answered", ["yes", "part", "no"])
def test_the_built_in_judge_says_words_and_never_that_passages_answer(record: RunRecord, answered: Any) -> None:
    said = SetVerdict((PassageId("x"), PassageId("y")), answered, "", missing=("cost",))
    shown = drawn(replace(record, rounds=(replace(record.rounds[0], whole=said),)), "en")
    assert "of the question" in shown and "2 passages that passed" in shown and "missing: cost" in shown
    assert "answer it" not in shown and '"yes"' not in shown


def test_the_recorded_verdict_is_shown(record: RunRecord) -> None:
    said = SetVerdict((PassageId("x"),), "no", "Nothing at all.", grader="ollama:m")
    told = replace(record, rounds=(replace(record.rounds[0], whole=said),))
    assert set_verdicts(told) == {0: said}


def test_a_round_in_which_nothing_passed_says_nothing(record: RunRecord) -> None:
    assert set_verdicts(replace(record, rounds=(replace(record.rounds[0], verdicts={}),))) == {}


@pytest.mark.parametrize(("language", "asked"), [("en", "As asked"), ("zh", "原问题")])
def test_the_page_says_it_in_its_language(record: RunRecord, language: str, asked: str) -> None:
    said = SetVerdict((PassageId("x"),), "no", "Nothing at all.", grader="ollama:m")
    shown = drawn(replace(record, rounds=(replace(record.rounds[0], whole=said),)), language)
    assert asked in shown and "Nothing at all." in shown
