"""Reading order: pieces of text as they lie on a page become lines, at any angle of the photograph."""

from __future__ import annotations

import math

import pytest

from engine.builtin.ocr_text import TextBox, page_text, sureness


def box(x: float, y: float, text: str, *, width: float = 0.0, height: float = 20.0, turned: float = 0.0) -> TextBox:
    """A piece whose top left corner is at (x, y) before the page is turned by so many degrees."""
    width = width or 11.0 * len(text)
    angle = math.radians(turned)

    def at(px: float, py: float) -> tuple[float, float]:
        return px * math.cos(angle) - py * math.sin(angle), px * math.sin(angle) + py * math.cos(angle)

    corners = (at(x, y), at(x + width, y), at(x + width, y + height), at(x, y + height))
    return TextBox(corners, text, 0.99)


@pytest.mark.parametrize("turned", [0, 7, -7, 20, 90])
def test_lines_are_read_from_the_top_down_and_from_left_to_right_at_any_angle(turned: float) -> None:
    """GH-05"""
    pieces = [
        box(300, 40, "500 mg", turned=turned),
        box(10, 10, "Drug of the first line", turned=turned),
        box(300, 12, "dose", turned=turned),
        box(10, 38, "metformin hydrochloride", turned=turned),
    ]
    assert page_text(pieces) == "Drug of the first line dose\nmetformin hydrochloride 500 mg"


def test_chinese_pieces_that_touch_are_joined_without_a_space() -> None:
    pieces = [
        box(10, 10, "二甲双胍", width=80),
        box(92, 10, "是一线用药", width=100),
        box(260, 10, "每日两次", width=80),
    ]
    assert page_text(pieces) == "二甲双胍是一线用药 每日两次"


def test_white_space_between_lines_becomes_a_blank_line() -> None:
    assert page_text([box(0, 0, "Title"), box(0, 60, "First"), box(0, 86, "second")]) == "Title\n\nFirst\nsecond"


def test_nothing_gives_nothing() -> None:
    assert page_text([]) == ""
    assert page_text([box(0, 0, "  ")]) == ""


def test_text_that_stands_on_end_does_not_count_as_read() -> None:
    lying = box(0, 0, "word", width=80)
    standing = box(0, 0, "word", width=20, height=80)
    assert sureness([lying]) > sureness([standing]) == 0


def test_a_page_of_upright_columns_alone_is_read_as_it_stands() -> None:
    columns = [box(x, 0, text, width=20, height=80) for x, text in ((90, "五六"), (50, "三四"), (10, "一二"))]
    assert page_text(columns) == "一二三四五六"
