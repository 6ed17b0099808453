"""The ids of requirements that code, tests and docs cite are those of ``docs/requirements.md``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.plugins import plugins
from tests.docs import README

ROOT = README.parent
PAGE = ROOT / "docs" / "requirements.md"
CITING = (
    "engine",
    "components",
    "pages",
    "plugins",
    "tests",
    "docs",
    "app.py",
    "README.md",
    "CONTRIBUTING.md",
    "pyproject.toml",
)
"""Folders and files whose citations count."""
_SUFFIXES = frozenset({".py", ".md", ".toml", ".js", ".css"})
_ID = re.compile(r"\b(?P<group>[A-Z]{2})-(?P<number>\d{2})\b(?:(?: to | … |–)(?P=group)-(?P<last>\d{2})\b)?")
_GROUP = re.compile(r"^## (?P<group>[A-Z]{2}): \S.*?(?:\(plug-in `(?P<plugin>\w+)`\))?$", re.MULTILINE)
_ENTRY = re.compile(r"^### (?P<id>[A-Z]{2}-\d{2}) \S.*\n(?P<text>(?!#).+)?", re.MULTILINE)


def cited_in(text: str) -> set[str]:
    """Every id that a text names, those inside a range such as ``QL-01 to QL-05`` included."""
    return {
        f"{found['group']}-{number:02d}"
        for found in _ID.finditer(text)
        for number in range(int(found["number"]), int(found["last"] or found["number"]) + 1)
    }


def texts(*places: str) -> Iterator[tuple[Path, str]]:
    """Every text below the places that may cite, but for the page of requirements itself."""
    for place in places:
        root = ROOT / place
        for file in sorted(root.rglob("*")) if root.is_dir() else (root,):
            if file.suffix in _SUFFIXES and file not in (PAGE, Path(__file__).resolve()):
                yield file, file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def entries(page: str) -> list[str]:
    return [found["id"] for found in _ENTRY.finditer(page)]


def test_a_range_of_ids_cites_every_id_in_it() -> None:
    assert cited_in("QL-01 to QL-03 and DL-02; AE-07 … AE-08") == {"QL-01", "QL-02", "QL-03", "DL-02", "AE-07", "AE-08"}
    assert cited_in("UTF-16, ISO-8601, a GH-1 and XSC-011") == set()


def test_every_id_that_is_cited_has_an_entry(entries: list[str]) -> None:
    unknown = {
        f"{file.relative_to(ROOT)}: {name}" for file, text in texts(*CITING) for name in cited_in(text) - {*entries}
    }
    assert not unknown, f"docs/requirements.md has no entry for {sorted(unknown)}"


def test_every_entry_is_cited_by_a_test(entries: list[str], page: str) -> None:
    cited = {name for _, text in texts("tests") for name in cited_in(text)}
    assert entries
    here = {plugin.name for plugin in plugins()}
    away = {found["group"] for found in _GROUP.finditer(page) if found["plugin"] and found["plugin"] not in here}
    missing = sorted(name for name in {*entries} - cited if name[:2] not in away)
    assert not missing, f"no test cites {missing}"


def test_every_entry_says_something_once_and_in_the_group_of_its_prefix(page: str, entries: list[str]) -> None:
    assert entries == list(dict.fromkeys(entries))
    assert all(found["text"] for found in _ENTRY.finditer(page))
    for section in re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]:
        group = _GROUP.match(section)
        assert group is not None, section.splitlines()[0]
        names = [found["id"] for found in _ENTRY.finditer(section)]
        # An entry of a group is written down once it holds, so that some may be missing in between.
        assert names == sorted(names) and {name[:2] for name in names} == {group["group"]}


def test_the_entries_name_each_other_by_ids_that_exist(page: str, entries: list[str]) -> None:
    assert cited_in(page) == set(entries)
