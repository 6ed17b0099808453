"""What passages say together stands beside the verdicts, from the record or by words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.ask.together import set_verdicts
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
        from components.ask.together import together_lines
        from components.common.i18n import words_for

        together_lines(record, words_for(language), key="together")  # type: ignore[arg-type]

    app = AppTest.from_function(page, args=(record, language)).run()
    assert not app.exception
    return inline(app)


def test_a_run_that_asked_no_one_is_judged_by_words(record: RunRecord) -> None:
    (verdict,) = set_verdicts(record).values()
    assert verdict.grader == "builtin" and verdict.answered in ("yes", "part")
    assert set(verdict.passages) <= {item.id for item in record.passages.values()}


def test_the_recorded_verdict_counts_before_words(record: RunRecord) -> None:
    said = SetVerdict((PassageId("x"),), "no", "Nothing at all.", grader="ollama:m")
    told = replace(record, rounds=(replace(record.rounds[0], whole=said),))
    assert set_verdicts(told) == {0: said}


def test_a_round_in_which_nothing_passed_says_nothing(record: RunRecord) -> None:
    assert set_verdicts(replace(record, rounds=(replace(record.rounds[0], verdicts={}),))) == {}


@pytest.mark.parametrize(("language", "asked"), [("en", "Round 0"), ("zh", "第 0 轮")])
def test_the_page_says_it_in_its_language(record: RunRecord, language: str, asked: str) -> None:
    said = SetVerdict((PassageId("x"),), "no", "Nothing at all.", grader="ollama:m")
    shown = drawn(replace(record, rounds=(replace(record.rounds[0], whole=said),)), language)
    assert asked in shown and "Nothing at all." in shown
