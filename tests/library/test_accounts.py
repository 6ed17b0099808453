"""The account of a source in words: every code and count of a loader has its sentence in both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.common.i18n import words_for
from engine.library.accounts import HIDDEN, NOTES, PARTS, English, Line, account_lines, note_text, read_text
from engine.model.values import Account, SourceNote

ENGINE = Path(__file__).parents[2] / "engine"
READERS = sorted([*(ENGINE / "knowledge" / "loaders").glob("*.py"), *(ENGINE / "attachments").glob("*.py")])
READERS += [ENGINE / "knowledge" / name for name in ("load.py", "scans.py")]
EN, ZH = words_for("en"), words_for("zh")
HIDDEN_SHEETS = SourceNote("sheets_hidden", {"count": "1", "sheets": "密"})


_SAID_TO_BE_LOST = re.compile(
    r"[a-z]+(_[a-z]+)*_(hidden|filtered|unreadable|unread|not_read|cut|beyond|empty|broken|unused|without_text|garbled|missing|not_shown|without_value)"
)
"""Codes that are listed in a table, and become notes in a loop."""


def codes_in(file: Path) -> Iterator[str]:
    """Every code that a reader notes, as a pattern; ``self.lost["code"]`` becomes a note by the same code."""
    for place in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(place, ast.Call) and _name(place.func) == "note" and place.args:
            yield from _texts(place.args[0])
        elif isinstance(place, ast.Subscript) and _name(place.value).lstrip("_") in ("lost", "left_out"):
            yield from _texts(place.slice)
        elif isinstance(place, ast.Constant) and isinstance(place.value, str):
            if _SAID_TO_BE_LOST.fullmatch(place.value):
                yield re.escape(place.value)
        elif isinstance(place, ast.keyword) and place.arg and _SAID_TO_BE_LOST.fullmatch(place.arg):
            yield re.escape(place.arg)


def parts_in(file: Path) -> Iterator[str]:
    """Every kind of part that a reader counts, as a pattern."""
    for place in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(place, ast.Subscript) and _name(place.value).lstrip("_") == "read":
            yield from _texts(place.slice)
        elif isinstance(place, ast.Assign) and isinstance(place.value, ast.Call):
            if any(_name(target).lstrip("_") == "read" for target in place.targets):
                yield from (re.escape(item.arg) for item in place.value.keywords if item.arg)
        elif isinstance(place, ast.Call) and place.keywords:
            function = place.func
            if isinstance(function, ast.Attribute) and (function.attr, _name(function.value).lstrip("_")) == (
                "update",
                "read",
            ):
                yield from (re.escape(item.arg) for item in place.keywords if item.arg)
            for item in place.keywords:
                if item.arg == "read" and isinstance(item.value, ast.Dict):
                    yield from (text for key in item.value.keys if key is not None for text in _texts(key))


def _name(node: ast.expr) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield re.escape(node.value)
    elif isinstance(node, ast.IfExp):
        yield from (*_texts(node.body), *_texts(node.orelse))
    elif isinstance(node, ast.JoinedStr):
        parts = (next(_texts(part)) if isinstance(part, ast.Constant) else "[a-z]+" for part in node.values)
        yield "".join(parts)


@pytest.mark.parametrize("file", READERS, ids=lambda file: file.name)
def test_everything_that_a_reader_counts_has_words(file: Path) -> None:
    unknown = [code for code in codes_in(file) if not any(re.fullmatch(code, known) for known in NOTES)]
    assert unknown == [], "engine.library.accounts.NOTES"
    unnamed = [kind for kind in parts_in(file) if not any(re.fullmatch(kind, known) for known in PARTS)]
    assert unnamed == [], "engine.library.accounts.PARTS"


def test_codes_are_found_however_a_reader_writes_them() -> None:
    found = {code for file in READERS for code in codes_in(file)}
    assert {"lines_unreadable", "parts_broken", "files_not_read"} <= found
    assert {kind for file in READERS for kind in parts_in(file)} >= {"slides", "tables", "rows"}
    assert NOTES.keys() >= HIDDEN


def test_a_count_has_its_form_and_a_note_of_another_version_is_shown_as_it_is() -> None:
    assert note_text(HIDDEN_SHEETS, EN) == "1 hidden sheet was left out: 密"
    assert note_text(HIDDEN_SHEETS, ZH) == "有 1 个隐藏工作表已略去：密"
    two = SourceNote("rows_hidden", {"count": "2"})
    assert note_text(two, EN) == note_text(two, English()) == "2 hidden rows were left out"
    assert note_text(SourceNote("encoding", {"encoding": "gb18030"}), EN) == "read as gb18030, which is a guess"
    assert note_text(SourceNote("of_tomorrow", {"n": "3"}), ZH) == "of_tomorrow · 3"
    assert note_text(SourceNote("sheets_hidden", {"names": "a, b"}), EN) == "sheets_hidden · a, b"


def test_what_was_read_is_listed_with_its_counts() -> None:
    account = Account({"paragraphs": 12, "tables": 1, "footnotes": 0})
    assert read_text(account, EN) == read_text(account, English()) == "Read: 12 paragraphs, 1 table"
    assert read_text(account, ZH) == "已读取：12 个段落、1 个表格"
    assert read_text(Account({"runes": 3}), EN) == "Read: 3 runes"
    assert read_text(Account(), EN) == ""


@pytest.mark.parametrize(
    ("account", "lines"),
    [
        (None, [Line("What was read of it, and what was left out, was not recorded.")]),
        (Account({"pages": 2}), [Line("Read: 2 pages"), Line("Nothing is known to be left out.")]),
        (
            Account({"sheets": 1}, (HIDDEN_SHEETS,)),
            [Line("Read: 1 sheet"), Line("1 hidden sheet was left out: 密", missing=True)],
        ),
        (
            Account(notes=(SourceNote("encoding", {"encoding": "big5"}),), hidden=True),
            [
                Line("read as big5, which is a guess", missing=True),
                Line("Nothing is known to be left out."),
                Line("Hidden content was read too, where there is any."),
            ],
        ),
    ],
)
def test_an_account_says_all_that_is_known_and_no_more(account: Account | None, lines: list[Line]) -> None:
    """BE-02"""
    assert list(account_lines(account, EN)) == lines
    assert len(account_lines(account, ZH)) == len(lines)
