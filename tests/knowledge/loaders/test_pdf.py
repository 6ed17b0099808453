"""PDF files: Chinese text whole, pages and headings said, and honest words for what cannot be read."""

from __future__ import annotations

import pytest

from engine.errors import (
    SourceDamaged,
    SourceEmpty,
    SourceEncrypted,
    SourceGarbled,
    SourceMislabelled,
    SourceScanned,
    SourceTooManyPages,
)
from engine.knowledge.chunk import chunk
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders import pdf
from engine.knowledge.loaders.contents import Section, note
from engine.knowledge.loaders.pdf import load_pdf
from engine.knowledge.loaders.radicals import unified
from tests.support import office_files as made

FULL = "糖尿病是一组以高血糖为特征的代谢性疾病长期存在的高血糖会导致损害"


def test_a_chinese_pdf_keeps_every_character_and_joins_its_lines_without_a_space() -> None:
    data = made.pdf([[f"{FULL}眼", "睛和肾脏。", "", "第二段 with English words inside."]], title="糖尿病手册")
    contents = load_pdf("a.pdf", data)
    assert contents.title == "糖尿病手册"
    assert contents.sections == (Section(("p. 1",), f"{FULL}眼睛和肾脏。\n\n第二段 with English words inside."),)


def test_the_outline_gives_the_headings_and_each_section_says_its_page() -> None:
    data = made.pdf(
        [["第一章 绪论", "甲。"], ["乙。"], ["第二节 症状", "丙。"], ["丁。"]],
        outline=[("第一章 绪论", 1, 0), ("第二节 症状", 3, 1), ("第三章", 4, 0)],
    )
    contents = load_pdf("a.pdf", data)
    assert contents.sections == (
        Section(("第一章 绪论", "p. 1"), "甲。"),
        Section(("第一章 绪论", "p. 2"), "乙。"),
        Section(("第一章 绪论", "第二节 症状", "p. 3"), "丙。"),
        Section(("第三章", "p. 4"), "丁。"),
    )


def test_an_outline_with_one_entry_above_all_others_names_the_document() -> None:
    data = made.pdf([["甲。"], ["乙。"]], outline=[("手册", 1, 0), ("第一章", 1, 1), ("第二章", 2, 1)])
    contents = load_pdf("a.pdf", data)
    assert contents.title == "手册"
    assert [section.path for section in contents.sections] == [("第一章", "p. 1"), ("第二章", "p. 2")]


def test_running_heads_and_page_numbers_are_left_out_and_what_changes_stays() -> None:
    pages = [
        ["年度报告 2026", f"第{number}页的正文，各不相同的内容{number * 37}。", f"- {number} / 5 -"]
        for number in range(1, 6)
    ]
    contents = load_pdf("a.pdf", made.pdf(pages))
    assert [section.text for section in contents.sections] == [
        f"第{number}页的正文，各不相同的内容{number * 37}。" for number in range(1, 6)
    ]


def test_a_sentence_that_goes_on_on_the_next_page_stays_whole() -> None:
    contents = load_pdf("a.pdf", made.pdf([[FULL], ["和截肢。另一句话从这里开始。"]]))
    assert [section.text for section in contents.sections] == [f"{FULL}和截肢。", "另一句话从这里开始。"]


def test_a_pdf_of_300_pages_is_read_whole_and_every_passage_says_its_page() -> None:
    pages = [[f"第{number}节", f"这一页讲的是编号为{number * 31}的样本。"] for number in range(1, 301)]
    document = load_bytes("long.pdf", made.pdf(pages))
    passages = chunk(document)
    assert [passage.section for passage in passages] == [f"p. {number}" for number in range(1, 301)]
    assert all(str(number * 31) in passage.text for number, passage in enumerate(passages, 1))


def test_more_pages_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_PAGES", 3)
    with pytest.raises(SourceTooManyPages, match="has 4 pages; the limit is 3"):
        load_pdf("a.pdf", made.pdf([["甲"]] * 4))


def test_a_scanned_pdf_is_said_to_hold_no_text() -> None:
    with pytest.raises(SourceScanned, match=r"holds no text: all its pages \(3\) are pictures.*OCR"):
        load_pdf("scan.pdf", made.scanned_pdf(3))
    with pytest.raises(SourceEmpty):
        load_pdf("blank.pdf", made.pdf([[], []]))


def test_a_pdf_whose_fonts_hide_their_characters_is_not_read_as_signs() -> None:
    with pytest.raises(SourceGarbled, match=r"text recognition \(OCR\)"):
        load_pdf("a.pdf", made.pdf([["\ue010\ue011\ue012\ue013 ab"]]))


def test_pages_without_text_among_others_are_noted() -> None:
    contents = load_pdf("a.pdf", made.half_scanned_pdf([["正文。"]], scanned=3))
    assert contents.sections == (Section(("p. 1",), "正文。"),)
    assert contents.notes == (note("pages_without_text", count=3, pages="2-4", of=4),)


def test_a_pdf_with_a_password_is_told_from_a_broken_one() -> None:
    with pytest.raises(SourceEncrypted, match="password"):
        load_pdf("a.pdf", made.encrypted_pdf())
    whole = made.pdf([["甲。"], ["乙。"]])
    with pytest.raises(SourceDamaged):
        load_pdf("a.pdf", whole[:400])
    with pytest.raises(SourceDamaged, match="its end is missing"):
        load_pdf("a.pdf", whole.replace(b"%%EOF", b""))


@pytest.mark.parametrize(
    ("data", "found"),
    [("只是文字".encode(), "text"), (b"<html>", "an HTML page"), (b"PK\x03\x04", "ZIP"), (b"\x00\x01", "binary data")],
)
def test_what_is_no_pdf_is_named_for_what_it_is(data: bytes, found: str) -> None:
    with pytest.raises(SourceMislabelled, match=found):
        load_pdf("a.pdf", data)


def test_radicals_and_ligatures_become_what_a_reader_types() -> None:
    assert unified("⼀⽇⻓⻢ ﬁnal") == "一日长马 final"
    assert unified("普通文字 plain（标点）①") == "普通文字 plain（标点）①"


def test_dot_leaders_of_a_table_of_contents_become_one_sign() -> None:
    contents = load_pdf("a.pdf", made.pdf([["第一章 绪论 ............................ 3"]]))
    assert contents.sections[0].text == "第一章 绪论 … 3"
