"""Lines of a page as they were drawn, and the paragraphs that a reader sees in them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.knowledge.loaders.pdf_layout import Entry, Line, Page, read_pages
from engine.knowledge.loaders.wrapping import joined, joined_lines


def lines(*rows: tuple[str, float, float], size: float = 12, top: float = 100) -> list[Line]:
    """Lines of text with their left and right edge, one below the other."""
    return [
        Line(text, left, right, top + 20 * number, top + 20 * number + size)
        for number, (text, left, right) in enumerate(rows)
    ]


def texts(*pages: Sequence[Line]) -> list[str]:
    return [text for _, _, text in read_pages([Page(number, page) for number, page in enumerate(pages, 1)], [])]


def test_an_indented_line_begins_a_paragraph_and_full_lines_continue() -> None:
    page = lines(
        ("首段第一行占满整行", 84, 500),
        ("第二行也占满整行的", 60, 500),
        ("末行。", 60, 120),
        ("次段缩进两字", 84, 500),
        ("继续。", 60, 110),
    )
    assert texts(page) == ["首段第一行占满整行第二行也占满整行的末行。\n\n次段缩进两字继续。"]


def test_a_short_line_ends_a_paragraph() -> None:
    page = lines(("第一段到这里就结束了", 60, 300), ("第二段从这里开始一直写满整行", 60, 500), ("结束。", 60, 100))
    assert texts(page) == ["第一段到这里就结束了\n\n第二段从这里开始一直写满整行结束。"]


def test_a_line_of_another_size_stands_alone() -> None:
    title = Line("大标题一直到行尾都是字", 60, 500, 70, 94)
    assert texts([title, *lines(("正文占满整行的一行文字", 60, 500), ("完。", 60, 90))]) == [
        "大标题一直到行尾都是字\n\n正文占满整行的一行文字完。"
    ]


def test_items_of_a_list_keep_their_lines() -> None:
    page = lines(
        ("1. first item that fills the line", 60, 500), ("2. second item that fills it", 60, 500), ("• third", 60, 120)
    )
    assert texts(page)[0].split("\n\n") == [
        "1. first item that fills the line",
        "2. second item that fills it",
        "• third",
    ]


def test_columns_are_read_one_after_the_other() -> None:
    left = lines(("左栏第一行占满左栏宽度", 60, 280), ("左栏第二行也是占满的", 60, 280))
    right = lines(("右栏继续左栏的句子并占满", 310, 530), ("到此。", 310, 350))
    assert texts([*left, *right]) == ["左栏第一行占满左栏宽度左栏第二行也是占满的右栏继续左栏的句子并占满到此。"]


def test_a_head_with_the_page_number_is_left_out_wherever_pages_begin_to_count() -> None:
    pages = [
        [Line(f"Handbook {number + 20}", 60, 150, 30, 42), *lines((f"Body of leaf {number * number}.", 60, 200))]
        for number in range(1, 7)
    ]
    assert texts(*pages) == [f"Body of leaf {number * number}." for number in range(1, 7)]


def test_lines_at_the_edge_that_differ_in_more_than_the_page_number_stay() -> None:
    pages = [lines((f"Sample {number * 17} was measured", 60, 500)) for number in range(1, 7)]
    assert texts(*pages) == [f"Sample {number * 17} was measured" for number in range(1, 7)]


def test_broken_words_are_joined_unless_they_are_written_with_a_hyphen() -> None:
    assert joined(["the infor-", "mation is", "here"]) == "the information is here"
    assert joined(["a self-", "corrective loop"], {"self-corrective"}) == "a self-corrective loop"
    assert joined(["Jean-", "Paul"]) == "Jean-Paul"
    assert joined(["中文", "没有空格 and", "words"]) == "中文没有空格 and words"
    assert joined_lines("中文\n  换行\nwords\nhere") == "中文换行 words here"


def test_headings_of_the_outline_hold_in_reading_order_on_a_page_of_two_columns() -> None:
    left = lines(("甲", 60, 80), ("甲的正文。", 60, 200), ("乙", 60, 80), ("乙的正文。", 60, 200))
    right = lines(("乙在右栏继续。", 310, 500), ("丙", 310, 330), ("丙的正文。", 310, 500))
    outline = [Entry(0, "甲", 1, 100), Entry(0, "乙", 1, 140), Entry(0, "丙", 1, 120)]
    assert [(path, text) for path, _, text in read_pages([Page(1, [*left, *right])], outline)] == [
        (("甲",), "甲的正文。"),
        (("乙",), "乙的正文。乙在右栏继续。"),
        (("丙",), "丙的正文。"),
    ]


def test_a_line_of_no_width_stops_nothing() -> None:
    assert texts(lines(("上文占满整行的一行文字", 60, 500), ("I", 300, 300), ("下文。", 60, 120))) == [
        "上文占满整行的一行文字 I 下文。"
    ]
