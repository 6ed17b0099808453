"""Each recipe of ``docs/recipes`` is carried out from its first command to its last, by the program itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.server import ROOT, App, started_app
from tests.docs import README

RECIPES = sorted((README.parent / "docs" / "recipes").glob("*.md"))
_BLOCK = re.compile(r"^```(?P<kind>sh|text)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
_SERVE = ".venv/bin/python -m engine serve\n"
_BETWEEN = "---- next block ----"
_LONGEST_S = 120


def blocks(page: Path) -> list[tuple[str, str]]:
    """The commands of a page, each with what it shows of their output."""
    found: list[tuple[str, str]] = []
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["kind"] == "sh":
            found.append((block["text"], ""))
        else:
            command, _ = found.pop()
            found.append((command, block["text"]))
    return found


def shows(shown: str, output: str) -> bool:
    """Whether an output has the lines that are shown, in their order; ``…`` stands for any part of a line."""
    lines = [r"[^\n]*?".join(re.escape(part) for part in line.split("…")) for line in shown.strip().splitlines()]
    return re.search(".*?".join(lines), output, re.DOTALL) is not None


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """What ``serve`` starts, once for all recipes."""
    with started_app(tmp_path_factory.mktemp("recipes") / "data") as started:
        started.wait_until_served()
        started.wait_until_ready()
        yield started


def test_there_is_a_recipe_for_each_of_the_three_jobs() -> None:
    """FV-02"""
    assert [page.stem for page in RECIPES] == ["debug-one-query", "demo-to-others", "tune-thresholds"]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda page: page.stem)
def test_the_commands_of_a_recipe_do_what_it_says(recipe: Path, app: App, tmp_path: Path) -> None:
    """FV-02"""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    done = blocks(recipe)
    assert _SERVE in [command for command, _ in done]
    commands = [command for command, _ in done if command != _SERVE]
    script = f"\necho '{_BETWEEN}'\n".join(command.replace("http://127.0.0.1:8501", app.url) for command in commands)
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "WORKBENCH_DATA_DIR": str(app.log.parent), "NO_PROXY": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    outputs = ran.stdout.split(_BETWEEN)
    assert len(outputs) == len(commands)
    for shown, output in zip((shown for command, shown in done if command != _SERVE), outputs, strict=True):
        assert shows(shown.replace("http://127.0.0.1:8501", app.url), output), f"{shown}\nis not in\n{output}"
        assert '"success":false' not in output


def test_an_output_that_differs_is_noticed() -> None:
    assert shows("a … c\n│ d\n", "x a b c\nmore\n│ d │")
    assert not shows("a … c", "a b\nc")
    assert not shows("a\nb", "b\na")
    assert not shows("1.500 │", "1.600 │")
