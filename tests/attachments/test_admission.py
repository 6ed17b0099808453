"""What may come along with a question: limits that hold for files, pages and requests (GH-05)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.attachments.admission import (
    LONGEST_CELL,
    LONGEST_TEXT,
    MOST_ATTACHMENTS,
    MOST_COLUMNS,
    MOST_ROWS,
    admitted,
    attachment_line,
    fitted,
)
from engine.errors import AttachmentError
from engine.model.config import RunConfig
from engine.model.values import Attachment
from tests.support.errors import raises

GRAPH = RunConfig(workflow="graph_hybrid")
NOTE = Attachment("image", "note.png", text="Check kidney function.", read_by="ocr")
DOSES = Attachment("table", "doses.csv", rows=(("drug", "dose"), ("metformin", "500 mg")), read_by="csv")


def test_what_is_within_the_limits_stays_as_it_is() -> None:
    assert admitted((NOTE, DOSES), GRAPH) == (NOTE, DOSES)
    assert admitted((), RunConfig()) == ()


def test_a_workflow_that_would_leave_them_out_refuses_them() -> None:
    """GH-05"""
    with raises(AttachmentError.not_looked_at) as caught:
        admitted((NOTE,), RunConfig())
    assert "graph_hybrid" in caught.value.remedy


def test_more_than_a_handful_is_refused() -> None:
    with raises(AttachmentError.too_many):
        admitted((NOTE,) * (MOST_ATTACHMENTS + 1), GRAPH)


@pytest.mark.parametrize(
    "empty", [Attachment("image", "a.png", text=" \n\x07 "), Attachment("table", "a.csv", rows=((),))]
)
def test_one_that_says_nothing_is_refused_by_its_name(empty: Attachment) -> None:
    with raises(AttachmentError.empty) as caught:
        admitted((NOTE, empty), GRAPH)
    assert empty.name in caught.value.fact


@pytest.mark.parametrize(
    ("rows", "cut"),
    [
        ((("a", "b"),) * (MOST_ROWS + 5), "rows"),
        ((("a",) * (MOST_COLUMNS + 5),) * (MOST_ROWS + 5), "size"),
        ((("x",) * (MOST_COLUMNS + 3),) * 2, "columns"),
        ((("a", "b" * (LONGEST_CELL + 9)), ("c", "d")), "text"),
        ((("a", "b"), ("c", "d")), ""),
    ],
)
def test_what_goes_beyond_the_limits_is_cut_and_that_is_reported(rows: tuple[tuple[str, ...], ...], cut: str) -> None:
    made = fitted(Attachment("table", "t", rows=rows))
    assert made.cut == cut
    assert len(made.rows) <= MOST_ROWS and len(made.rows[0]) <= MOST_COLUMNS
    assert max(len(cell) for row in made.rows for cell in row) <= LONGEST_CELL


def test_a_long_text_is_cut_and_that_is_reported() -> None:
    made = fitted(Attachment("image", "i", text="x" * (LONGEST_TEXT + 1)))
    assert (len(made.text), made.cut) == (LONGEST_TEXT, "text")


def test_a_header_with_nothing_below_it_is_no_header() -> None:
    assert not fitted(Attachment("table", "t", rows=(("a", "b"),))).header


@settings(max_examples=40)
@given(st.lists(st.lists(st.text(max_size=4), max_size=4), max_size=6), st.text(max_size=20))
def test_every_table_comes_out_as_one_rectangle_that_fits_again(rows: list[list[str]], name: str) -> None:
    made = fitted(Attachment("table", name, rows=tuple(tuple(row) for row in rows)))
    assert len({len(row) for row in made.rows}) <= 1
    assert all(any(row) for row in made.rows)
    assert made.name and made.name.encode()
    assert fitted(made) == made


def test_marks_that_hide_or_turn_text_are_taken_out() -> None:
    made = fitted(Attachment("image", "a\u202egnp.exe\n", text="dose\u202e\x00 5\ud800"))
    assert made.name == "agnp.exe"
    assert made.text == "dose 5\ufffd"


def test_a_terminal_gets_one_line() -> None:
    assert attachment_line(NOTE) == "note.png (ocr): Check kidney function."
    assert attachment_line(DOSES) == "doses.csv (csv): 2 × 2 cells"
    assert attachment_line(replace(DOSES, rows=())) == "doses.csv (csv): 0 × 0 cells"
