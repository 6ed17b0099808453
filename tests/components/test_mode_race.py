"""Columns of the mode race: every mode with its cost, its flags and its answer, in both languages."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from components.common.i18n import UiLanguage, words_for
from components.common.markup import Node
from components.labels import choices_of
from engine.model.config import SETTINGS
from engine.model.values import RunRecord
from engine.running.mode_race import MODES, Finding, mode_race
from pages.parts.runs.modes import FINDINGS, mode_race_nodes
from tests.components.sample_run import HOSTILE
from tests.engine.test_mode_race import GLOBAL, LOCAL, LOST, NAIVE, run


def said(records: list[RunRecord], language: UiLanguage = "en") -> str:
    return " ".join(item.text for item in mode_race_nodes(mode_race(records), words_for(language)))


def looks(nodes: tuple[Node, ...]) -> list[str]:
    found = [item.attrs.get("class", "") for item in nodes]
    return found + [look for item in nodes for look in looks(tuple(kid for kid in item.kids if isinstance(kid, Node)))]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_column_says_its_mode_and_the_graphs_own_passages_are_marked(language: UiLanguage) -> None:
    """GH-02: each mode with its own picture of what it did."""
    words = words_for(language)
    text = said([NAIVE, LOCAL, GLOBAL, run("bypass")], language)
    for mode in ("naive", "local", "global", "bypass"):
        assert words(choices_of("mode")[mode]) in text
    assert words("only the graph") in text
    assert words("in every mode") in text
    assert words("without a search") in text
    assert (
        words.count(
            "The graph added 1 passage to what vectors keep; answers cite {cited}.",
            "The graph added {n} passages to what vectors keep; answers cite {cited}.",
            2,
            cited=1,
        )
        in text
    )


def test_a_mode_that_could_not_do_its_work_is_flagged_loudly() -> None:
    """GH-02: no mode silently becomes another."""
    nodes = mode_race_nodes(mode_race([NAIVE, LOST]), words_for("en"))
    text = " ".join(item.text for item in nodes)
    assert "Vectors searched instead." in text
    assert "Entities: no knowledge graph" in text
    assert "box warn" in looks(nodes)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_finding_and_every_mode_has_words(language: UiLanguage) -> None:
    words = words_for(language)
    assert {*FINDINGS, "cited", "found", "running"} == set(get_args(Finding))
    assert all("{" not in words(text) for text in FINDINGS.values())
    assert all(words(SETTINGS["mode"].notes[mode]) for mode in MODES)


def test_while_runs_are_in_progress_there_is_no_finding() -> None:
    words = words_for("en")
    text = said([NAIVE, replace(LOCAL, outcome=None)])
    assert words("starting") in text
    assert words("The runs shared this machine, so each may have taken longer than it would alone.") not in text


def test_a_long_answer_folds_and_hostile_text_stays_text() -> None:
    record = replace(NAIVE, answer=HOSTILE + " word" * 100)
    nodes = mode_race_nodes(mode_race([record]), words_for("en"))
    text = " ".join(item.text for item in nodes)
    assert words_for("en")("Whole answer") in text
    assert HOSTILE.split(" ![")[0] in text
