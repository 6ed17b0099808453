"""PDF files: Chinese text whole, pages and headings said, and honest words for what cannot be read."""

from __future__ import annotations

import pytest

from engine.errors import SourceDamaged, SourceEmpty, SourceError, SourceMislabelled
from engine.knowledge.chunk import chunk
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders import pdf
from engine.knowledge.loaders.contents import Section, note
from engine.knowledge.loaders.pdf import load_pdf
from engine.knowledge.loaders.pdf_lines import unified
from tests.support import office_files as made
from tests.support.errors import raises

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
    assert contents.notes == (note("running_heads", count=10),)


def test_a_sentence_that_continues_on_the_next_page_stays_whole() -> None:
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
    with raises(SourceError.too_many_pages, match="has 4 pages; the limit is 3"):
        load_pdf("a.pdf", made.pdf([["甲"]] * 4))


def test_a_page_that_is_a_picture_is_a_section_without_text() -> None:
    contents = load_pdf("scan.pdf", made.scanned_pdf(3))
    assert [(section.path, section.text) for section in contents.sections] == [((f"p. {n}",), "") for n in (1, 2, 3)]
    assert contents.notes == (note("pages_without_text", count=3, pages="1-3", of=3),)
    with pytest.raises(SourceEmpty):
        load_pdf("blank.pdf", made.pdf([[], []]))


def test_a_page_whose_fonts_hide_their_characters_is_not_read_as_signs() -> None:
    contents = load_pdf("a.pdf", made.pdf([["\ue010\ue011\ue012\ue013 ab"], ["正文。"]]))
    assert contents.sections == (Section(("p. 1",), ""), Section(("p. 2",), "正文。"))
    assert contents.notes == (
        note("pages_without_text", count=1, pages="1", of=2),
        note("pages_garbled", count=1, pages="1", of=2),
    )


def test_pages_without_text_among_others_are_noted() -> None:
    contents = load_pdf("a.pdf", made.half_scanned_pdf([["正文。"]], scanned=3))
    assert contents.sections == (Section(("p. 1",), "正文。"), *(Section((f"p. {n}",), "") for n in (2, 3, 4)))
    assert contents.notes == (note("pages_without_text", count=3, pages="2-4", of=4),)
    assert dict(contents.read) == {"pages": 1}


def test_a_pdf_with_a_password_is_distinguished_from_a_broken_one() -> None:
    with raises(SourceError.encrypted, match="password"):
        load_pdf("a.pdf", made.encrypted_pdf())
    whole = made.pdf([["甲。"], ["乙。"]])
    with pytest.raises(SourceDamaged, match="its end is missing"):
        load_pdf("a.pdf", whole[:400])


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


@pytest.mark.parametrize("after", [b"", bytes(200_000), b"\r\n" + b"<html>gone</html>" * 9000, b"\x1a" * 70_000])
def test_what_follows_the_end_of_a_pdf_is_no_harm(after: bytes) -> None:
    contents = load_pdf("a.pdf", made.pdf([["甲。"]]) + after)
    assert (contents.sections, contents.notes) == ((Section(("p. 1",), "甲。"),), ())


def test_a_pdf_without_its_end_keeps_its_pages_and_says_so() -> None:
    whole = made.pdf([["甲。"], ["乙。"]])
    for cut in (whole.replace(b"%%EOF", b""), whole[: whole.rindex(b"xref")], whole + b"99 0 obj\n<< /Length"):
        contents = load_pdf("a.pdf", cut)
        assert [section.text for section in contents.sections] == ["甲。", "乙。"]
        assert contents.notes == (note("end_missing"),)


SET_OFF = [
    ("10|^9|/L", "10^9/L"),
    ("10|^-3| mol", "10^-3 mol"),
    ("5 m|^2", "5 m^2"),
    ("x|^n+1", "x^(n+1)"),
    ("H|_2|O", "H_2O"),
    ("Ca|^2+", "Ca^(2+)"),
    ("面积 5 m|^2|。", "面积 5 m^2。"),
    ("policy.|^1| It", "policy.^1 It"),
    ("text|^[3]| on", "text[3] on"),
    ("the 1|^st| of", "the 1st of"),
    ("plain 109 and 12345", "plain 109 and 12345"),
    ("|=SMALL| 2024 capitals", "SMALL 2024 capitals"),
]


def set_off(text: str) -> bytes:
    """Instructions that draw pieces between bars: raised after ``^``, lowered after ``_``, only small after ``=``."""
    drawn = [b"BT 60 700 Td"]
    for piece in text.split("|"):
        rise = {"^": 5, "_": -2, "=": 0}.get(piece[:1])
        size, words = (12, piece) if rise is None else (8, piece[1:])
        drawn.append(b"/F %d Tf %d Ts %s" % (size, rise or 0, made.hexed(words)))
    return b"\n".join([*drawn, b"ET"])


