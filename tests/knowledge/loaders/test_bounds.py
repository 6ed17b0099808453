"""Small files that stand for a text or a search without end, and halves of characters that no store can hold."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import SourceError
from engine.knowledge.load import load, load_bytes
from engine.knowledge.loaders import apart, contents
from engine.knowledge.loaders.pdf import load_pdf
from engine.knowledge.loaders.word import load_word
from engine.knowledge.loaders.workbook import load_workbook
from engine.knowledge.loaders.wrapping import joined_lines
from engine.model.subprocesses import Subprocesses
from tests.support import office_files as made
from tests.support.errors import raises

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
MANY = {str(number): number for number in range(500)}
FAR = '<row r="{n}"><c r="A{n}"><v>1</v></c><c r="XFD{n}"><v>1</v></c></row>'
REAL = subprocess.Popen


def own_readers() -> Subprocesses:
    return Subprocesses(
        "engine.knowledge.loaders.apart:read", most=1, most_memory=2 * 10**9, kept_memory=4 * 10**8, idle_s=30
    )


def word(body: str) -> bytes:
    document = f"<w:document {W}><w:body>{body}</w:body></w:document>".encode()
    return made.with_parts(made.docx([]), {"word/document.xml": document})


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def frame(inside: str) -> str:
    return f"<w:tbl><w:tr><w:tc>{inside}</w:tc></w:tr></w:tbl>"


def sheet(rows: str) -> bytes:
    part = f'<worksheet {S}><dimension ref="A1:XFD1048576"/><sheetData>{rows}</sheetData></worksheet>'.encode()
    return made.with_parts(made.xlsx({"S": [["a", "b"]]}), {"xl/worksheets/sheet1.xml": part})


def test_a_table_in_a_frame_is_read_once() -> None:
    row = f"<w:tr><w:tc>{paragraph('名')}</w:tc><w:tc>{paragraph('值')}</w:tc></w:tr>"
    (section,) = load_word("a.docx", word(frame(paragraph("前言") + f"<w:tbl>{row}</w:tbl>" + paragraph("")))).sections
    assert section.text == "前言\n\n- 名: 值"


@pytest.mark.parametrize("kind", ["frames", "boxes"])
def test_frames_and_boxes_one_in_the_other_are_each_read_once(kind: str) -> None:
    body = paragraph("最里面")
    for _ in range(40):
        body = frame(body) if kind == "frames" else f"<w:p><w:r><w:txbxContent>{body}</w:txbxContent></w:r></w:p>"
    (section,) = load_word("a.docx", word(body)).sections
    assert section.text == "最里面"


def test_a_row_that_no_sheet_can_have_is_read_and_not_counted_up_to() -> None:
    far = '<row r="2000000000"><c r="A2000000000"><v>1</v></c><c r="ZZZZ9"><v>2</v></c></row>'
    assert load_workbook("a.xlsx", sheet(far)).sections[0].text == "| 1 | 2 |"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", json.dumps({"a": {"K" * 5000: MANY}}).encode()),
        ("a.jsonl", (json.dumps({"a": {"K" * 500: MANY}}) + "\n").encode() * 50),
        ("a.csv", (",".join("h" * 70 + name for name in MANY) + "\n" + ("1," * 50 + "\n") * 500).encode()),
        ("a.xlsx", sheet("".join(FAR.format(n=number) for number in range(1, 40)))),
    ],
)
def test_names_repeated_without_end_are_refused(monkeypatch: pytest.MonkeyPatch, name: str, data: bytes) -> None:
    monkeypatch.setattr(contents, "MOST_TEXT", 1_000_000)
    with raises(SourceError.too_much_text, match="would give more than 1 million characters"):
        # Workbooks are read here, for the reading process has limits of its own.
        load_workbook(name, data) if name.endswith("xlsx") else load_bytes(name, data)


@settings(max_examples=60)
@given(st.text(st.characters(categories=("L", "Cs")), min_size=1, max_size=20), st.sampled_from(["a.json", "a.jsonl"]))
def test_halves_of_characters_in_a_file_never_reach_a_store(text: str, name: str) -> None:
    record = {"title": f"t{text}", "text": f"x{text}", f"k{text}": f"v{text}"}
    document = load_bytes(name, json.dumps(record).encode())
    for section in document.sections:
        assert "".join((document.title, *section.path, section.text)).encode()


def test_a_title_or_heading_that_is_half_a_character_does_not_cost_the_document() -> None:
    whole = made.pdf([["正文。"]], outline=[("A", 1, 0)], title="A")
    spoiled = whole.replace("A".encode("utf-16-be").hex().upper().encode(), b"D83D")
    assert spoiled != whole
    found = load_pdf("a.pdf", spoiled)
    assert (found.title, found.sections[0].text) == ("", "正文。")


def test_a_line_of_one_endless_word_and_line_breaks_without_end_are_quickly_read() -> None:
    """Each would take hours if it were looked at again from every sign."""
    assert load_pdf("a.pdf", made.pdf([["a" * 30_000]])).sections
    assert joined_lines("中" + "\n" * 200_000 + "a") == "中 a"


@pytest.mark.parametrize(
    ("name", "line"),
    [("a.md", "# a" + " " * 300_000 + "x"), ("a.csv", "1" * 300_000 + "x,b"), ("a.csv", "1," * 150_000 + "x;b")],
)
def test_a_line_that_an_expression_could_get_lost_in_is_quickly_read(name: str, line: str) -> None:
    """These are read in the app's own process, which would stand still meanwhile."""
    assert load_bytes(name, f"{line}\n3,4\n5,6\n".encode()).sections


@pytest.mark.parametrize(
    "reply",
    [
        b"[]",
        b"{}",
        b'{"grown": false}',
        b'{"grown": false, "error": []}',
        b"[" * 300_000,
    ],
)
def test_a_reader_that_says_what_no_reader_says_is_ended(monkeypatch: pytest.MonkeyPatch, reply: bytes) -> None:
    said = struct.pack(">QQ", len(reply), 0) + reply
    rest = max(0, len(said) - 64)
    program = f"import sys; sys.stdin.buffer.read(1); sys.stdout.buffer.write({said[:64]!r} + b'[' * {rest})"

    def spoiled(_: object, **options: Any) -> subprocess.Popen[bytes]:
        return REAL([sys.executable, "-c", f"{program}; sys.stdout.flush(); sys.stdin.read()"], **options)

    readers = own_readers()
    monkeypatch.setattr(apart, "READERS", readers)
    monkeypatch.setattr(subprocess, "Popen", spoiled)
    with raises(SourceError.too_demanding, match=r"a\.pdf"):
        apart.read_apart(".pdf", "a.pdf", b"%PDF-")
    assert readers.idle() == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_or_a_device_under_the_name_of_a_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "endless.md").symlink_to("/dev/zero")
    (tmp_path / "folder.csv").mkdir()
    for path in tmp_path.iterdir():
        with raises(SourceError.unreadable, match=path.name):
            load(path)


def test_nothing_is_imported_from_the_folder_that_the_app_was_started_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("struct.py", "docx.py", "engine.py"):
        (tmp_path / name).write_text("raise SystemExit(3)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    readers = own_readers()
    monkeypatch.setattr(apart, "READERS", readers)
    try:
        assert apart.read_apart(".html", "a.html", b"<p>x</p>").sections[0].text == "x"
    finally:
        readers.close()
