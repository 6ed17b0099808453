"""Kinds of files other than PDF, Office and pages: what each becomes, exactly, and what it says it left out."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from engine.errors import SourceEmpty, SourceMislabelled, SourceUnsupported
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders import mail, open_document
from engine.knowledge.loaders.contents import Section, merged, note
from engine.knowledge.loaders.kinds import loader_of
from tests.attachments.pages import NOTE_EN, image, likeness
from tests.knowledge.loaders.kinds_corpus import CORPUS
from tests.knowledge.loaders.written_files import MBOX, cell, here, notebook, opened, row


@pytest.mark.parametrize("case", CORPUS)
def test_a_file_becomes_these_sections_and_says_what_it_left_out(case: str) -> None:
    name, data, sections, notes, read = CORPUS[case]
    found = here(name, data)
    assert [(section.path, section.text) for section in found.sections] == sections
    assert [(item.code, item.params) for item in found.notes] == notes
    assert dict(found.read) == read


def test_titles_are_those_that_the_files_give_themselves() -> None:
    titles = {case: here(CORPUS[case][0], CORPUS[case][1]).title for case in CORPUS}
    assert {case: title for case, title in titles.items() if title} == {
        "reStructuredText": "Guide",
        "AsciiDoc": "Doc",
        "LaTeX": "A fine paper",
        "notebook": "Title",
        "book": "The Book",
        "mail": "剂量 5 mg",
        "mail with attachments and a mail inside": "剂量 5 mg",
        "page that a browser saved as one file": "Rules",
        "mail in HTML alone": "Plans",
        "mail in HTML whose encoding its part alone says": "x",
        "mail in GB 18030 that says no encoding": "中文标题没有编码",
        "OpenDocument text": "Dosing",
        "OpenDocument numbers": "第一章 总则",
        "OpenDocument slides": "Goals",
    }


def test_what_is_hidden_in_an_opendocument_file_goes_in_where_it_is_asked_for() -> None:
    for case, words in {"text": "hidden", "sheets": "Off", "slides": "Slide 2"}.items():
        name, data, *_ = CORPUS[f"OpenDocument {case}"]
        found = here(name, data, hidden=True)
        assert words in str([(section.path, section.text) for section in found.sections])
        assert not any("hidden" in item.code for item in found.notes)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("old.doc", ".docx"), ("a.rtf", ".docx"), ("b.XLS", ".xlsx"), ("c.ppt", ".pptx"), ("d.tar.gz", ".zip")],
)
def test_documents_that_no_loader_reads_name_what_to_save_them_as(name: str, suffix: str) -> None:
    with pytest.raises(SourceUnsupported) as raised:
        load_bytes(name, b"x")
    assert raised.value.remedy == f"Save it as {suffix} in the program that made it, and ingest that."


@pytest.mark.parametrize("data", [b"\x00\x01\x02\x03", b"\x89PNG\r\n", b"MZ\x90\x00", b"a\x01\x02\x03\x04\x05"])
def test_a_file_of_unknown_kind_that_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(SourceUnsupported, match="or any text file"):
        load_bytes("a.bin", data)


def test_the_text_in_a_picture_is_recognised_and_how_surely_is_said() -> None:
    document = load_bytes("note.jpg", image("note.en.jpg"))
    assert likeness(document.sections[0].text, NOTE_EN) > 0.97
    (said,) = document.notes
    assert (said.code, said.params["count"]) == ("pages_recognised", "1")
    assert float(said.params["confidence"]) > 90
    assert dict(document.read) == {"pictures": 1, "recognised pages": 1}


def test_a_picture_that_is_none_or_has_no_words_is_said() -> None:
    out = io.BytesIO()
    Image.new("RGB", (240, 160), (190, 205, 215)).save(out, "PNG")
    with pytest.raises(SourceEmpty):
        load_bytes("blank.png", out.getvalue())
    with pytest.raises(SourceMislabelled):
        load_bytes("text.png", b"words")


def test_an_archive_is_no_document() -> None:
    with pytest.raises(SourceUnsupported, match="archive inside another file"):
        loader_of("a.zip")


def test_rows_and_mails_after_the_most_that_are_taken_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_document, "MOST_ROWS", 3)
    rows = row(cell("a"), cell("1")) + row(cell("b"), cell("2"), attributes=' table:number-rows-repeated="9"')
    found = here("a.ods", opened("spreadsheet", f'<table:table table:name="S">{rows}</table:table>'))
    assert found.sections[0].text == "| a | 1 |\n| b | 2 |\n| b | 2 |"
    assert [(item.code, item.params) for item in found.notes] == [("rows_beyond", {"count": "7", "kept": "3"})]
    monkeypatch.setattr(mail, "MOST_MAILS", 1)
    assert [(item.code, item.params) for item in here("a.mbox", MBOX).notes] == [
        ("mails_cut", {"count": "1", "kept": "1"})
    ]


def test_a_file_of_several_kinds_at_once_has_its_notes_added_up() -> None:
    notes = [
        note("pictures_not_read", count=2),
        note("x", count=1, names="a"),
        note("pictures_not_read", count=3),
        note("x", count=1, names="b"),
    ]
    assert merged(notes) == (note("pictures_not_read", count=5), note("x", count=2, names="a, b"))


def test_a_file_without_a_word_is_empty() -> None:
    for name, data in (("a.ipynb", notebook()), ("a.odt", opened("text", "")), ("a.xml", b"<a/>")):
        with pytest.raises(SourceEmpty):
            load_bytes(name, data)


@pytest.mark.parametrize(
    ("name", "above", "title"),
    [
        ("a.rst", "..\n  Levels of headings:\n\n  # with overline, for parts\n  = for sections\n\n", "####\nDoc\n####"),
        ("a.rst", ".. _label:\n:orphan:\n\n", "Doc\n==="),
        ("a.adoc", "// a comment\n:toc: left\n[[top]]\n", "= Doc"),
        ("a.adoc", "////\nlicence\n////\n", "= Doc"),
    ],
    ids=["rst comment", "rst label", "adoc attributes", "adoc comment"],
)
def test_comments_and_labels_leave_the_first_top_heading_the_title(name: str, above: str, title: str) -> None:
    found = load_bytes(name, f"{above}{title}\n\nwords\n".encode())
    assert (found.title, found.sections[-1]) == ("Doc", Section((), "words"))
    below_words = load_bytes(name, f"Words of a text.\n\n{above}{title}\n\nwords\n".encode())
    assert (below_words.title, below_words.sections[-1].path) == ("a", ("Doc",))
