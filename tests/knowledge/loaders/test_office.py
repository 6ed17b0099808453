"""The gate before every Office file: nothing is unpacked or parsed that could harm."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from engine.errors import SourceDamaged, SourceError, SourceMislabelled
from engine.knowledge.loaders import office
from engine.knowledge.loaders.office import Package
from engine.knowledge.loaders.word import load_word
from tests.support import office_files as made
from tests.support.errors import raises

WORD = made.docx([("Normal", "正文")])


def test_a_zip_bomb_is_refused_by_what_it_states_before_anything_is_unpacked() -> None:
    bomb = made.zip_bomb(WORD, megabytes=60)
    assert len(bomb) < 150_000
    with raises(SourceError.unpacks_too_large, match=r"would unpack to 61 MB; the limit is 32 MB"):
        Package("a.docx", bomb, ".docx")


def test_a_part_that_states_less_than_it_holds_is_damaged() -> None:
    data = made.with_parts(WORD, {"word/document.xml": b"<a>" + b" " * 100_000 + b"</a>"})
    data = data.replace(struct.pack("<I", 100_007), struct.pack("<I", 50))
    with pytest.raises(SourceDamaged):
        Package("a.docx", data, ".docx")


def test_too_many_parts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MOST_PARTS", 5)
    with raises(SourceError.too_many_parts, match="parts; the limit is 5"):
        Package("a.docx", WORD, ".docx")


@pytest.mark.parametrize("part", ["word/document.xml", "word/styles.xml", "docProps/core.xml", "_rels/.rels"])
def test_xml_entities_are_refused_in_every_part(part: str) -> None:
    with raises(SourceError.xml_entities, match="declares XML entities"):
        load_word("a.docx", made.xml_bomb(WORD, part))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_entities_are_seen_in_other_encodings(encoding: str) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'.encode(encoding)
    with raises(SourceError.xml_entities):
        load_word("a.docx", made.with_parts(WORD, {"word/document.xml": bomb}))


def test_an_encoding_that_could_hide_entities_is_refused() -> None:
    hidden = b'<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE x+AD4-<x/>'
    with pytest.raises(SourceDamaged, match="encoding"):
        load_word("a.docx", made.with_parts(WORD, {"word/document.xml": hidden}))


def test_an_external_reference_is_neither_fetched_nor_read() -> None:
    relations = made.part(WORD, "word/_rels/document.xml.rels").replace(
        b"</Relationships>",
        b'<Relationship Id="rId77" TargetMode="External" Target="http://example.com/a.dotx" Type='
        b'"http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"/></Relationships>',
    )
    contents = load_word("a.docx", made.with_parts(WORD, {"word/_rels/document.xml.rels": relations}))
    assert contents.sections[0].text == "正文"


def test_names_that_point_outside_are_parts_like_others_and_write_nothing() -> None:
    data = made.with_parts(WORD, {"../../outside.txt": b"x", "/etc/outside": b"y"})
    assert load_word("a.docx", data).sections[0].text == "正文"


def test_passwords_old_formats_and_other_files_are_distinguished() -> None:
    with raises(SourceError.encrypted):
        Package("a.docx", made.encrypted_office(), ".docx")
    with pytest.raises(SourceMislabelled, match="an old Office document"):
        Package("a.docx", made.old_office(), ".docx")
    with pytest.raises(SourceMislabelled, match="a Word document"):
        Package("a.xlsx", WORD, ".xlsx")
    with pytest.raises(SourceMislabelled, match="a PDF document"):
        Package("a.docx", b"%PDF-1.4", ".docx")
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("notes.txt", "x")
    with pytest.raises(SourceMislabelled, match="a ZIP archive"):
        Package("a.docx", plain.getvalue(), ".docx")


@pytest.mark.parametrize("length", [30, 1000, len(WORD) // 2, len(WORD) - 10])
def test_a_file_that_was_cut_short_is_damaged(length: int) -> None:
    with pytest.raises(SourceDamaged, match="cut short"):
        Package("a.docx", WORD[:length], ".docx")
