"""Presentations and workbooks."""

from __future__ import annotations

import datetime
import io
from typing import Any

import pytest

from engine.knowledge.loaders import workbook
from engine.knowledge.loaders.contents import Section, note
from engine.knowledge.loaders.slides import load_slides
from engine.knowledge.loaders.workbook import load_workbook
from tests.support import office_files as made


def test_each_slide_is_a_section_with_its_number_title_and_notes() -> None:
    data = made.pptx([("封面", "副标题"), ("要点", "第一\n第二"), ("", "没有标题"), ("", "")], notes="")
    contents = load_slides("a.pptx", data)
    assert contents.title == "封面"
    assert contents.sections == (
        Section(("Slide 1 · 封面",), "副标题"),
        Section(("Slide 2 · 要点",), "第一\n第二"),
        Section(("Slide 3",), "没有标题"),
    )
    assert contents.notes == (note("slides_without_text", count=1, slides="4"),)
    assert load_slides("a.pptx", made.pptx([("一", "二")], notes="讲稿")).sections[0].text == "二\n\nNotes: 讲稿"


def test_tables_and_charts_on_a_slide_are_read() -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(2, 3, 0, 0, 10**6, 10**6).table
    for place, text in enumerate(("城市", "人口", "面积", "北京", "2184", "16410")):
        table.cell(place // 3, place % 3).text = text
    make: Any = CategoryChartData
    data = make()
    data.categories = ["一月", "二月"]
    data.add_series("销量", (3, 4.5))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 10**6, 10**6, data)
    buffer = io.BytesIO()
    deck.save(buffer)
    text = load_slides("a.pptx", buffer.getvalue()).sections[0].text
    assert "- 城市: 北京; 人口: 2184; 面积: 16410" in text
    assert "- 销量: 一月 = 3; 二月 = 4.5" in text


def test_rows_say_their_headers_and_values_read_as_they_are_shown() -> None:
    data = made.xlsx(
        {
            "销售": [
                ["2024 年销售表"],
                ["城市", "日期", "金额", "占比", "备注"],
                ["北京", datetime.datetime(2024, 3, 1), 1234.5, 0.256, None],
                ["上海", datetime.datetime(2024, 3, 2, 14, 30), -20, 0.1, "换行\n的字"],
            ],
        },
        {"C3": '"¥"#,##0.00', "C4": "#,##0.00", "D3": "0.0%", "D4": "0%"},
    )
    assert load_workbook("a.xlsx", data).sections == (
        Section(
            ("销售",),
            "2024 年销售表\n- 城市: 北京; 日期: 2024-03-01 0:00:00; 金额: ¥1,234.50; 占比: 25.6%\n"
            "- 城市: 上海; 日期: 2024-03-02 14:30:00; 金额: -20.00; 占比: 10%; 备注: 换行 的字",
        ),
    )


def test_empty_and_hidden_sheets_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from openpyxl import load_workbook as opened

    book = opened(io.BytesIO(made.xlsx({"甲": [["名", "值"], ["a", 1]], "空": [], "密": [["x", "y"]]})))
    book["密"].sheet_state = "hidden"
    buffer = io.BytesIO()
    book.save(buffer)
    contents = load_workbook("a.xlsx", buffer.getvalue())
    assert [section.path for section in contents.sections] == [("甲",)]
    assert contents.notes == (
        note("sheets_empty", count=1, sheets="空"),
        note("sheets_hidden", count=1, sheets="密"),
    )
    taken = load_workbook("a.xlsx", buffer.getvalue(), True)
    assert [section.path for section in taken.sections] == [("甲",), ("密",)]
    assert taken.notes == (note("sheets_empty", count=1, sheets="空"),)


@pytest.mark.parametrize(("rows", "cut"), [(3, 0), (4, 1), (9, 6)])
def test_rows_beyond_the_limit_are_counted(rows: int, cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    contents = load_workbook("a.xlsx", made.xlsx({"S": [["a", "b"]] + [[f"x{n}", n] for n in range(rows - 1)]}))
    assert len(contents.sections[0].text.split("\n")) == 2
    assert contents.notes == ((note("rows_beyond", kept=3, count=cut),) if cut else ())


def test_a_far_away_cell_does_not_make_a_sheet_of_millions_of_lines() -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"], sheet["C200000"] = "近", "远"
    buffer = io.BytesIO()
    book.save(buffer)
    assert load_workbook("a.xlsx", buffer.getvalue()).sections[0].text == "| 近 |\n|  |  | 远 |"