@pytest.mark.parametrize(("drawn", "text"), SET_OFF)
def test_characters_above_and_below_the_line_are_marked(drawn: str, text: str) -> None:
    assert load_pdf("a.pdf", made.drawn_pdf(set_off(drawn))).sections == (Section(("p. 1",), text),)


INVISIBLE = b"BT /F 12 Tf 3 Tr 60 700 Td %s ET" % made.hexed("看不见。")
VISIBLE = b"BT /F 12 Tf 0 Tr 60 600 Td %s ET" % made.hexed("看得见。")
PICTURE = b"q 560 0 0 800 10 10 cm /Im Do Q"


def test_invisible_text_counts_over_a_picture_of_the_page_and_is_left_out_elsewhere() -> None:
    over = load_pdf("a.pdf", made.drawn_pdf(PICTURE + b"\n" + INVISIBLE, picture=True))
    assert (over.sections, over.notes) == ((Section(("p. 1",), "看不见。"),), ())
    alone = made.drawn_pdf(INVISIBLE + b"\n" + VISIBLE)
    assert load_pdf("a.pdf", alone).sections == (Section(("p. 1",), "看得见。"),)
    assert load_pdf("a.pdf", alone).notes == (note("hidden_text", count=1),)
    assert load_pdf("a.pdf", alone, hidden=True).sections[0].text == "看不见。看得见。"


def widget(name: str, kind: bytes) -> bytes:
    return b"/Subtype /Widget /Rect [0 0 9 9] /T (%s) %s" % (name.encode(), kind)


def test_forms_comments_and_files_of_a_page_are_read_or_counted() -> None:
    boxes = b"/FT /Btn /AP << /N << /Yes 6 0 R /Off 6 0 R >> >>"
    contents = load_pdf(
        "a.pdf",
        made.annotated_pdf(
            ["申请表"],
            [
                widget("name", b"/FT /Tx /V <feff674e> /TU (Your name)"),
                widget("agree", boxes + b" /V /Yes /AS /Yes"),
                widget("resend", boxes + b" /V /Off /AS /Off"),
                widget("country", b"/FT /Ch /Ff 131072 /Opt [(CN) (DE)] /V (DE)"),
                widget("empty", b"/FT /Tx"),
                b"/Subtype /Text /Rect [0 0 9 9] /Contents (check the date)",
                b"/Subtype /Highlight /Rect [0 0 9 9] /QuadPoints [0 0 9 0 0 9 9 9] /Contents (doubtful)",
                b"/Subtype /Link /Rect [0 0 9 9] /Contents (a link)",
                b"/Subtype /FileAttachment /Rect [0 0 9 9]",
                b"/Subtype /Text /Rect [0 0 9 9] /F 2 /Contents (not shown)",
                widget("secret", b"/FT /Tx /F 2 /V (x)"),
                widget("unused", b"/FT /Tx /F 2"),
            ],
        ),
    )
    assert contents.sections == (
        Section(
            ("p. 1",),
            "申请表\n\n- Your name: 李\n- agree: ☑\n- resend: ☐\n- country: DE",
        ),
    )
    assert contents.notes == tuple(
        note(code, count=count) for code, count in (("comments", 2), ("files_not_read", 1), ("hidden_text", 2))
    )
    assert dict(contents.read) == {"pages": 1, "fields": 4}


def test_a_broken_page_costs_no_other() -> None:
    broken = (
        made.pdf([["甲。"], ["乙。"]])
        .replace(b"/Contents 11 0 R", b"/Contents 10 0 R")
        .replace(b"/Type /Page /", b"/Type /Pag3 /", 1)
    )
    contents = load_pdf("a.pdf", broken)
    assert contents.sections == (Section(("p. 2",), "乙。"),)
    assert contents.notes == (note("pages_unreadable", count=1, pages="1", of=2),)


def test_pages_of_pictures_with_one_stamp_on_all_are_pictures() -> None:
    stamped = PICTURE + b"\nBT /F 9 Tf 60 20 Td %s ET"
    pages = [stamped % made.hexed(f"Scanned by an app {number}") for number in (1, 2)]
    contents = load_pdf("a.pdf", made.drawn_pdf(*pages, stamped % made.hexed("标题页"), picture=True))
    assert contents.sections == (Section(("p. 1",), ""), Section(("p. 2",), ""), Section(("p. 3",), "标题页"))
    assert contents.notes == (note("pages_without_text", count=2, pages="1-2", of=3),)
