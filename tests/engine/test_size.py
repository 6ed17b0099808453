"""``make size`` counts what it says."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from tests import size

SOURCE = '''"""A module."""

LIMIT = 3
"""The most."""


# A comment.
def text() -> str:
    """A function."""
    return """
    # not a comment

    """
'''


def test_blank_lines_comments_and_docstrings_are_no_logical_lines() -> None:
    assert size.logical_lines(SOURCE) == 6


def test_error_classes_derive_from_the_one_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class WorkbenchError(Exception): ...\nclass Other(Exception): ...\n")
    (tmp_path / "b.py").write_text("class Lost(base.WorkbenchError): ...\nclass Late(Lost): ...\n")
    assert size.error_classes(list(tmp_path.iterdir())) == 3


CHAIN = [("e.a.one", "e.a.two"), ("e.a.two", "e.b.one"), ("e.b.one", "e.a.three"), ("e.a.three", "e.c")]


def test_floors_are_the_folders_that_the_longest_chain_passes() -> None:
    assert size.floors(nx.DiGraph(CHAIN)) == 4


def test_a_circle_of_files_is_one_step() -> None:
    imports = nx.DiGraph([*CHAIN, ("e.b.one", "e.a.two")])
    assert (size.floors(imports), size.cycles(imports)) == (3, [{"e.a.two", "e.b.one"}])


def test_folders_that_import_each_other_through_several_files_are_a_cycle() -> None:
    assert size.cycles(size.between_folders(nx.DiGraph(CHAIN))) == [{"e.a", "e.b"}]


def test_every_figure_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "small/__init__.py": "",
        "small/faults.py": "class WorkbenchError(Exception): ...\nclass Lost(WorkbenchError): ...\n",
        "small/words.py": "from small.faults import Lost\n",
        "added/__init__.py": "",
        "added/part.py": "from small.words import Lost\n\nLIMIT = 3\n",
        "drawn/__init__.py": "",
        "drawn/page.py": 'TITLE = N_("Ask")\n\n\ndef draw() -> None:\n    words("Run")\n    words("Run")\n',
        "tests/test_words.py": "from small import words\n\n\ndef test_words() -> None:\n    assert words.Lost\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    for name, value in {"ROOT": tmp_path, "CORE": ("small",), "PLUGINS": "added", "PAGES": ("drawn",)}.items():
        monkeypatch.setattr(size, name, value)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert size.main() == 0
    figures = {line[:26].strip(): int(line[26:].replace(" ", "")) for line in capsys.readouterr().out.splitlines()}
    assert figures == {
        "logical lines of the core": 3,
        "logical lines of plug-ins": 2,
        "logical lines of pages": 4,
        "messages of pages": 2,
        "files of the core": 3,
        "files of plug-ins": 2,
        "error classes": 2,
        "floors of imports": 3,
        "cycles between files": 0,
        "cycles between folders": 0,
        "folders in these": 0,
        "lines of tests": 5,
    }
