"""Reading files: encodings, kinds and sections, and honest errors for what cannot be read."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import SourceEmpty, SourceEncoding, SourceError, SourceMislabelled, SourceUnsupported
from engine.knowledge.chunk import chunk
from engine.knowledge.load import Document, load, load_bytes
from engine.knowledge.loaders.contents import LONGEST_HEADING, Section, note
from tests.support import office_files as made
from tests.support.errors import raises

CHINESE = "糖尿病的主要症状是多饮、多尿、多食和体重下降。第二句。"
LATIN = "Naïve café users — and “quotes”."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (text, encoding)
        for text in (CHINESE, LATIN, "plain words only", "混合 mixed text 123")
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "gb18030")
        if (text, encoding) != (LATIN, "gb18030")  # no one writes that; it is refused, see below
    ],
)
def test_text_comes_out_the_same_whatever_its_encoding(text: str, encoding: str) -> None:
    document = load_bytes("a.txt", text.encode(encoding))
    assert document.sections == (Section((), text),)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_known_by_its_zero_bytes(encoding: str) -> None:
    text = "糖尿病 type 2, 第一行\n第二行 with words"
    assert load_bytes("a.txt", text.encode(encoding)).sections[0].text == text


def test_one_content_has_one_hash_whatever_its_name_encoding_and_line_ends() -> None:
    text = "# Title\n\n## One\n中文。\n"
    hashes = {
        load_bytes("a.md", text.encode()).content_hash,
        load_bytes("b.md", text.encode("gb18030")).content_hash,
        load_bytes("c.MD", text.replace("\n", "\r\n").encode("utf-16")).content_hash,
    }
    assert len(hashes) == 1
    assert load_bytes("a.md", b"# Other\n\n## One\nx").content_hash not in hashes


def test_latin_1_is_refused_rather_than_read_as_chinese() -> None:
    with pytest.raises(SourceEncoding, match="Save it as UTF-8"):
        load_bytes("brief.txt", "Grüße aus Köln, schöne Straße, überall".encode("latin-1"))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"%PDF-1.7\n1 0 obj", "PDF"),
        (b"PK\x03\x04rest of a docx", "Office"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (bytes(range(256)) * 8, "binary"),
        (b"text with\x00\x01\x02\x03\x04 bytes\x05\x06\x07\x08", "binary"),
        (os.urandom(4096) + b"\x00\xff\xfe\xfd", "binary"),
    ],
)
def test_a_mislabelled_file_is_named_with_what_it_is(data: bytes, found: str) -> None:
    with pytest.raises(SourceMislabelled, match=rf"(?s)notes\.md.*{found}"):
        load_bytes("notes.md", data)


@pytest.mark.parametrize("data", [b"", b"  \n\t\n ", b"\xef\xbb\xbf", "\ufeff\n".encode("utf-16")])
def test_a_file_without_text_is_empty(data: bytes) -> None:
    with pytest.raises(SourceEmpty, match=r"empty\.md"):
        load_bytes("empty.md", data)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(3_000_000_000)  # a hole: takes no room on the disk
    with raises(SourceError.too_large, match=r"3000\.0 MB; the limit is 20 MB.*WORKBENCH_MAX_UPLOAD_MB"):
        load(path)
    with raises(SourceError.too_large):
        load_bytes("a.txt", b"x" * 1001, limit_mb=0.001)


def test_missing_unreadable_and_unknown_files_are_distinguished(tmp_path: Path) -> None:
    with raises(SourceError.missing, match=r"gone\.md"):
        load(tmp_path / "gone.md")
    (tmp_path / "folder.md").mkdir()
    with raises(SourceError.unreadable, match=r"folder\.md"):
        load(tmp_path / "folder.md")
    with pytest.raises(SourceUnsupported, match=r"sound\.mp3.*PDF, .*any text file"):
        load_bytes("sound.mp3", b"\x00\x01")


def test_stray_control_characters_do_not_reach_the_store() -> None:
    text = load_bytes("a.txt", b"bell\x07 " + b"word " * 100).sections[0].text
    assert text.startswith("bell word")


def test_headings_become_section_paths_below_the_title() -> None:
    document = load_bytes(
        "dir/a.md",
        b"# Title #\nintro\n\n## One\ntext 1\n### Deep\ntext 2\n## Two\ntext 3\n# Second top\ntext 4\n#no heading\n",
    )
    assert document.title == "Title"
    assert [(section.path, section.text) for section in document.sections] == [
        ((), "intro"),
        (("One",), "text 1"),
        (("One", "Deep"), "text 2"),
        (("Two",), "text 3"),
        (("Second top",), "text 4\n#no heading"),
    ]


def test_a_heading_inside_a_code_fence_is_code() -> None:
    text = "## Shell\n```sh\n# comment\n## another\n```\nafter\n~~~\n# tilde\n```\n~~~\n## Next\nx"
    document = load_bytes("a.md", text.encode())
    assert [section.path for section in document.sections] == [("Shell",), ("Next",)]
    assert "# comment\n## another\n```\nafter\n~~~\n# tilde\n```\n~~~" in document.sections[0].text


def test_headings_without_text_are_not_lost() -> None:
    document = load_bytes("a.md", b"# T\n## Parent\n### Child\ntext\n## Lonely\n")
    assert [(section.path, section.text) for section in document.sections] == [
        (("Parent", "Child"), "text"),
        (("Lonely",), "Lonely"),
    ]
    assert load_bytes("a.md", b"# Only a title").sections == (Section((), "Only a title"),)


def test_a_file_without_a_title_is_called_by_its_name() -> None:
    assert load_bytes("folder/my-notes.txt", b"words").title == "my-notes"
    assert load_bytes("folder/my-notes.md", b"## Section\nwords").title == "my-notes"


@pytest.mark.parametrize("kind", ["temporal", "graph", "vector"])
@pytest.mark.parametrize(
    "written", ["kind: {}", 'kind:  "{}" ', "kind: '{}'", "Kind: {}", "kind: [ {} ]", "kind: {}  # said by hand"]
)
def test_front_matter_of_markdown_names_the_kind_and_leaves_no_trace_in_the_text(kind: str, written: str) -> None:
    """QL-03: every source has a kind."""
    document = load_bytes("a.md", f"---\n{written.format(kind)}\n---\n# Title\n\ntext".encode())
    assert (document.kind, document.title, document.sections) == (kind, "Title", (Section((), "text"),))


@pytest.mark.parametrize(
    "data",
    [
        b"---\nkind: TEMPORAL\n---\ntext",
        b"---\r\nkind: Temporal\r\n---\r\ntext",
        b"\xef\xbb\xbf---\nkind: temporal\n...\ntext",
        "---\nkind: temporal\n---\ntext".encode("utf-16"),
        b"---\nkind:\n  - temporal\n---\ntext",
        b"---\nkind: # said by hand\n- 'temporal'\n---\ntext",
        b"---\n  kind: temporal\nlayout: page\n---\ntext",
        b"+++\nkind = 'temporal'\n+++\ntext",
    ],
    ids=["capitals", "CRLF", "byte-order mark", "UTF-16", "block list", "without indent", "broken", "TOML"],
)
def test_front_matter_is_read_however_an_editor_wrote_it(data: bytes) -> None:
    """QL-03"""
    document = load_bytes("a.md", data)
    assert (document.kind, document.sections) == ("temporal", (Section((), "text"),))


@pytest.mark.parametrize("name", ["长" * 340 + ".md", "broken\udcff.md"], ids=["too long", "no text"])
def test_a_name_that_no_store_holds_is_reported_before_anything_is_read(name: str) -> None:
    with raises(SourceError.misnamed, match="Rename the file") as raised:
        load_bytes(name, b"words")
    assert raised.value.code == "WB308"
    assert str(raised.value).encode()


def test_a_source_without_a_kind_is_vector_and_has_the_hash_it_always_had() -> None:
    """QL-03: what was ingested before there were kinds is still known for the same."""
    plain = load_bytes("a.md", b"# Title\n\ntext")
    assert plain.kind == load_bytes("a.txt", b"---\nkind: temporal\n---\ntext").kind == "vector"
    assert plain.content_hash == hashlib.sha256(b"Title\x1etext").hexdigest()[:32]
    assert plain.content_hash == load_bytes("a.md", b"---\nkind: vector\n---\n# Title\n\ntext").content_hash
    assert plain.content_hash != load_bytes("a.md", b"---\nkind: temporal\n---\n# Title\n\ntext").content_hash


@pytest.mark.parametrize(
    "front",
    [
        "---\nkind: recipe\n---",
        "---\nkind: \"graph'\n---",
        "---\nkind: graph#x\n---",
        "---\nkind:\n  - graph\n  - temporal\n---",
        "---\nkind:\n  - recipe\n---",
    ],
)
def test_front_matter_that_names_no_kind_of_ours_is_no_text_either(front: str) -> None:
    document = load_bytes("a.md", f"{front}\ntext".encode())
    assert (document.kind, document.sections) == ("vector", (Section((), "text"),))


@pytest.mark.parametrize("front", ["kind: graph", "kind: graph\n\nwords", "---\n\nwords and words\n\n---"])
def test_what_is_no_front_matter_stays_text(front: str) -> None:
    text = load_bytes("a.md", f"{front}\n\ntext".encode()).sections[0].text
    assert [line for line in text.split("\n") if line] == [
        line for line in f"{front}\ntext".split("\n") if line.strip("-")
    ]


def test_lines_of_front_matter_that_tell_a_reader_something_are_kept() -> None:
    data = b"---\ntitle: Named\nauthor: me\nkind: graph\nlayout: home\ndate: 2026\n---\ntext"
    document = load_bytes("a.md", data)
    assert (document.kind, document.title) == ("graph", "Named")
    assert document.sections == (Section((), "author: me\ndate: 2026\n\ntext"),)


@given(data=st.binary(min_size=1, max_size=400), suffix=st.sampled_from([".md", ".txt"]))
def test_any_bytes_give_a_document_or_an_error_that_names_the_file(data: bytes, suffix: str) -> None:
    outcome: Document | SourceError
    try:
        outcome = load_bytes(f"some{suffix}", data)
    except SourceError as error:
        outcome = error
    if isinstance(outcome, SourceError):
        assert f"some{suffix}" in outcome.fact
        assert outcome.remedy
    else:
        assert outcome.sections
        assert all(section.text.strip() for section in outcome.sections)


@pytest.mark.parametrize(
    ("line", "words"),
    [("## a ##", "a"), ("## a#", "a#"), ("## a ## b", "a ## b"), ("## #", "#"), ("##  a b \t###  ", "a b")],
)
def test_number_signs_that_close_a_heading_are_not_part_of_it(line: str, words: str) -> None:
    assert load_bytes("a.md", f"{line}\ntext".encode()).sections[0].path == (words,)


LONG = "A whole paragraph that is set as a heading " * 8 + "and ends here."


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", f"# Title\n\n## {LONG}\n\nbelow\n\n### Inner\n\nmore\n".encode()),
        ("a.html", f"<h1>Title</h1><h2>{LONG}</h2><p>below</p><h3>Inner</h3><p>more</p>".encode()),
        (
            "a.docx",
            made.docx(
                [
                    ("Heading 1", "Title"),
                    ("Heading 2", LONG),
                    ("Normal", "below"),
                    ("Heading 3", "Inner"),
                    ("Normal", "more"),
                ]
            ),
        ),
    ],
)
def test_a_paragraph_that_is_set_as_a_heading_stands_whole_in_the_text(name: str, data: bytes) -> None:
    """BE-02: a heading is kept to its first 200 characters."""
    first, second = load_bytes(name, data).sections
    head = LONG[:LONGEST_HEADING].strip()
    assert (first.path, first.text) == ((head,), f"{LONG}\n\nbelow")
    assert (second.path, second.text) == ((head, "Inner"), "more")


def test_lines_of_a_file_are_those_of_the_text_below_a_heading_that_is_too_long() -> None:
    (passage,) = chunk(load_bytes("a.md", f"# Title\n\n## {LONG}\n\nbelow\n".encode()))
    assert passage.text == f"{LONG}\n\nbelow"
    assert passage.meta["lines"] == "5"


def test_a_title_that_is_too_long_stands_whole_above_the_text() -> None:
    document = load_bytes("a.html", f"<h1>{LONG}</h1><p>below</p>".encode())
    assert (document.title, document.sections) == (LONG[:LONGEST_HEADING].strip(), (Section((), f"{LONG}\n\nbelow"),))


def test_headings_that_no_store_holds_and_halves_of_characters_are_counted() -> None:
    deep = "".join(f"<h{level}>{'深' * 190}{level}</h{level}>" for level in range(2, 7))
    document = load_bytes("a.html", f"<h1>T</h1>{deep}<p>below</p>".encode())
    assert document.notes == (note("headings_cut", count=1),)
    (passage,) = chunk(document)
    assert passage.section.endswith("6") and len(passage.section) == 600
    halves = load_bytes("a.json", b'["half \\ud83d of one", "\\ud83d\\ude00 whole"]')
    assert "half \ufffd of one" in halves.sections[0].text and "\U0001f600" in halves.sections[-1].text
    assert halves.notes == (note("characters_broken", count=1),)


def test_places_where_a_word_may_be_broken_are_no_part_of_it() -> None:
    document = load_bytes("a.md", "# Grund\u00adsteuer\n\nDie Grund\u00adsteuer.".encode())
    assert (document.title, document.sections[0].text) == ("Grundsteuer", "Die Grundsteuer.")
