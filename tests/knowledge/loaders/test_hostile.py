"""Regardless of the bytes, loading gives a document or an error of ours that names the file."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.load import load_bytes, suffixes
from engine.knowledge.loaders import mail
from engine.knowledge.loaders.encoding import MAGIC
from tests.knowledge.loaders.kinds_corpus import CORPUS
from tests.knowledge.loaders.written_files import MBOX, book, cell, here, letter, opened, packed, row
from tests.support import office_files as made
from tests.support.errors import Expected, raises

SUFFIXES = [suffix for suffix in suffixes() if "test" not in suffix]
HEADS = [b"", *(magic for magic, _ in MAGIC), b"<html><body>", b"[{", b"a,b\n", b"\xff\xfe"]
WHOLE = {
    ".pdf": made.pdf([["正文。", "第二行"], ["第二页"]], outline=[("章", 1, 0)], title="题"),
    ".docx": made.docx([("Heading 1", "章"), ("Normal", "正文"), ("table", [["a", "b", "c"], ["1", "2", "3"]])]),
    ".pptx": made.pptx([("题", "字")]),
    ".xlsx": made.xlsx({"S": [["a", "b"], [1, 2.5]]}),
    ".html": "<html><h1>题</h1><table><tr><td>a<td>b</table><ul><li>x</ul></html>".encode(),
    ".json": '[{"text": "文", "n": [1, {"a": null}]}]'.encode(),
    ".csv": b'a,b\n"x, y",2\n',
    **{f".{name.rpartition('.')[2]}": data for name, data, *_ in CORPUS.values() if name.startswith("a.")},
}


def is_sound(name: str, data: bytes) -> bool:
    """Whether it loads with text in every section, or is refused by name and with a remedy; raises anything else."""
    try:
        found = load_bytes(name, data)
    except SourceError as error:
        return name in error.fact and bool(error.remedy)
    return bool(found.sections) and all(section.text.strip() for section in found.sections)


@settings(max_examples=100)
@given(data=st.binary(min_size=1, max_size=300), head=st.sampled_from(HEADS), suffix=st.sampled_from(SUFFIXES))
def test_random_bytes_under_any_suffix(data: bytes, head: bytes, suffix: str) -> None:
    assert is_sound(f"some{suffix}", head + data)


@settings(max_examples=80)
@given(
    suffix=st.sampled_from(sorted(WHOLE)),
    place=st.floats(0, 1, exclude_max=True),
    noise=st.binary(min_size=1, max_size=40),
    cut=st.booleans(),
)
def test_real_files_with_a_piece_overwritten_or_cut_off(suffix: str, place: float, noise: bytes, cut: bool) -> None:
    whole = WHOLE[suffix]
    start = int(place * len(whole))
    assert is_sound(f"some{suffix}", whole[:start] + noise + (b"" if cut else whole[start + len(noise) :]))


def nested_mail(depth: int) -> bytes:
    data = b"Subject: innermost\n\nx"
    for number in range(depth):
        data = b"Subject: m%d\nContent-Type: message/rfc822\n\n" % number + data
    return data


BOMB = packed({"content.xml": b" " * 40_000_000})
LAUGHS = b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><a>&b;</a>'
HOSTILE: list[tuple[str, bytes, Expected]] = [
    ("a.odt", BOMB, SourceError.unpacks_too_large),
    ("a.epub", BOMB, SourceError.unpacks_too_large),
    ("a.txt.gz", gzip.compress(bytes(33_000_000), 1), SourceError.unpacks_too_large),
    ("a.txt.gz", gzip.compress(b"x" * 99)[:-9], SourceDamaged),
    ("a.odt", packed({"content.xml": LAUGHS}), SourceError.xml_entities),
    ("a.epub", packed({"META-INF/container.xml": LAUGHS}), SourceError.xml_entities),
    ("a.xml", LAUGHS, SourceError.xml_entities),
    ("a.xml", LAUGHS.decode().encode("utf-16"), SourceError.xml_entities),
    ("a.xml", b"<a><b></a>", SourceDamaged),
    ("a.xml", b"<a>" * 300 + b"</a>" * 300, SourceDamaged),
    ("a.xml", b"<a b='1'>" * 100 + b"</a>" * 100, SourceDamaged),
    ("a.odt", packed({"other.xml": "<a/>"}), SourceDamaged),
    ("a.odt", opened("text", "<text:p>x</text:p>")[:-30], SourceDamaged),
    (
        "a.odt",
        packed({"content.xml": "\x01\x02", "META-INF/manifest.xml": "<encryption-data/>"}),
        SourceError.encrypted,
    ),
    ("a.epub", packed({"mimetype": "application/epub+zip"}), SourceDamaged),
    ("a.epub", book({}), SourceDamaged),
    (
        "a.epub",
        book(
            {"one": "<p>x</p>"},
            **{
                "META-INF/encryption.xml": '<e><EncryptedData><EncryptionMethod Algorithm="aes"/><CipherData>'
                '<CipherReference URI="OEBPS/one.xhtml"/></CipherData></EncryptedData></e>'
            },
        ),
        SourceError.encrypted,
    ),
    ("a.ipynb", b'{"cells": [1]}', SourceDamaged),
    ("a.ipynb", b"[" * 100_000, SourceDamaged),
    ("a.mbox", b"Subject: no line between\n\nx", SourceDamaged),
]


@pytest.mark.parametrize(("name", "data", "kind"), HOSTILE)
def test_a_hostile_or_broken_file_is_refused_for_what_it_is(name: str, data: bytes, kind: Expected) -> None:
    with raises(kind):
        here(name, data)


def test_mails_inside_mails_are_opened_a_few_deep_and_counted_from_there_on() -> None:
    found = here("a.eml", nested_mail(40))
    assert len(found.sections) == mail._DEEPEST + 1
    assert [(item.code, item.params["count"]) for item in found.notes] == [("attachments_unread", "1")]


def test_a_mail_of_parts_without_end_is_too_demanding_and_in_an_archive_only_it_is_lost() -> None:
    deep = b"x"
    for number in range(3000):
        deep = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number) + deep
    with pytest.raises(RecursionError):  # which the process apart names: SourceError.too_demanding
        here("a.eml", deep)
    assert SourceError.too_demanding.code
    found = here("a.mbox", MBOX + b"\nFrom - Thu Nov 26 05:00:00 2026\n" + deep)
    assert [section.path for section in found.sections] == [("One",), ("中文",)]
    assert [(item.code, item.params) for item in found.notes] == [("mails_unreadable", {"count": "1", "names": "#3"})]


def test_a_cell_repeated_without_end_and_a_row_are_cut() -> None:
    many = row(cell("x", number_columns_repeated="999999999"), attributes=' table:number-rows-repeated="3"')
    (section,) = here("a.ods", opened("spreadsheet", f'<table:table table:name="S">{many}</table:table>')).sections
    assert section.text.count("x") == 3 * 1000


def test_what_is_nested_too_deeply_or_named_again_and_again_is_counted_or_read_once() -> None:
    deep = "<text:span>" * 80 + "deep" + "</text:span>" * 80
    found = here("a.odt", opened("text", f"<text:p>high</text:p><text:p>{deep}</text:p>"))
    assert [section.text for section in found.sections] == ["high"]
    assert [(item.code, item.params) for item in found.notes] == [("blocks_broken", {"count": "1"})]
    again = here("a.epub", book({"one": "<h1>One</h1><p>x</p>"}, spine='<itemref idref="one"/>' * 1000))
    assert ([section.text for section in again.sections], dict(again.read)) == (["x"], {"chapters": 1})


def test_an_attachment_that_breaks_its_reader_costs_nothing_else() -> None:
    message = letter()
    message.add_attachment(b"PK\x03\x04 no archive", maintype="application", subtype="x", filename="a.docx")
    message.add_attachment(b"%PDF-1.7 cut", maintype="application", subtype="pdf", filename="b.pdf")
    found = here("a.eml", bytes(message))
    assert [section.path for section in found.sections] == [()]
    assert [(item.code, item.params) for item in found.notes] == [
        ("attachments_unread", {"count": "2", "names": "a.docx, b.pdf"})
    ]
