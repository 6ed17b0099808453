"""Folders and archives: which files in them are ingested, and what is left out and counted."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.errors import SourceDamaged, SourceError, SourceUnsupported
from engine.knowledge import archives
from engine.knowledge.ingest import read_document
from engine.knowledge.items import IngestItem, items_of, with_members
from engine.model.values import Fault
from pages.parts.knowledge.preview import PreviewedFile
from tests.support.errors import Expected

BINARY = b"\x00\x01\x02\x03"
FILES = {
    "README": b"Read me.",
    "src/tool.py": b"def dose():\n    return 5\n",
    "docs/a.rst": b"AA\n==\n\nwords\n",
    "letter.doc": b"x",
    "app.bin": BINARY,
    "font.woff2": BINARY,
    "more/font.woff2": BINARY,
    "photo.png": b"\x89PNG",
    "icon.svg": b"<svg/>",
    ".env": b"A=1",
    ".git/config": b"x",
    ".git/HEAD": b"x",
    "~$letter.docx": b"x",
    "node_modules/a/README.md": b"x",
    "lib/site-packages/b/c.py": b"x",
    "venv/pyvenv.cfg": b"x",
    "venv/bin/activate": b"x",
    "package-lock.json": b"{}",
    "app.min.js": b"x",
    "id_rsa": b"x",
    "server.pem": b"x",
    "credentials.json": b"{}",
    "notes": b"-----BEGIN OPENSSH PRIVATE KEY-----\nx\n",
}
TAKEN = ["README", "docs/a.rst", "letter.doc", "src/tool.py"]
LEFT_OUT = {
    "hidden": "Hidden files and folders in {name!r} were left out (3): .env, .git, ~$letter.docx.",
    "made": "Files and folders in {name!r} that programs made were left out (5): app.min.js, lib/site-packages, "
    "node_modules, package-lock.json, venv.",
    "secret": "Files in {name!r} that may hold keys or passwords were left out (4): credentials.json, id_rsa, notes, "
    "server.pem.",
    "picture": "Pictures in {name!r} were left out (2): 1 .png, 1 .svg.",
    "no_text": "Files in {name!r} that hold no text were left out (3): 2 .woff2, 1 .bin.",
}


def archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return out.getvalue()


def said(failed: list[tuple[str, SourceError]]) -> list[tuple[str, str]]:
    return [(name, error.fact) for name, error in failed]


def test_a_folder_gives_its_texts_and_counts_what_it_leaves_out_by_reason(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    items, failed = items_of([folder])
    assert [item.name for item in items] == TAKEN
    assert said(failed) == [("project", text.format(name="project")) for text in LEFT_OUT.values()]


def test_a_file_named_directly_is_taken_whatever_its_name_says(tmp_path: Path) -> None:
    for name in (".env", "credentials.json", "app.min.js"):
        (tmp_path / name).write_text("a: 1", encoding="utf-8")
    items, failed = items_of(tmp_path / name for name in (".env", "app.min.js"))
    assert ([read_document(item).sections[0].text for item in items], failed) == (["a: 1", "a: 1"], [])


def test_each_file_in_an_archive_is_a_source_of_its_own(tmp_path: Path) -> None:
    data = archive({**FILES, "__MACOSX/._README": b"x", "../../up.md": b"up", "inner.zip": archive({"a.md": b"x"})})
    (tmp_path / "a.zip").write_bytes(data)
    for items, failed in (items_of([tmp_path / "a.zip"]), with_members([IngestItem("a.zip", data=data)])):
        read = {item.name: _text(item) for item in items}
        assert read == {
            "a.zip/README": "Read me.",
            "a.zip/src/tool.py": "def dose():\n    return 5\n",
            "a.zip/docs/a.rst": "words",
            "a.zip/letter.doc": SourceUnsupported.code,
            "a.zip/up.md": "up",
            "a.zip/inner.zip": SourceUnsupported.code,
        }
        assert [(error.params["name"], error.params["count"]) for _, error in failed] == [
            ("a.zip", count) for count in ("5", "6", "4", "2", "3")
        ]
        assert failed[0][1].params["files"] == ".env, .git/HEAD, .git/config, __MACOSX/._README, ~$letter.docx"
        assert with_members(items) == (items, [])


def _text(item: IngestItem) -> str:
    try:
        return read_document(item).sections[0].text
    except SourceError as error:
        return error.code


def test_names_that_another_machine_wrote_in_its_own_encoding_are_read() -> None:
    old = archive({"zh.md": "剂量".encode()}).replace(b"zh.md", "剂.md".encode("gb18030"))
    longer = archive({"abcdefghijklmn.md": b"x"}).replace(b"abcdefghijklmn", "研究资料汇编表".encode("gb18030"))
    assert [item.name for item in with_members([IngestItem("b.zip", data=longer)])[0]] == ["b.zip/研究资料汇编表.md"]
    (item,) = with_members([IngestItem("a.zip", data=old)])[0]
    assert read_document(item).sections[0].text == "剂量"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (archive({"a.txt": b" " * 40_000_000}), SourceError.unpacks_too_large),
        (archive({f"{number}.md": b"x" for number in range(archives.MOST_MEMBERS + 1)}), SourceError.too_many_parts),
        (archive({"a.md": b"words " * 99})[:-40], SourceDamaged),
        (b"no archive", SourceDamaged),
    ],
)
def test_an_archive_that_cannot_be_opened_is_one_failure(data: bytes, kind: Expected) -> None:
    items, failed = with_members([IngestItem("a.zip", data=data), IngestItem("b.md", data=b"b")])
    assert [item.name for item in items] == ["b.md"]
    assert [(name, error.code) for name, error in failed] == [("a.zip", kind.code)]


def test_a_file_in_an_archive_that_is_locked_or_broken_hurts_no_other() -> None:
    data = bytearray(archive({"locked.md": b"words", "broken.md": b"other words", "fine.md": b"fine"}))
    central = data.index(b"PK\x01\x02")
    data[6] |= 1
    data[central + 8] |= 1
    broken = data.index(b"broken.md") + len(b"broken.md")
    data[broken : broken + 4] = b"\xff\xff\xff\xff"
    items, failed = with_members([IngestItem("a.zip", data=bytes(data))])
    assert not failed
    assert [_text(item) for item in items] == [SourceError.encrypted.code, SourceDamaged.code, "fine"]


def test_what_is_left_out_of_a_folder_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = Fault.of(SourceError.picture(name="docs", count=2, files="2 .png"))
    other = Fault.of(SourceError.link(link="a.md"))
    assert [PreviewedFile("x", fault=fault).state for fault in (counted, other)] == ["left_out", "failed"]
    (tmp_path / ".env").write_text("A=1", encoding="utf-8")
    assert main(["ingest", str(tmp_path), "--collection", "none"]) == 1
    shown = capsys.readouterr().err
    assert f"– {tmp_path.name}: Hidden files and folders in" in shown
    assert "What can be read: PDF, Word" in shown
