"""Presentations, one for each thing that they may hold: what its text becomes, and what is said to be left out."""

# ruff: noqa: E501

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from engine.errors import SourceDamaged
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders.contents import Section, note
from engine.knowledge.loaders.slides import load_slides
from tests.support import office_files as made
from tests.support.office_files import pptx

_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_PLACE = (0, 0, 10**6, 10**6)
SLIDE = "ppt/slides/slide1.xml"
FRAME = (
    '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="9" name="n"/></p:nvGraphicFramePr>'
    '<a:graphic><a:graphicData uri="u">{}</a:graphicData></a:graphic></p:graphicFrame>'
)


def saved(deck: Any) -> bytes:
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def drawn(draw: Callable[[Any], object]) -> bytes:
    """A presentation of one slide without placeholders, drawn on with python-pptx."""
    from pptx import Presentation

    deck = Presentation()
    draw(deck.slides.add_slide(deck.slide_layouts[6]))
    return saved(deck)


def boxed(paragraphs: str) -> bytes:
    """A presentation of one slide whose only shape holds these paragraphs."""
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="7" name="n"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
    )
    return with_shapes(shape)


def with_shapes(shapes: str, extra: dict[str, bytes] | None = None, links: str = "") -> bytes:
    plain = drawn(lambda slide: None)
    names = (
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
        ' xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"'
        ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
        ' xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    )
    slide = made.part(plain, SLIDE).replace(b"<p:sld ", f"<p:sld {names} ".encode(), 1)
    linked = made.part(plain, "ppt/slides/_rels/slide1.xml.rels")
    return made.with_parts(
        plain,
        {
            SLIDE: slide.replace(b"</p:spTree>", f"{shapes}</p:spTree>".encode()),
            "ppt/slides/_rels/slide1.xml.rels": linked.replace(
                b"</Relationships>", f"{links}</Relationships>".encode()
            ),
            **(extra or {}),
        },
    )


def a(text: str, own: str = "", about: str = "") -> str:
    return f"<a:p><a:pPr {about}>{own}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>"


def link(kind: str, key: str, target: str) -> str:
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    return f'<Relationship Id="{key}" Target="{target}" Type="{kinds}/{kind}"/>'


def merged(slide: Any) -> None:
    table = slide.shapes.add_table(4, 3, *_PLACE).table
    for place, text in enumerate(("方案", "价格", "", "基础", "10", "100", "", "20", "200", "高级", "30", "300")):
        table.cell(place // 3, place % 3).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(0, 1).merge(table.cell(0, 2))


def charted(slide: Any) -> None:
    from pptx.chart.data import CategoryChartData, XyChartData
    from pptx.enum.chart import XL_CHART_TYPE

    columns: Any = CategoryChartData()
    columns.categories = ["一月", "二月"]
    columns.add_series("甲", (3, None))
    columns.add_series("乙", (0.5, 4), number_format="0%")
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *_PLACE, columns).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "销量"
    chart.value_axis.has_title = True
    chart.value_axis.axis_title.text_frame.text = "万元"
    points: Any = XyChartData()
    series = points.add_series("点")
    series.add_data_point(1, 2)
    series.add_data_point(1.5, 4)
    slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *_PLACE, points)


CHARTS = "销量 · 万元\n- 甲: 一月 = 3\n- 乙: 一月 = 50%; 二月 = 400%\n\n- 点: 1 = 2; 1.5 = 4"


def pictured(slide: Any) -> None:
    image = io.BytesIO()
    Image.new("RGB", (2, 2)).save(image, "PNG")
    slide.shapes.add_picture(image, 0, 0)._element.nvPicPr.cNvPr.set("descr", "泵的剖面")
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(*_PLACE).text_frame.text = "组里"
    hidden = group.shapes.add_textbox(*_PLACE)
    hidden.text_frame.text = "藏"
    hidden._element.nvSpPr.cNvPr.set("hidden", "1")


DIAGRAM = (
    f'<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:a="{_A}"><dgm:ptLst>'
    "<dgm:pt modelId='1' type='doc'/><dgm:pt modelId='2'><dgm:t>" + a("申请") + "</dgm:t></dgm:pt><dgm:pt modelId='3'>"
    "<dgm:t>" + a("审批") + "</dgm:t></dgm:pt></dgm:ptLst><dgm:cxnLst><dgm:cxn srcId='1' destId='2' srcOrd='0'/>"
    "<dgm:cxn srcId='2' destId='3' srcOrd='0'/></dgm:cxnLst></dgm:dataModel>"
).encode()
NUMBERED = "".join(
    a(text, f'<a:buAutoNum type="{form}"/>', f'lvl="{depth}"')
    for text, form, depth in (
        ("一", "arabicPeriod", 0), ("子", "alphaLcParenR", 1), ("二", "arabicPeriod", 0), ("子", "alphaLcParenR", 1),
    )
)  # fmt: skip

