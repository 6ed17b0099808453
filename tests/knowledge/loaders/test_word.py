"""Word documents: headings, lists, tables and what else holds words."""

from __future__ import annotations

import pytest

from engine.errors import SourceDamaged
from engine.knowledge.loaders.contents import Section
from engine.knowledge.loaders.word import load_word
from tests.support import office_files as made

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def with_body(body: str) -> bytes:
    """A document with this body, written by hand."""
    return made.with_parts(
        made.docx([]), {"word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>".encode()}
    )


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_headings_divide_a_chinese_document_and_tables_say_their_headers_in_each_row() -> None:
    data = made.docx(
        [
            ("Title", "糖尿病手册"),
            ("Heading 1", "症状"),
            ("Normal", "多饮、多尿。"),
            ("List Bullet", "口渴"),
            ("List Bullet", "乏力"),
            ("Heading 2", "数值"),
            ("table", [["项目", "正常", "偏高"], ["空腹", "5.6", "7.0"], ["餐后", "7.8", ""]]),
            ("Heading 1", "治疗"),
            ("Normal", "运动。"),
        ]
    )
    contents = load_word("a.docx", data)
    assert contents.title == "糖尿病手册"
    assert contents.sections == (
        Section(("症状",), "多饮、多尿。\n\n- 口渴\n- 乏力"),
        Section(("症状", "数值"), "- 项目: 空腹; 正常: 5.6; 偏高: 7.0\n- 项目: 餐后; 正常: 7.8"),
        Section(("治疗",), "运动。"),
    )


def test_the_only_top_heading_is_the_title_and_several_are_sections() -> None:
    one = load_word(
        "a.docx", made.docx([("Heading 1", "唯一"), ("Normal", "文。"), ("Heading 2", "节"), ("Normal", "字。")])
    )
    assert (one.title, [section.path for section in one.sections]) == ("唯一", [(), ("节",)])
    two = load_word(
        "a.docx", made.docx([("Heading 1", "甲"), ("Normal", "文。"), ("Heading 1", "乙"), ("Normal", "字。")], "书")
    )
    assert (two.title, [section.path for section in two.sections]) == ("书", [("甲",), ("乙",)])


def test_a_form_of_two_columns_reads_as_names_and_values() -> None:
    contents = load_word("a.docx", made.docx([("table", [["姓名", "张三"], ["性别", "男"]])]))
    assert contents.sections[0].text == "- 姓名: 张三\n- 性别: 男"


def test_inserted_text_counts_and_deleted_text_does_not() -> None:
    body = (
        "<w:p><w:ins><w:r><w:t>留下</w:t></w:r></w:ins><w:del><w:r><w:delText>删去</w:delText></w:r></w:del>"
        "<w:r><w:t>的字</w:t><w:br/><w:t>次行</w:t></w:r></w:p>"
    )
    assert load_word("a.docx", with_body(body)).sections == (Section((), "留下的字\n次行"),)


def test_words_in_content_controls_and_text_boxes_are_read_and_a_table_of_contents_is_not() -> None:
    contents_list = (
        '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
        f"<w:sdtContent>{paragraph('第一章 3')}</w:sdtContent></w:sdt>"
    )
    control = f"<w:sdt><w:sdtContent>{paragraph('控件里的字')}</w:sdtContent></w:sdt>"
    boxed = f"<w:r><w:pict><w:txbxContent>{paragraph('框里')}</w:txbxContent></w:pict></w:r>"
    box = f"<w:p><w:r><w:t>外面</w:t></w:r>{boxed}</w:p>"
    assert load_word("a.docx", with_body(contents_list + control + box)).sections == (
        Section((), "控件里的字\n\n外面\n\n框里"),
    )


def test_an_outline_level_makes_a_heading_without_a_style() -> None:
    body = paragraph("手工标题", '<w:outlineLvl w:val="1"/>') + paragraph("正文")
    assert load_word("a.docx", with_body(body)).sections == (Section(("手工标题",), "正文"),)


def test_a_cell_that_reaches_over_rows_counts_for_each_of_them() -> None:
    def cell(text: str, merge: str = "") -> str:
        return f"<w:tc><w:tcPr>{merge}</w:tcPr>{paragraph(text)}</w:tc>"

    rows = [
        cell("城市") + cell("年份") + cell("人数"),
        cell("北京", '<w:vMerge w:val="restart"/>') + cell("甲") + cell("3"),
        cell("", "<w:vMerge/>") + cell("乙") + cell("4"),
    ]
    table = f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
    assert load_word("a.docx", with_body(table)).sections[0].text == (
        "- 城市: 北京; 年份: 甲; 人数: 3\n- 城市: 北京; 年份: 乙; 人数: 4"
    )


def test_footnotes_are_read_after_the_text() -> None:
    notes = f"<w:footnotes {_W}><w:footnote>{paragraph('脚注一')}</w:footnote></w:footnotes>".encode()
    plain = made.docx([("Normal", "正文")])
    relations = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="rId99" Target="footnotes.xml" Type='
        b'"http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"/></Relationships>'
    )
    types = made.part(plain, "[Content_Types].xml").replace(
        b"</Types>", b'<Override PartName="/word/footnotes.xml" ContentType="application/xml"/></Types>'
    )
    styles = made.part(plain, "word/_rels/document.xml.rels").replace(b"</Relationships>", relations.split(b">", 1)[1])
    data = made.with_parts(
        plain, {"word/footnotes.xml": notes, "[Content_Types].xml": types, "word/_rels/document.xml.rels": styles}
    )
    assert load_word("a.docx", data).sections == (Section((), "正文\n\n脚注一"),)


def test_a_document_without_its_main_part_is_damaged() -> None:
    with pytest.raises(SourceDamaged, match="main part"):
        load_word("a.docx", made.with_parts(made.docx([]), {"word/document.xml": b"<cut"}))
