"""The mutations stand where the list says, act one at a time, and are noticed by a test that sees their line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutations import __main__ as command
from tests.mutations import places

_MODULE = """
def over(value: int, limit: int) -> bool:
    return value > limit


def clipped(value: int, limit: int) -> int:
    return limit if over(value, limit) else value
"""
_TESTS = """
from engine.limits import clipped, over

def test_a_value_at_its_limit_is_not_over():
    assert not over(3, 3)

def test_what_is_over_is_clipped():
    assert clipped(9, 3) == 3
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout of one module with two tests."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "limits.py").write_text(_MODULE)
    (tmp_path / "test_limits.py").write_text(_TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return tmp_path


def test_a_place_is_found_again_in_another_file_and_under_another_class(tree: Path) -> None:
    drawn = places.drawn(tree)
    assert [place.text for place in drawn] == ["value > limit"]
    moved = "class Limits:\n" + "\n".join(f"    {line}" for line in _MODULE.splitlines())
    (tree / "engine" / "limits.py").unlink()
    (tree / "engine" / "moved.py").write_text(moved)
    [found] = places.located(drawn, tree)
    assert found and (found.file, found.function) == ("engine/moved.py", "Limits.over")
    (tree / "plugins").mkdir()
    (tree / "plugins" / "limits.py").write_text(_MODULE)
    (tree / "plugins" / "others.py").write_text(_MODULE)
    [found] = places.located(drawn, tree)
    assert found and (found.file, found.function) == ("plugins/limits.py", "over")


def test_a_place_whose_text_is_gone_is_not_found(tree: Path) -> None:
    drawn = places.drawn(tree)
    (tree / "engine" / "limits.py").write_text(_MODULE.replace("value > limit", "value >= limit"))
    assert places.located(drawn, tree) == [None]


@pytest.mark.parametrize(("number", "over"), [("", "False"), ("0", "True"), ("1", "False")])
def test_a_mutation_acts_where_its_number_is_set_and_only_there(tree: Path, number: str, over: str) -> None:
    table = tree / "table.json"
    table.write_text(json.dumps(command.rows_of([*places.drawn(tree)], tree)))
    environment = {
        **os.environ,
        "PYTHONPATH": str(places.LIST.parent / "switch"),
        "WORKBENCH_TEST_MUTANTS": str(table),
        "WORKBENCH_TEST_MUTANT": number,
    }
    said = subprocess.run(
        [sys.executable, "-c", "from engine.limits import over; print(over(3, 3))"],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert said.stdout.strip() == over


def test_the_tests_that_execute_a_place_say_whether_it_is_noticed(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "engine" / "untested.py").write_text("def following(value: int) -> int:\n    return value + 1\n")
    listed = [*places.drawn(tree), places.Place("engine/limits.py", "gone", "constant", "7", 0)]
    monkeypatch.setattr(places, "listed", lambda: listed)
    for what in ("cover", "run"):
        monkeypatch.setattr(sys, "argv", ["mutations", what, "--root", str(tree), "--work", str(tree / "work")])
        assert command.main() == 0
    said = capsys.readouterr().out
    assert "1 of 2 noticed (50%)" in said
    assert "no test comes by: engine/untested.py: following: " in said


def test_the_list_holds_two_hundred_places_each_once() -> None:
    listed = places.listed()
    assert len({(place.file, place.function) for place in listed}) == len(listed) == places.WANTED
