"""The one table of ends, reasons and places of passages, and what is said from it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

from components.common.i18n import words_for
from components.common.outcomes import (
    GATES,
    NOTES,
    OUTCOMES,
    REASONS,
    end_badge,
    end_text,
    outcome_text,
    reason_text,
    round_text,
)
from engine.model.values import AnswerNote, Gate, Outcome, Reason

EN, ZH = words_for("en"), words_for("zh")
ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "components" / "common" / "outcomes.py"
CODES = frozenset(get_args(Outcome)) - {"cancelled", "failed", "interrupted"}
"""Outcomes whose codes name nothing else, such as the state of a job."""


def test_every_code_of_the_engine_has_a_row() -> None:
    assert set(get_args(Outcome)) == OUTCOMES.keys()
    assert set(get_args(AnswerNote)) - {""} == NOTES.keys()
    assert set(get_args(Reason)) <= REASONS.keys()
    assert set(get_args(Gate)) == GATES.keys()


def test_each_end_looks_different_in_a_chart_and_has_a_label_of_its_own_in_both_languages() -> None:
    rows = [*OUTCOMES.values(), *NOTES.values()]
    assert len({row.colour for row in rows}) == len(rows)
    for words in (EN, ZH):
        assert len({words(row.label) for row in rows}) == len(rows)
    assert all(row.glyph and row.tone for row in (*rows, *REASONS.values(), *GATES.values()))


def own_tables(path: Path) -> list[int]:
    """Lines of tables, other than the one, that give three or more outcomes a text or a look."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for item in (item for item in ast.walk(tree) if isinstance(item, ast.Dict)):
        named = {key.value for key in item.keys if isinstance(key, ast.Constant)}
        if len(named & CODES) > 2:
            found.append(item.lineno)
    return found


@pytest.mark.parametrize("folder", ["components", "pages"])
def test_no_other_file_has_a_table_of_outcomes(folder: str) -> None:
    places = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != TABLE and path.name != "what_if_text.py"
        for line in own_tables(path)
    ]
    assert places == []


def test_an_end_says_after_what() -> None:
    assert end_text("answered", 0, EN) == "Answered"
    assert end_text("answered", 1, EN) == "Answered after 1 rewrite"
    assert end_text("abstained", 3, EN) == "Refused after 3 rewrites"
    assert end_text("answered", 2, EN, "unsupported") == "Answered after 2 rewrites, not supported"
    assert end_text("answered", 2, EN, "cannot_tell") == "Says it cannot tell after 2 rewrites"
    assert end_text("abstained", 3, ZH) == "拒答 · 改写 3 次"


def test_a_badge_has_the_tone_of_the_note_where_there_is_one() -> None:
    assert end_badge("answered", EN) == ("pass", "✓ Answered")
    assert end_badge("answered", EN, "unsupported") == ("warn", "! Answered, not supported")
    assert end_badge(None, EN) == ("accent", "● Running")


def test_rounds_are_named_by_their_query() -> None:
    assert [round_text(index, EN) for index in range(3)] == ["as asked", "rewrite 1", "rewrite 2"]
    assert [round_text(index, ZH) for index in range(2)] == ["原问题", "改写 1"]


def test_a_reason_that_is_no_code_is_shown_as_it_is() -> None:
    assert reason_text("max_rewrites", EN) == "no rewrite left"
    assert reason_text("a plug-in's own", EN) == "a plug-in's own"
    assert outcome_text("answered", EN, "cannot_tell") == "Says it cannot tell"
