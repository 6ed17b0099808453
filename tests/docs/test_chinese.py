"""Pages in Chinese say what their English ones say, part by part, and name things as the pages of the program do."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from tests.docs import CHINESE, README

ENGLISH = README.parent / "docs"
TRANSLATED = (
    ENGLISH / "install.md",
    ENGLISH / "debug.md",
    ENGLISH / "tune.md",
    *sorted((ENGLISH / "recipes").glob("*.md")),
    *sorted((ENGLISH / "workflows").glob("*.md")),
)
_CATALOGUE = README.parent / "components" / "locale" / "zh" / "LC_MESSAGES" / "workbench.po"
_PART = re.compile(
    r"(?P<code>^```.*?^```$)|(?P<heading>^#+)(?= )|(?P<row>^\|)|(?P<item>^(?:-|\d+\.)(?= ))|(?P<image>!\[)",
    re.MULTILINE | re.DOTALL,
)
_LABEL = re.compile(r"“([^”]+)”")
"""Labels of the program, and nothing else, stand in these marks; a way through it has → between its steps."""

_TABLE = re.compile(r"<!-- table: .*?<!-- end -->", re.DOTALL)


def chinese(page: Path) -> Path:
    return CHINESE / page.relative_to(ENGLISH)


def parts(text: str) -> list[str]:
    """The headings by their depth, code as it stands, and how many rows, items and pictures there are under each."""
    found = ("1." if one.lastgroup == "item" and one[0] != "-" else one[0] for one in _PART.finditer(text))
    return [f"{len(list(group))} × {part}" for part, group in groupby(found)]


def labels() -> re.Pattern[str]:
    """Any text of the Chinese catalogue; what a text is given may stand for its ``{…}``."""
    with _CATALOGUE.open("rb") as file:
        strings = [message.string for message in read_po(file) if message.id]
    texts = {str(text) for said in strings for text in ([said] if isinstance(said, str) else said or ())}
    own = [text for text in texts if re.search(r"\w", re.sub(r"{[^}]*}", "", text))]
    return re.compile("|".join(re.sub(r"\\{[^}]*}", ".+", re.escape(text)) for text in own))


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: page.stem)
def test_a_page_in_chinese_has_the_parts_of_the_english_one(page: Path) -> None:
    """FV-01"""
    assert parts(chinese(page).read_text(encoding="utf-8")) == parts(page.read_text(encoding="utf-8"))


def test_no_page_in_chinese_is_without_an_english_one() -> None:
    there = {page for page in CHINESE.rglob("*.md") if page.name != "README.md"}
    assert there == set(map(chinese, TRANSLATED))


def test_what_the_chinese_pages_call_a_label_is_one_of_the_program() -> None:
    known = labels()
    assert not known.fullmatch("没有这个按钮")
    for page in CHINESE.rglob("*.md"):
        prose = _TABLE.sub("", page.read_text(encoding="utf-8"))
        named = {step.strip() for label in _LABEL.findall(prose) for step in label.split("→")}
        assert sorted(name for name in named if not known.fullmatch(name)) == [], page.name