CASES: dict[str, tuple[bytes, str, dict[str, int]]] = {
    "merged cells": (
        drawn(merged),
        "- 方案: 基础; 价格: 10; 价格: 100\n- 方案: 基础; 价格: 20; 价格: 200\n- 方案: 高级; 价格: 30; 价格: 300",
        {},
    ),
    "raised, lowered and struck": (
        boxed('<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>9</a:t></a:r><a:r><a:t> H</a:t></a:r>'
              '<a:r><a:rPr baseline="-25000"/><a:t>2</a:t></a:r><a:r><a:t>O </a:t></a:r>'
              '<a:r><a:rPr strike="sngStrike"/><a:t>5</a:t></a:r><a:r><a:rPr strike="noStrike" baseline="0"/>'
              "<a:t> 7</a:t></a:r></a:p>"),
        "10^9 H_2O ~~5~~ 7",
        {},
    ),
    "equations": (
        boxed("<a:p><a:r><a:t>设 </a:t></a:r><mc:AlternateContent><mc:Choice Requires='a14'><a14:m><m:oMath><m:sSup><m:e>"
              "<m:r><m:t>𝑥</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m></mc:Choice>"
              "<mc:Fallback><a:r><a:t>x2</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"),
        "设 x^2",
        {},
    ),
    "numbered lists": (boxed(NUMBERED), "- 一\n  - 子\n- 二\n  - 子", {"list_numbers": 4}),
    "symbols of fonts and the number of the slide": (
        boxed("<a:p><a:r><a:rPr><a:sym typeface='Wingdings'/></a:rPr><a:t>\uf0e0</a:t></a:r><a:r><a:t> 是 \uf041</a:t></a:r>"
              "<a:fld id='{0}' type='slidenum'><a:t>7</a:t></a:fld></a:p>"),
        "→ 是",
        {"symbols": 1},
    ),
    "charts": (drawn(charted), CHARTS, {}),
    "pictures, groups and hidden shapes": (drawn(pictured), "[Picture: 泵的剖面]\n\n组里", {"pictures_not_read": 1, "shapes_hidden": 1}),
    "films": (
        with_shapes('<p:pic><p:nvPicPr><p:cNvPr id="8" name="n" descr="演示"/><p:cNvPicPr/><p:nvPr><a:videoFile/></p:nvPr>'
                    "</p:nvPicPr></p:pic>"),
        "[Picture: 演示]",
        {"files_not_read": 1},
    ),
    "SmartArt": (
        with_shapes(FRAME.format('<dgm:relIds r:dm="d1"/>'), {"ppt/diagrams/data1.xml": DIAGRAM},
                    link("diagramData", "d1", "../diagrams/data1.xml")),
        "- 申请\n  - 审批",
        {},
    ),
    "objects, comments and what is linked and missing": (
        with_shapes(
            FRAME.format("<p:oleObj/>") + FRAME.format('<dgm:relIds r:dm="no"/>'),
            {"ppt/comments/c.xml": b'<p:cmLst xmlns:p="p"><p:cm/><p:cm/></p:cmLst>'},
            link("comments", "k1", "/ppt/comments/c.xml") + link("image", "k2", "../NULL"),
        ),
        "",
        {"comments": 2, "diagrams_not_read": 1, "files_not_read": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_a_slide_holds_is_read_or_counted(name: str) -> None:
    data, text, left_out = CASES[name]
    contents = load_slides("a.pptx", data)
    assert [section.text for section in contents.sections] == ([text] if text else [])
    counted = [item for item in contents.notes if item.code != "slides_without_text"]
    assert counted == [note(code, count=count) for code, count in left_out.items()]


def test_a_chart_in_three_dimensions_with_errors_for_values_is_read() -> None:
    data = drawn(charted)
    path = next(name for name in made.names(data) if "charts/chart" in name and b"barChart" in made.part(data, name))
    odd = made.part(data, path).replace(b"c:barChart", b"c:bar3DChart").replace(b"<c:v>3</c:v>", b"<c:v>#N/A</c:v>")
    contents = load_slides("a.pptx", made.with_parts(data, {path: odd}))
    assert contents.sections == (Section(("Slide 1",), CHARTS.replace("= 3", "= #N/A")),)
    assert contents.read == {"slides": 1, "charts": 2}


def test_hidden_slides_stay_out_unless_they_are_asked_for() -> None:
    data = pptx([("甲", "一"), ("乙", "二"), ("丙", "三")])
    slide = made.part(data, "ppt/slides/slide2.xml").replace(b"<p:sld ", b'<p:sld show="0" ', 1)
    data = made.with_parts(data, {"ppt/slides/slide2.xml": slide})
    contents = load_slides("a.pptx", data)
    assert [section.path for section in contents.sections] == [("Slide 1 · 甲",), ("Slide 3 · 丙",)]
    assert contents.notes == (note("slides_hidden", count=1, slides="2"),)
    assert [section.path for section in load_slides("a.pptx", data, hidden=True).sections][1] == ("Slide 2 · 乙",)


def test_a_broken_slide_and_a_broken_chart_cost_themselves_alone() -> None:
    data = pptx([("甲", "一"), ("乙", "二")])
    broken = made.with_parts(data, {SLIDE: b"\x00\x01"})
    contents = load_slides("a.pptx", broken)
    assert [section.path for section in contents.sections] == [("Slide 2 · 乙",)]
    assert contents.notes == (note("slides_unreadable", count=1, slides="1"), note("parts_broken", count=1))
    with pytest.raises(SourceDamaged, match="slides"):
        load_slides("a.pptx", made.with_parts(broken, {"ppt/slides/slide2.xml": b"<p:sld"}))
    chart = drawn(charted)
    path = next(name for name in made.names(chart) if "charts/chart" in name and b"barChart" in made.part(chart, name))
    contents = load_slides("a.pptx", made.with_parts(chart, {path: b"no XML"}))
    assert contents.sections == (Section(("Slide 1",), CHARTS.partition("\n\n")[2]),)
    assert contents.notes == (note("charts_not_read", count=1), note("parts_broken", count=1))


def test_a_master_with_words_of_its_own_is_counted() -> None:
    data = pptx([("甲", "一"), ("乙", "二")])
    master = "ppt/slideMasters/slideMaster1.xml"
    mark = (
        '<p:sp><p:nvSpPr><p:cNvPr id="99" name="n"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/>{a('2025 年 6 月起有效')}</p:txBody></p:sp></p:spTree>"
    )
    changed = made.part(data, master).replace(b"</p:spTree>", mark.encode())
    contents = load_slides("a.pptx", made.with_parts(data, {master: changed}))
    assert contents.sections[1:] == (Section(("Slide 2 · 乙",), "二"),)
    assert contents.notes == (note("masters_not_read", count=1),)


@pytest.mark.parametrize("suffix", [".pptm", ".ppsx", ".potx"])
def test_shows_templates_and_presentations_with_macros_are_presentations(suffix: str) -> None:
    data = pptx([("甲", "一")])
    types = made.part(data, "[Content_Types].xml").replace(b"presentation.main+xml", b"slideshow.main+xml")
    document = load_bytes(f"a{suffix}", made.with_parts(data, {"[Content_Types].xml": types}))
    assert document.sections == (Section(("Slide 1 · 甲",), "一"),)


def test_words_at_the_foot_of_every_slide_are_read_once() -> None:
    place = (
        '<p:sp><p:nvSpPr><p:cNvPr id="7" name="n"/><p:cNvSpPr/><p:nvPr><p:ph type="{}" idx="11"/></p:nvPr></p:nvSpPr>'
        "<p:spPr/><p:txBody><a:bodyPr/>{}</p:txBody></p:sp>"
    )
    foot = (
        place.format("ftr", a("内部资料")) + place.format("dt", a("2024-01-01")) + place.format("sldNum", a("7"))
    ).encode()
    data = pptx([("甲", "一"), ("乙", "二")])
    parts = {
        name: made.part(data, name).replace(b"</p:spTree>", foot + b"</p:spTree>")
        for name in (SLIDE, "ppt/slides/slide2.xml")
    }
    contents = load_slides("a.pptx", made.with_parts(data, parts))
    assert [section.text for section in contents.sections] == ["一\n\n内部资料", "二"]
